/* Small worlds of method p2. */
#ifndef TEST_P2_FIXTURE_H
#define TEST_P2_FIXTURE_H

#include "world/world.h"
#include "world_fixture.h"

enum { FIXTURE_SOLIDS = 3 };

typedef struct Fixture {
  ScreeSceneDef scene;
  ScreeMaterialDef material;
  ScreeGrainsDef grains[2];
  ScreeBoundaryDef walls[FIXTURE_SOLIDS];
  ScreeBodyDef bodies[FIXTURE_SOLIDS];
} Fixture;

/* Sand of radius 0.05 over a floor; the caller adds grains (fixture_place) or fills. The one grain of the fill lies
 * far above and is taken away with the first placing. */
static inline void fixture_begin(Fixture *f, double radius) {
  *f = (Fixture){.scene = scree_scene_default(), .material = scree_material_default("sand")};
  f->scene.name = "p2";
  f->scene.method = scree_method_default("p2");
  f->scene.method.radius = radius;
  f->scene.method.time_step = 0.005;
  f->scene.method.p2.iterations = 10;
  f->scene.frame_rate = 100;
  f->scene.materials = &f->material;
  f->scene.material_count = 1;
  f->scene.grains = f->grains;
  f->scene.boundaries = f->walls;
  f->scene.bodies = f->bodies;
}

static inline void fixture_floor(Fixture *f, ScreeVec3 normal, double friction) {
  ScreeBoundaryDef *wall = &f->walls[f->scene.boundary_count++];
  *wall = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, normal));
  wall->name = "floor";
  wall->friction_static = wall->friction_kinetic = friction;
}

static inline void fixture_friction(Fixture *f, double friction) {
  f->material.friction_static = f->material.friction_kinetic = friction;
}

static inline void fixture_fill(Fixture *f, ScreeVec3 low, ScreeVec3 high) {
  f->grains[f->scene.grains_count++] = scree_grains_default("sand", scree_shape_box(low, high));
}

static inline ScreeWorld *fixture_world(const Fixture *f) { return world_of(&f->scene, 2); }

/* Grains just where a test wants them, instead of a fill's. */
static inline ScreeWorld *fixture_place(Fixture *f, const ScreeVec3 *at, int64_t count, double mass) {
  double radius = f->scene.method.radius;
  f->scene.grains_count = 0;
  fixture_fill(f, (ScreeVec3){-radius * 1.01, -radius * 1.01, 100},
               (ScreeVec3){radius * 1.01, radius * 1.01, 100 + 2.02 * radius});
  ScreeWorld *world = fixture_world(f);
  world->state.particles.count = 0;
  world->state.queue.birth_count = 0;
  for (int64_t i = 0; i < count; i++) {
    Birth birth = {.key = (uint64_t)i,
                   .reason = REASON_FILL,
                   .position = vec3(at[i].x, at[i].y, at[i].z),
                   .radius = (float)radius,
                   .mass = (float)mass};
    assert_ok(&world->core, queue_birth(&world->core, &world->state.queue, &birth));
  }
  assert_ok(&world->core, world_births_and_deaths(world));
  assert_int_equal(world->state.particles.count, count);
  world->neighbors_stale = true;
  return world;
}

static inline ScreeVec3 fixture_force(ScreeWorld *world, const char *name) {
  ScreeBodyState body;
  assert_int_equal(scree_world_body(world, scree_world_find_body(world, name), &body), SCREE_OK);
  return body.force;
}

#endif
