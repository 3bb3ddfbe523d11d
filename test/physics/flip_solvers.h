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
  double tolerance = scree_world_definition(world)->method.tolerance;
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
  scree_world_destroy(world);
}

#endif
