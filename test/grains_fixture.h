/* Small worlds of grains for the physics tests of the methods: a scene with room for a few of everything, grains that
 * are placed one by one, and sums over a world. */
#ifndef TEST_GRAINS_FIXTURE_H
#define TEST_GRAINS_FIXTURE_H

#include "core/vec.h"
#include "world/world.h"
#include "world_fixture.h"

enum { FIXTURE_MAX = 8 };

typedef struct GrainScene {
  ScreeSceneDef def;
  ScreeMaterialDef materials[FIXTURE_MAX];
  ScreeGrainsDef grains[FIXTURE_MAX];
  ScreeEmitterDef emitters[FIXTURE_MAX];
  ScreeBoundaryDef boundaries[FIXTURE_MAX];
  ScreeBodyDef bodies[FIXTURE_MAX];
  ScreeProbeDef probes[FIXTURE_MAX];
  ScreeKeyDef keys[FIXTURE_MAX];
} GrainScene;

/* One material, a block of it, no walls. */
static inline void grain_scene(GrainScene *s, const char *method, double radius) {
  memset(s, 0, sizeof *s);
  s->def = scree_scene_default();
  s->def.name = "test";
  s->def.method = scree_method_default(method);
  s->def.method.radius = radius;
  s->def.materials = s->materials;
  s->def.grains = s->grains;
  s->def.emitters = s->emitters;
  s->def.boundaries = s->boundaries;
  s->def.bodies = s->bodies;
  s->def.probes = s->probes;
  s->materials[0] = scree_material_default("sand");
  s->def.material_count = 1;
  s->grains[0] = scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.5, -0.5, 0}, (ScreeVec3){0.5, 0.5, 1}));
  s->def.grains_count = 1;
}

static inline ScreeBoundaryDef *add_boundary(GrainScene *s, const char *name, ScreeShapeDef shape) {
  ScreeBoundaryDef *wall = &s->boundaries[s->def.boundary_count++];
  *wall = scree_boundary_default(shape);
  wall->name = name;
  return wall;
}

static inline ScreeBoundaryDef *add_floor(GrainScene *s) {
  return add_boundary(s, "floor", scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
}

static inline ScreeBoundaryDef *add_tank(GrainScene *s, ScreeVec3 low, ScreeVec3 high) {
  ScreeBoundaryDef *tank = add_boundary(s, "tank", scree_shape_box(low, high));
  tank->inside = true;
  return tank;
}

static inline ScreeProbeDef *add_probe(GrainScene *s, int kind) {
  static const char *names[FIXTURE_MAX] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"};
  ScreeProbeDef *probe = &s->probes[s->def.probe_count];
  *probe = scree_probe_default(names[s->def.probe_count], kind);
  s->def.probe_count++;
  return probe;
}

static inline ScreeWorld *grain_world(const GrainScene *s) { return world_of(&s->def, 1); }

static inline void place_grain(ScreeWorld *world, int64_t index, Vec3 at, Vec3 velocity);
/* A world with one grain, id 1, somewhere: small fills are not sure to hold one. */
static inline ScreeWorld *lone_world(GrainScene *s, Vec3 at, Vec3 velocity) {
  double half = 3 * s->def.method.radius;
  s->grains[0].fill = scree_shape_box((ScreeVec3){-half, -half, 0}, (ScreeVec3){half, half, 2 * half});
  ScreeWorld *world = grain_world(s);
  Particles *p = &world->state.particles;
  assert_true(p->count > 0 && p->id[0] == 1);
  p->count = 1;
  p->next_id = 2;
  world->tally.mass_initial = (double)p->mass[0];
  place_grain(world, 0, at, velocity);
  return world;
}

/* Puts grain `index` (storage order of a world that has not stepped) somewhere. */
static inline void place_grain(ScreeWorld *world, int64_t index, Vec3 at, Vec3 velocity) {
  Particles *p = &world->state.particles;
  Vec3 local = vec3_sub(at, world->state.origin);
  p->x[index] = (float)local.x;
  p->y[index] = (float)local.y;
  p->z[index] = (float)local.z;
  p->low_x[index] = (float)(local.x - (double)p->x[index]);
  p->low_y[index] = (float)(local.y - (double)p->y[index]);
  p->low_z[index] = (float)(local.z - (double)p->z[index]);
  p->vx[index] = (float)velocity.x;
  p->vy[index] = (float)velocity.y;
  p->vz[index] = (float)velocity.z;
  world->tally.speed = fmax(world->tally.speed, vec3_length(velocity));
  world->neighbors_stale = true;
}

/* One more grain like the first, of the given radius and material. */
static inline void add_grain(ScreeWorld *world, Vec3 at, Vec3 velocity, double radius, int material) {
  Particles *p = &world->state.particles;
  assert_int_equal(particles_append(&world->core, p, 1), SCREE_OK);
  int64_t i = p->count - 1;
  double density = world->state.materials.items[material].definition.grain_density;
  p->radius[i] = (float)radius;
  p->mass[i] = (float)(4.0 / 3 * M_PI * radius * radius * radius * density);
  p->material[i] = (uint8_t)material;
  world->tally.mass_initial += (double)p->mass[i];
  place_grain(world, i, at, velocity);
}

/* Storage index of the grain with an id. */
static inline int64_t grain_of(const ScreeWorld *world, uint32_t id) {
  const Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++)
    if (p->id[i] == id) return i;
  _fail(__FILE__, __LINE__);
  return 0;
}
static inline Vec3 grain_at(const ScreeWorld *world, uint32_t id) {
  return state_position(&world->state, grain_of(world, id));
}
static inline Vec3 grain_velocity(const ScreeWorld *world, uint32_t id) {
  const Particles *p = &world->state.particles;
  int64_t i = grain_of(world, id);
  return vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
}

static inline double probe_value(const ScreeWorld *world, int index, int value) {
  ScreeProbeState state;
  assert_int_equal(scree_world_probe(world, index + 1, &state), SCREE_OK);
  return state.values[value];
}

/* Linear and angular momentum (about the world's origin) of grains and free bodies. */
static inline void momentum_of(const ScreeWorld *world, Vec3 *linear, Vec3 *angular) {
  const State *state = &world->state;
  const Particles *p = &state->particles;
  *linear = *angular = vec3(0, 0, 0);
  for (int64_t i = 0; i < p->count; i++) {
    Vec3 part = vec3_scale(vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]), (double)p->mass[i]);
    *linear = vec3_add(*linear, part);
    *angular = vec3_add(*angular, vec3_cross(state_position(state, i), part));
  }
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    if (solid->motion != MOTION_FREE) continue;
    Vec3 part = vec3_scale(solid->velocity, solid->mass);
    Vec3 spin = quat_rotate(quat_conjugate(solid->rotation), solid->spin);
    Vec3 turning = quat_rotate(solid->rotation, mat3_apply(&solid->inertia, spin));
    *linear = vec3_add(*linear, part);
    *angular = vec3_add(*angular, vec3_add(vec3_cross(solid->center, part), turning));
  }
}

static inline int64_t warnings_of(const ScreeWorld *world, const char *name) {
  ScreeStatistics stats;
  scree_world_statistics(world, &stats);
  for (int32_t k = 0; k < stats.warning_count; k++)
    if (strcmp(stats.warnings[k].name, name) == 0) return stats.warnings[k].count;
  return 0;
}

#endif
