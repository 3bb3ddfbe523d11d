/* Small worlds of method flip. */
#ifndef TEST_FLIP_FIXTURE_H
#define TEST_FLIP_FIXTURE_H

#include "world/world.h"
#include "world_fixture.h"

typedef struct Fixture {
  ScreeSceneDef scene;
  ScreeMaterialDef materials[3];
  ScreeGrainsDef grains[3];
  ScreeBoundaryDef walls[6];
  ScreeBodyDef bodies[4];
  ScreeProbeDef probes[4];
} Fixture;

static inline void fixture_begin(Fixture *f, double radius) {
  *f = (Fixture){.scene = scree_scene_default()};
  f->materials[0] = scree_material_default("sand");
  f->materials[0].friction_angle_deg = 29.2;
  f->scene.name = "flip";
  f->scene.method = scree_method_default("flip");
  f->scene.method.radius = radius;
  f->scene.frame_rate = 60;
  f->scene.materials = f->materials;
  f->scene.material_count = 1;
  f->scene.grains = f->grains;
  f->scene.boundaries = f->walls;
  f->scene.bodies = f->bodies;
  f->scene.probes = f->probes;
}

static inline void fixture_fill(Fixture *f, const char *material, ScreeVec3 low, ScreeVec3 high) {
  f->grains[f->scene.grains_count++] = scree_grains_default(material, scree_shape_box(low, high));
}

static inline void fixture_tank(Fixture *f, ScreeVec3 low, ScreeVec3 high) {
  ScreeBoundaryDef *wall = &f->walls[f->scene.boundary_count++];
  *wall = scree_boundary_default(scree_shape_box(low, high));
  wall->inside = true;
  wall->name = "tank";
}

/* Coefficient of a solid whose friction with the sand, the geometric mean of both, is this. */
static inline double fixture_solid_friction(const Fixture *f, double friction) {
  return friction * friction / tan(f->materials[0].friction_angle_deg * M_PI / 180);
}

static inline void fixture_floor(Fixture *f, double friction) {
  ScreeBoundaryDef *wall = &f->walls[f->scene.boundary_count++];
  *wall = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  wall->name = "floor";
  wall->friction_static = wall->friction_kinetic = friction;
}

static inline ScreeBodyDef *fixture_ball(Fixture *f, const char *name, double radius, ScreeVec3 at, double density) {
  ScreeBodyDef *ball = &f->bodies[f->scene.body_count++];
  *ball = scree_body_default(name, scree_shape_sphere((ScreeVec3){0, 0, 0}, radius));
  ball->shape.position = at;
  ball->density = density;
  return ball;
}

static inline ScreeWorld *fixture_world(const Fixture *f) { return world_of(&f->scene, 2); }

static inline ScreeBodyState fixture_body(ScreeWorld *world, const char *name) {
  ScreeBodyState body;
  assert_int_equal(scree_world_body(world, scree_world_find_body(world, name), &body), SCREE_OK);
  return body;
}

static inline Vec3 fixture_momentum(ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  Vec3 sum = vec3(0, 0, 0);
  for (int64_t i = 0; i < p->count; i++)
    sum = vec3_madd(sum, vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]), (double)p->mass[i]);
  return sum;
}

static inline Vec3 fixture_center(ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  Vec3 sum = vec3(0, 0, 0);
  for (int64_t i = 0; i < p->count; i++) sum = vec3_madd(sum, state_position(&world->state, i), (double)p->mass[i]);
  return vec3_scale(sum, 1 / world_mass(world));
}

/* Root of the mean square, by mass. */
static inline double fixture_speed(ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  double sum = 0;
  for (int64_t i = 0; i < p->count; i++) {
    Vec3 v = vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
    sum += (double)p->mass[i] * vec3_dot(v, v);
  }
  return sqrt(sum / world_mass(world));
}

#endif
