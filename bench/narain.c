/* scree bench narain: Table 1 of Narain 2010 beside ours. Seconds a frame of 1/30 s, mean over the whole scene; the
 * paper's are of one thread of 2010. Below each scene: what a step is made of and what its solves did. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/scene.h"
#include "core/timer.h"
#include "methods/flip/flip.h"
#include "world/world.h"

enum { DOMAIN_WARM = 10, DOMAIN_FRAMES = 20 };

typedef struct NarainScene {
  const char *name;
  double paper_s;
} NarainScene;

static const NarainScene SCENES[] = {{"explosion", 19.5}, {"hourglass", 6.5}, {"impacts", 18.3}, {"paddles", 32.5},
                                     {"materials", 13.9}, {"column", 11.6},   {"splash", 6.1}};

static Status run_whole(Core *core, const BenchTable *table, const BenchScene *opened, double *seconds_a_frame) {
  double duration = scree_scene_definition(opened->scene)->duration, seconds = 0;
  int64_t frames = 0;
  int64_t most = bench_amount(table, INT64_MAX, 1);
  while (scree_world_time(opened->world) < duration - 1e-9 && frames < most) {
    double began = timer_now();
    TRY(bench_scene_frame(core, opened));
    seconds += timer_now() - began;
    frames++;
  }
  *seconds_a_frame = seconds / (double)frames;
  return SCREE_OK;
}

/* Phases of a step, ms. */
static Status phase_row(Core *core, BenchTable *table, const char *name, const ScreeWorld *world, double steps) {
  static const char *const phases[] = {"grid",     "solids",   "to_grid",   "density",
                                       "friction", "pressure", "from_grid", "shapes"};
  BenchRow row = {
      .ours = 1e3 * profile_seconds(&world->profile, "method") / steps, .reference = NAN, .unit = "ms/step"};
  snprintf(row.name, sizeof row.name, "%s, a step", name);
  size_t used = 0;
  for (size_t k = 0; k < sizeof phases / sizeof *phases && used < sizeof row.note; k++) {
    double ms = 1e3 * profile_seconds(&world->profile, phases[k]) / steps;
    used += (size_t)snprintf(row.note + used, sizeof row.note - used, "%s%s %.1f", k ? ", " : "", phases[k], ms);
  }
  return bench_row(core, table, row);
}

static Status solve_row(Core *core, BenchTable *table, const char *scene, const char *what, const FlipSolves *solves) {
  BenchRow row = {.ours = (double)solves->steps / fmax(1, (double)solves->solves), .reference = NAN, .unit = "steps"};
  snprintf(row.name, sizeof row.name, "%s, a solve for the %s", scene, what);
  snprintf(row.note, sizeof row.note,
           "%lld solves, %lld unfinished; largest residual %.2g, complementarity %.2g, violation %.2g",
           (long long)solves->solves, (long long)solves->unfinished, solves->residual, solves->complementarity,
           solves->violation);
  return bench_row(core, table, row);
}

static Status bench_opened(Core *core, BenchTable *table, const NarainScene *scene, const BenchScene *opened) {
  const ScreeWorld *world = opened->world;
  BenchRow row = {.reference = scene->paper_s, .unit = "s/frame"};
  TRY(run_whole(core, table, opened, &row.ours));
  ScreeStatistics statistics;
  scree_world_statistics(opened->world, &statistics);
  double steps = (double)statistics.steps;
  snprintf(row.name, sizeof row.name, "%s", scene->name);
  snprintf(row.note, sizeof row.note,
           "%lld particles at the end, %.1f steps a frame; 1/%.0f of the paper (one thread of 2010)",
           (long long)statistics.coarse, steps / (30 * scree_world_time(world)), scene->paper_s / row.ours);
  TRY(bench_row(core, table, row));
  TRY(phase_row(core, table, scene->name, world, steps));
  const FlipReport *report = flip_report(world->method_data);
  TRY(solve_row(core, table, scene->name, "pressure", &report->pressure));
  TRY(solve_row(core, table, scene->name, "density", &report->density));
  return solve_row(core, table, scene->name, "friction", &report->friction);
}

/* The same heap in a tank of this side: its cost should not know the tank. */
static Status heap_in_tank(Core *core, const BenchTable *table, double side, double *best) {
  ScreeMaterialDef sand = scree_material_default("sand");
  double half = side / 2;
  ScreeGrainsDef heap =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.4, -0.4, 0}, (ScreeVec3){0.4, 0.4, 0.4}));
  ScreeBoundaryDef tank =
      scree_boundary_default(scree_shape_box((ScreeVec3){-half, -half, 0}, (ScreeVec3){half, half, side}));
  tank.inside = true;
  ScreeSceneDef definition = scree_scene_default();
  definition.method = scree_method_default("flip");
  definition.method.radius = 0.01;
  definition.materials = &sand, definition.material_count = 1;
  definition.grains = &heap, definition.grains_count = 1;
  definition.boundaries = &tank, definition.boundary_count = 1;
  ScreeWorldOptions options = {.threads = table->threads, .baseline_simd = core->baseline_simd};
  BenchScene opened = {0};
  ScreeError error;
  if (scree_world_create(&definition, &options, &opened.world, &error) != SCREE_OK)
    return fail(core, error.status, "%s", error.message);
  Status status = SCREE_OK;
  *best = INFINITY;
  int64_t first = -bench_amount(table, DOMAIN_WARM, 0), end = bench_amount(table, DOMAIN_FRAMES, 1);
  for (int64_t k = first; k < end && status == SCREE_OK; k++) {
    double began = timer_now();
    status = bench_scene_frame(core, &opened);
    if (k >= 0) *best = fmin(*best, timer_now() - began);
  }
  bench_scene_close(&opened);
  return status;
}

static Status bench_domain(Core *core, BenchTable *table) {
  double near, far;
  TRY(heap_in_tank(core, table, 2, &near));
  TRY(heap_in_tank(core, table, 4, &far));
  BenchRow row = {.name = "domain eight times as large", .ours = far / near, .reference = NAN, .unit = "times"};
  snprintf(row.note, sizeof row.note, "quickest frame, %.1f against %.1f ms", 1e3 * far, 1e3 * near);
  return bench_row(core, table, row);
}

Status bench_narain(Core *core, BenchTable *table) {
  table->counts = "the mean over a whole scene";
  TRY(bench_domain(core, table));
  int64_t first = bench_amount(table, 0, 1), scenes = bench_amount(table, sizeof SCENES / sizeof *SCENES, first + 1);
  for (int64_t k = first; k < scenes; k++) {
    char name[64];
    snprintf(name, sizeof name, "narain2010/%s", SCENES[k].name);
    BenchScene opened;
    Status status = bench_scene_open(core, name, NULL, 0, table->threads, false, &opened);
    if (status == SCREE_OK) status = bench_opened(core, table, &SCENES[k], &opened);
    bench_scene_close(&opened);
    TRY(status);
  }
  return SCREE_OK;
}
