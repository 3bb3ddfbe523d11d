/* scree bench sommer: Table 1 of Sommer 2022 beside ours. Coarse milliseconds a frame (all steps of 16.7 ms) of the
 * four shipped scenes. A speed and the setting it belongs to stand in one row: the default (5 ms, 5 iterations) and
 * small substeps (1 ms, 3 iterations, 1 of stabilisation) have rows of their own. The reference ran on 8 cores; the
 * target is a fifth of it on 2. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/scene.h"
#include "core/memory.h"
#include "scree/scree.h"

enum { SOMMER_WARM = 5, SOMMER_FRAMES = 60, SOMMER_FEW = 20 };

typedef struct SommerScene {
  const char *name;
  double paper_ms;
} SommerScene;

static const SommerScene SCENES[] = {
    {"sandcastle", 9.75}, {"excavator", 21.4}, {"hourglass", 47.4}, {"squirrel", 33.0}};

typedef struct SommerRun {
  double median_ms, best_ms;
  double times[SOMMER_FRAMES]; /* ms of each frame */
  int64_t coarse, samples;
  double steps;       /* a frame */
  double phase_ms[6]; /* a frame */
} SommerRun;

static const char *const PHASES[6] = {"neighbors", "contacts", "stabilize", "solve", "finish", "commit"};

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double phase_seconds(const ScreeStatistics *statistics, const char *name) {
  for (int32_t k = 0; k < statistics->phase_count; k++)
    if (strcmp(statistics->phases[k].name, name) == 0) return statistics->phases[k].seconds;
  return 0;
}

static Status time_frames(Core *core, const BenchScene *opened, int frames, SommerRun *run) {
  ScreeWorld *world = opened->world;
  double sorted[SOMMER_FRAMES], before[6] = {0};
  int64_t first_step = 0;
  ScreeStatistics statistics;
  for (int frame = -SOMMER_WARM; frame < frames; frame++) {
    TRY(bench_scene_frame(core, opened));
    scree_world_statistics(world, &statistics);
    if (frame == -1) {
      first_step = scree_world_step_index(world);
      for (int k = 0; k < 6; k++) before[k] = phase_seconds(&statistics, PHASES[k]);
    }
    if (frame >= 0) run->times[frame] = sorted[frame] = statistics.frame_seconds_coarse * 1e3;
  }
  for (int k = 0; k < 6; k++) run->phase_ms[k] = (phase_seconds(&statistics, PHASES[k]) - before[k]) * 1e3 / frames;
  qsort(sorted, (size_t)frames, sizeof *sorted, by_value);
  run->median_ms = sorted[frames / 2];
  run->best_ms = sorted[0];
  run->steps = (double)(scree_world_step_index(world) - first_step) / frames;
  run->coarse = statistics.coarse;
  run->samples = statistics.body_samples;
  return SCREE_OK;
}

static Status run_scene(Core *core, const char *name, int threads, bool small, int frames, SommerRun *run) {
  char shipped[64];
  snprintf(shipped, sizeof shipped, "sommer2022/%s", name);
  static const char *const sets[] = {"method.time_step=0.001", "method.iterations=3", "method.stabilization=1"};
  BenchScene opened;
  Status status =
      bench_scene_open(core, shipped, sets, small ? (int32_t)(sizeof sets / sizeof *sets) : 0, threads, false, &opened);
  if (status == SCREE_OK) status = time_frames(core, &opened, frames, run);
  bench_scene_close(&opened);
  return status;
}

/* The same frames on one thread and on two: frames differ by how much moves in them. */
static double thread_gain(const SommerRun *one, const SommerRun *two) {
  double ratios[SOMMER_FEW];
  for (int k = 0; k < SOMMER_FEW; k++) ratios[k] = one->times[k] / two->times[k];
  qsort(ratios, SOMMER_FEW, sizeof *ratios, by_value);
  return ratios[SOMMER_FEW / 2];
}

static Status bench_scene(Core *core, BenchTable *table, const SommerScene *scene) {
  SommerRun two, one, small;
  TRY(run_scene(core, scene->name, 2, false, SOMMER_FRAMES, &two));
  TRY(run_scene(core, scene->name, 1, false, SOMMER_FEW, &one));
  TRY(run_scene(core, scene->name, 2, true, SOMMER_FEW, &small));
  BenchRow row = {.ours = two.median_ms, .reference = scene->paper_ms, .unit = "ms"};
  snprintf(row.name, sizeof row.name, "%s, 5 ms x 5, 2 threads", scene->name);
  snprintf(row.note, sizeof row.note, "%lld grains, %lld samples; best frame %.2f; %.1f steps a frame; target %.2f",
           (long long)two.coarse, (long long)two.samples, two.best_ms, two.steps, scene->paper_ms / 5);
  TRY(bench_row(core, table, row));
  for (int k = 0; k < 6; k++) {
    BenchRow phase = {.ours = two.phase_ms[k], .reference = NAN, .unit = "ms"};
    snprintf(phase.name, sizeof phase.name, "%s, %s", scene->name, PHASES[k]);
    snprintf(phase.note, sizeof phase.note, "a frame, mean");
    TRY(bench_row(core, table, phase));
  }
  BenchRow gain = {.ours = thread_gain(&one, &two), .reference = 1.7, .unit = "times"};
  snprintf(gain.name, sizeof gain.name, "%s, 1 thread over 2", scene->name);
  snprintf(gain.note, sizeof gain.note, "median over %d frames; the reference is what is asked for", SOMMER_FEW);
  TRY(bench_row(core, table, gain));
  BenchRow substeps = {.ours = small.median_ms, .reference = NAN, .unit = "ms"};
  snprintf(substeps.name, sizeof substeps.name, "%s, 1 ms x 3, 2 threads", scene->name);
  snprintf(substeps.note, sizeof substeps.note, "small substeps; best frame %.2f; %.1f steps a frame", small.best_ms,
           small.steps);
  return bench_row(core, table, substeps);
}

Status bench_sommer(Core *core, BenchTable *table) {
  for (size_t k = 0; k < sizeof SCENES / sizeof *SCENES; k++) TRY(bench_scene(core, table, &SCENES[k]));
  return bench_upsample(core, table);
}
