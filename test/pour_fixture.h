/* Heaps of about 2,000 grains, poured: the measured figures of the position-based methods. */
#ifndef TEST_POUR_FIXTURE_H
#define TEST_POUR_FIXTURE_H

#include "grains_fixture.h"

#define POUR_RADIUS 0.02
enum { POUR_ANGLE, POUR_LOAD, POUR_CREEP, POUR_PROBES };

typedef struct Pour {
  double time_step;
  int iterations;
  double friction; /* static; kinetic is 0.3 / 0.35 of it, as in the paper */
  int64_t seed;
  double seconds; /* of pouring, 500 grains each */
  double creep_from;
  bool rotation;      /* dem */
  double restitution; /* dem */
} Pour;

/* Passes over old overlap know no friction: two in a step of 5 ms, one where steps are small and many. */
static inline int stabilization_of(double time_step) { return time_step <= 0.001 ? 1 : 2; }

static inline ScreeWorld *pour_world(const char *method, const Pour *pour, int threads) {
  GrainScene s;
  grain_scene(&s, method, POUR_RADIUS);
  s.def.grains_count = 0;
  s.def.seed = pour->seed;
  s.def.method.time_step = pour->time_step;
  s.def.method.iterations = pour->iterations;
  s.def.method.stabilization = stabilization_of(pour->time_step);
  s.def.method.rotation = pour->rotation;
  s.materials[0].restitution = pour->restitution;
  s.materials[0].friction_static = pour->friction;
  s.materials[0].friction_kinetic = pour->friction * 0.3 / 0.35;
  s.emitters[0] = scree_emitter_default("sand");
  s.emitters[0].shape.disc = (ScreeDiscDef){.center = {0, 0, 0.7}, .radius = 0.15, .direction = {0, 0, -1}};
  s.emitters[0].rate = 45;
  s.emitters[0].speed = 1.5;
  s.emitters[0].until = pour->seconds;
  s.def.emitter_count = 1;
  add_floor(&s);
  add_probe(&s, SCREE_PROBE_REPOSE_ANGLE);
  add_probe(&s, SCREE_PROBE_FORCE_ON)->target = "floor";
  add_probe(&s, SCREE_PROBE_CREEP)->from = pour->creep_from;
  return world_of(&s.def, threads);
}

/* Creep of a heap in the minute that begins 2 s after the last grain fell, 99th percentile, in diameters. */
static inline double pour_creep(const char *method, double time_step, int iterations) {
  Pour pour = {
      .time_step = time_step, .iterations = iterations, .friction = 0.35, .seed = 1, .seconds = 4, .creep_from = 6};
  ScreeWorld *world = pour_world(method, &pour, 0);
  run_seconds(world, 6);
  double angle = probe_value(world, POUR_ANGLE, 0);
  run_seconds(world, 60);
  double creep = probe_value(world, POUR_CREEP, 0) / (2 * POUR_RADIUS);
  print_message("%s %g ms x %d: creep %.4f diameters in 60 s; angle %.2f, then %.2f deg\n", method, 1e3 * time_step,
                iterations, creep, angle, probe_value(world, POUR_ANGLE, 0));
  scree_world_destroy(world);
  return creep;
}

/* Half a metre square, a metre deep when settled. Answers the largest overlap, as a share of the radius. */
static inline double deep_overlap(const char *method, double time_step, int iterations) {
  GrainScene s;
  grain_scene(&s, method, 0.02);
  s.def.method.time_step = time_step;
  s.def.method.iterations = iterations;
  s.def.method.stabilization = stabilization_of(time_step);
  s.grains[0].start = SCREE_START_DENSE;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.25, -0.25, 0}, (ScreeVec3){0.25, 0.25, 1.1});
  add_tank(&s, (ScreeVec3){-0.25, -0.25, 0}, (ScreeVec3){0.25, 0.25, 3});
  ScreeWorld *world = world_of(&s.def, 0);
  run_seconds(world, 3);
  double overlap = world_overlap(world), highest = 0;
  const Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++) highest = fmax(highest, state_position(&world->state, i).z);
  print_message("%s %g ms x %d: %lld grains, %.2f m deep, overlap %.4f of the radius\n", method, 1e3 * time_step,
                iterations, (long long)p->count, highest, overlap);
  scree_world_destroy(world);
  return overlap;
}

#endif
