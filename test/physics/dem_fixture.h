/* Worlds of dem with grains put exactly where a test wants them. */
#ifndef TEST_PHYSICS_DEM_FIXTURE_H
#define TEST_PHYSICS_DEM_FIXTURE_H

#include <stdlib.h>

#include "world/world.h"
#include "world_fixture.h"

typedef struct DemScene {
  ScreeSceneDef def;
  ScreeMaterialDef materials[2];
  ScreeEmitterDef emitter; /* pours nothing: a scene needs a source */
  ScreeBoundaryDef walls[2];
  ScreeGrainsDef grains;
  ScreeProbeDef probes[4];
} DemScene;

static inline void dem_scene_begin(DemScene *s, double radius) {
  memset(s, 0, sizeof *s);
  s->materials[0] = scree_material_default("sand");
  s->materials[1] = scree_material_default("steel");
  s->emitter = scree_emitter_default("sand");
  s->emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 0}, .radius = 10 * radius, .direction = {0, 0, -1}};
  s->emitter.rate = 0;
  s->def = scree_scene_default();
  s->def.name = "dem";
  s->def.method = scree_method_default("dem");
  s->def.method.radius = radius;
  s->def.materials = s->materials;
  s->def.material_count = 1;
  s->def.emitters = &s->emitter;
  s->def.emitter_count = 1;
  s->def.boundaries = s->walls;
  s->def.grains = &s->grains;
  s->def.probes = s->probes;
}

static inline ScreeWorld *dem_make(const DemScene *s, int threads) { return world_of(&s->def, threads); }

static inline void dem_put(ScreeWorld *world, int material, Vec3 position, Vec3 velocity, double radius) {
  double density = world->state.materials.items[material].definition.grain_density;
  Birth birth = {.key = (uint64_t)world->state.queue.birth_count,
                 .reason = REASON_FILL,
                 .material = material,
                 .position = position,
                 .velocity = velocity,
                 .radius = (float)radius,
                 .mass = (float)(4.0 / 3 * M_PI * radius * radius * radius * density)};
  assert_ok(&world->core, queue_birth(&world->core, &world->state.queue, &birth));
}

/* Storage place of the grain with this id. */
static inline int64_t dem_find(const ScreeWorld *world, uint32_t id) {
  const Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++)
    if (p->id[i] == id) return i;
  _fail(__FILE__, __LINE__);
  return -1;
}

static inline const float *dem_field(const ScreeWorld *world, const char *name) {
  const Particles *p = &world->state.particles;
  for (int32_t k = 0; k < p->field_count; k++)
    if (strcmp(p->fields[k].name, name) == 0) return *(float **)p->fields[k].data;
  _fail(__FILE__, __LINE__);
  return NULL;
}

static inline Vec3 dem_velocity(const ScreeWorld *world, uint32_t id) {
  const Particles *p = &world->state.particles;
  int64_t i = dem_find(world, id);
  return vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
}
static inline Vec3 dem_position(const ScreeWorld *world, uint32_t id) {
  return state_position(&world->state, dem_find(world, id));
}
static inline Vec3 dem_spin(const ScreeWorld *world, uint32_t id) {
  int64_t i = dem_find(world, id);
  return vec3((double)dem_field(world, "spin_x")[i], (double)dem_field(world, "spin_y")[i],
              (double)dem_field(world, "spin_z")[i]);
}

/* Kinetic energy of motion and spin, and the potential of gravity. */
static inline double dem_energy(const ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  const float *sx = dem_field(world, "spin_x"), *sy = dem_field(world, "spin_y"), *sz = dem_field(world, "spin_z");
  double sum = 0;
  for (int64_t i = 0; i < p->count; i++) {
    double m = (double)p->mass[i], r = (double)p->radius[i];
    Vec3 v = vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
    Vec3 w = vec3((double)sx[i], (double)sy[i], (double)sz[i]);
    sum += 0.5 * m * (vec3_dot(v, v) + 0.4 * r * r * vec3_dot(w, w));
    sum -= m * vec3_dot(world->state.gravity, state_position(&world->state, i));
  }
  return sum;
}

#endif
