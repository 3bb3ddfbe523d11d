/* How well the solves of the shipped scenes of narain2010 end. */
#ifndef TEST_FLIP_SOLVERS_H
#define TEST_FLIP_SOLVERS_H

#include "methods/flip/flip.h"
#include "physics/flip_fixture.h"

static const char *const FLIP_SCENES[] = {"column",    "column_pulling", "explosion",     "hourglass", "impacts",
                                          "materials", "paddles",        "pile_03",       "pile_05",   "pile_07",
                                          "splash",    "shapes_tracked", "shapes_ignored"};

/* A shipped scene whose particles are `coarser` times as large. */
static inline ScreeWorld *shipped_world(const char *name, double coarser) {
  char path[SCREE_FILE_MAX], full[64];
  ScreeScene *scene = NULL;
  ScreeError error;
  snprintf(full, sizeof full, "narain2010/%s", name);
  assert_done(scree_scene_find(full, path, sizeof path, &error));
  assert_done(scree_scene_load(path, NULL, &scene, &error));
  ScreeSceneDef coarse = *scree_scene_definition(scene);
  coarse.upsample = NULL;
  coarse.method.radius *= coarser;
  ScreeWorld *world = world_of(&coarse, 2);
  scree_scene_free(scene);
  return world;
}

/* Every solve of so many frames reached its tolerance, left no cell fuller than it may be by more than two hundredths,
 * and kept the yield surface. */
static inline void check_solves(const char *name, double coarser, int frames) {
  ScreeWorld *world = shipped_world(name, coarser);
  run_frames(world, frames);
  const FlipReport *report = flip_report(world->method_data);
  double tolerance = scree_world_definition(world)->method.flip.tolerance;
  const FlipSolves *solves[2] = {&report->pressure, &report->density};
  for (int k = 0; k < 2; k++) {
    print_message("%-15s %s %6lld solves, %5.1f steps each, residual %.1e, gap %.1e, over %.1e\n", name,
                  k ? "density " : "pressure", (long long)solves[k]->solves,
                  (double)solves[k]->steps / fmax(1, (double)solves[k]->solves), solves[k]->residual,
                  solves[k]->complementarity, solves[k]->violation);
    assert_int_equal(solves[k]->unfinished, 0);
    assert_true(solves[k]->residual < 1.0001 * tolerance);
    assert_true(solves[k]->complementarity < tolerance);
    assert_true(solves[k]->violation < 0.02);
  }
  print_message("%-15s friction %6lld solves, %5.1f steps each, residual %.1e, over %.1e\n", name,
                (long long)report->friction.solves,
                (double)report->friction.steps / fmax(1, (double)report->friction.solves), report->friction.residual,
                report->friction.violation);
  assert_true(report->friction.violation < 1e-5);
  /* and so says the report of the run, step by step */
  const char *const misses[] = {"pressure_not_converged", "density_not_converged", "complementarity_missed",
                                "yield_surface_exceeded"};
  for (size_t k = 0; k < sizeof misses / sizeof *misses; k++)
    assert_int_equal(state_counted(&world->state, misses[k]), 0);
  scree_world_destroy(world);
}

/* The slope at which a shear flow goes on. */
static inline double flow_angle(double alpha) { return atan(sqrt(1.5) * alpha); }

/* The heap that a shipped column leaves: below the angle of flow, for it arrives with speed, and at rest. Returns its
 * angle in degrees. */
static inline double check_heap(const char *name, double alpha, double coarser) {
  ScreeWorld *world = shipped_world(name, coarser);
  run_seconds(world, 3);
  ScreeProbeState probe;
  assert_int_equal(scree_world_probe(world, 1, &probe), SCREE_OK);
  double limit = flow_angle(alpha) * 180 / M_PI, speed = fixture_speed(world);
  print_message("%s: %.1f degrees of %.1f, %.3f mm/s\n", name, probe.values[0], limit, 1e3 * speed);
  assert_true(speed < 1e-3);
  assert_true(probe.values[0] < limit);
  scree_world_destroy(world);
  return probe.values[0];
}

static inline int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The front of a heap: the radius within which 97 of 100 particles of a sector lie, in 32 of them. Returns the part of
 * it that has the fourfold symmetry of the grid, as a share of the mean. */
static inline double fourfold_part(ScreeWorld *world, double *mean) {
  enum { SECTORS_ROUND = 32 };
  const Particles *p = &world->state.particles;
  Vec3 center = fixture_center(world);
  double *radius = malloc(sizeof *radius * (size_t)p->count), wave[2] = {0};
  assert_non_null(radius);
  *mean = 0;
  for (int s = 0; s < SECTORS_ROUND; s++) {
    double turn = 2 * M_PI * (s + 0.5) / SECTORS_ROUND - M_PI;
    int64_t count = 0;
    for (int64_t i = 0; i < p->count; i++) {
      Vec3 off = vec3_sub(state_position(&world->state, i), center);
      if (fabs(remainder(atan2(off.y, off.x) - turn, 2 * M_PI)) < M_PI / SECTORS_ROUND)
        radius[count++] = sqrt(off.x * off.x + off.y * off.y);
    }
    assert_true(count > 100);
    qsort(radius, (size_t)count, sizeof *radius, by_size);
    double front = radius[(int64_t)(0.97 * (double)(count - 1))];
    *mean += front / SECTORS_ROUND;
    wave[0] += 2 * front * cos(4 * turn) / SECTORS_ROUND;
    wave[1] += 2 * front * sin(4 * turn) / SECTORS_ROUND;
  }
  free(radius);
  return sqrt(wave[0] * wave[0] + wave[1] * wave[1]) / *mean;
}

/* Height over the floor of the lowest particle of each column of a cell's width, in radii: what a share of the columns
 * has at most. Sand that lies on the floor has 1. */
static inline double clearance(ScreeWorld *world, double share) {
  enum { COLUMNS = 128 };
  static double low[COLUMNS * COLUMNS];
  const Particles *p = &world->state.particles;
  double radius = world->state.radius;
  int64_t count = 0;
  for (int k = 0; k < COLUMNS * COLUMNS; k++) low[k] = INFINITY;
  for (int64_t i = 0; i < p->count; i++) {
    Vec3 at = state_position(&world->state, i);
    int x = (int)floor(at.x / (4 * radius)) + COLUMNS / 2, y = (int)floor(at.y / (4 * radius)) + COLUMNS / 2;
    assert_true(x >= 0 && y >= 0 && x < COLUMNS && y < COLUMNS);
    low[y * COLUMNS + x] = fmin(low[y * COLUMNS + x], at.z / radius);
  }
  for (int k = 0; k < COLUMNS * COLUMNS; k++)
    if (low[k] < INFINITY) low[count++] = low[k];
  qsort(low, (size_t)count, sizeof *low, by_size);
  return low[(int64_t)(share * (double)(count - 1))];
}

/* A heap lies on the floor: nineteen of twenty columns come within half a radius of it. What is left are holes that a
 * cell does not see. */
static inline void check_lies(ScreeWorld *world, const char *name) {
  double most = clearance(world, 0.95), few = clearance(world, 0.99), worst = clearance(world, 0.999);
  print_message("%s: lowest particles 95 %% up to %.2f radii over the floor, 99 %% up to %.2f, 99.9 %% up to %.2f\n",
                name, most, few, worst);
  assert_true(most < 1.5);
  assert_true(few < 1.8);
  assert_true(worst < 2.5);
}

#endif
