/* Heaps of about 2,000 grains, poured: the measured figures of the position-based methods. */
#ifndef TEST_POUR_FIXTURE_H
#define TEST_POUR_FIXTURE_H

#include "grains_fixture.h"

#define POUR_RADIUS 0.02
#define POUR_SECONDS 4.0 /* 2,000 grains */
#define BED_WIDTH 0.5
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
  s.def.method.pbd.iterations = s.def.method.p2.iterations = pour->iterations;
  s.def.method.pbd.stabilization = s.def.method.p2.stabilization = stabilization_of(pour->time_step);
  s.def.method.dem.rotation = pour->rotation;
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

/* Creep in the minute that begins 2 s after the last grain of a heap fell, 99th percentile, in diameters. */
static inline double pour_creep(const char *method, double time_step, int iterations, double pouring) {
  Pour pour = {.time_step = time_step,
               .iterations = iterations,
               .friction = 0.35,
               .seed = 1,
               .seconds = pouring,
               .creep_from = pouring + 2};
  ScreeWorld *world = pour_world(method, &pour, 0);
  run_seconds(world, pouring + 2);
  double angle = probe_value(world, POUR_ANGLE, 0);
  run_seconds(world, 60);
  double creep = probe_value(world, POUR_CREEP, 0) / (2 * POUR_RADIUS);
  print_message("%s %g ms x %d: creep %.4f diameters in 60 s; angle %.2f, then %.2f deg\n", method, 1e3 * time_step,
                iterations, creep, angle, probe_value(world, POUR_ANGLE, 0));
  scree_world_destroy(world);
  return creep;
}

/* Angle of a heap a second after the last grain fell, mean over seeds. */
static inline double pour_angle(const char *method, Pour pour, int seeds) {
  double sum = 0, squares = 0;
  for (int k = 0; k < seeds; k++) {
    pour.seed = k + 1;
    ScreeWorld *world = pour_world(method, &pour, 0);
    run_seconds(world, pour.seconds + 1);
    double angle = probe_value(world, POUR_ANGLE, 0);
    sum += angle;
    squares += angle * angle;
    scree_world_destroy(world);
  }
  double mean = sum / seeds, spread = sqrt(fmax(squares / seeds - mean * mean, 0) * seeds / (seeds - 1));
  print_message("%s, friction %g, %g ms x %d: %.2f deg, +- %.2f for one of %d seeds\n", method, pour.friction,
                1e3 * pour.time_step, pour.iterations, mean, spread, seeds);
  return mean;
}

/* A bed of sand, a metre deep when settled. Returns the largest overlap, as a share of the radius. */
static inline double deep_overlap(const char *method, double time_step, int iterations, double width) {
  GrainScene s;
  grain_scene(&s, method, 0.02);
  s.def.method.time_step = time_step;
  s.def.method.pbd.iterations = s.def.method.p2.iterations = iterations;
  s.def.method.pbd.stabilization = s.def.method.p2.stabilization = stabilization_of(time_step);
  s.grains[0].start = SCREE_START_DENSE;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-width / 2, -width / 2, 0}, (ScreeVec3){width / 2, width / 2, 1.1});
  add_tank(&s, (ScreeVec3){-width / 2, -width / 2, 0}, (ScreeVec3){width / 2, width / 2, 3});
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

/* How far the discharge of the shipped hourglass strays from its mean between 80 and 20 % fill, as a share of it. */
static inline double discharge_strays(const char *method, double radius) {
  GrainScene s;
  grain_scene(&s, method, radius);
  s.grains[0].fill = scree_shape_mesh_file("hourglass_fill.obj");
  add_boundary(&s, "glass", scree_shape_mesh_file("hourglass.obj"))->inside = true;
  add_probe(&s, SCREE_PROBE_FLOW)->plane_z = 0;
  ScreeWorld *world = world_of(&s.def, 0);
  double total = world_mass(world), through = 0, when[4] = {0}, strays = 0;
  const double share[4] = {0.2, 0.4, 0.6, 0.8}; /* of the mass that has run: 80, 60, 40 and 20 % fill */
  int mark = 0;
  while (mark < 4 && world->state.time < 40) {
    run_frames(world, 1);
    through += probe_value(world, 0, 0) / 60;
    if (through >= share[mark] * total) when[mark++] = world->state.time;
  }
  assert_int_equal(mark, 4);
  double mean = 0.6 * total / (when[3] - when[0]);
  for (int k = 1; k < 4; k++) {
    double rate = 0.2 * total / (when[k] - when[k - 1]);
    print_message("fill %.0f to %.0f %%: %.1f kg/s\n", 100 - 100 * share[k - 1], 100 - 100 * share[k], rate);
    strays = fmax(strays, fabs(rate / mean - 1));
  }
  scree_world_destroy(world);
  return strays;
}

#endif
