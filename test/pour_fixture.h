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
} Pour;

static inline ScreeWorld *pour_world(const char *method, const Pour *pour, int threads) {
  GrainScene s;
  grain_scene(&s, method, POUR_RADIUS);
  s.def.grains_count = 0;
  s.def.seed = pour->seed;
  s.def.method.time_step = pour->time_step;
  s.def.method.iterations = pour->iterations;
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
  return grain_world_threads(&s, threads);
}

/* Angle of a heap a second after the last grain fell, mean over seeds. */
static inline double pour_angle(const char *method, Pour pour, int seeds) {
  double sum = 0;
  for (int k = 0; k < seeds; k++) {
    pour.seed = k + 1;
    ScreeWorld *world = pour_world(method, &pour, 0);
    run_seconds(world, pour.seconds + 1);
    sum += probe_value(world, POUR_ANGLE, 0);
    scree_world_destroy(world);
  }
  return sum / seeds;
}

#endif
