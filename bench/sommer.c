/* scree bench sommer: Table 1 of Sommer 2022 beside ours. Coarse milliseconds a frame (all steps of 16.7 ms) of the
 * four shipped scenes. A speed and the setting it belongs to stand in one row: the default (5 ms, 5 iterations) and
 * small substeps (1 ms, 3 iterations, 1 of stabilisation) have rows of their own. The reference ran on 8 cores; the
 * target is a fifth of it on 2.
 *
 * The same seconds of a scene are gone through several times, on two threads and on one in turn. A frame is the same
 * to the bit each time, so its shortest time is what it takes, and what it takes longer is what other programs took. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/scene.h"
#include "scree/scree.h"

enum { SOMMER_WARM = 5, SOMMER_FRAMES = 60, SOMMER_RUNS = 5, SOMMER_PHASES = 6 };

typedef struct SommerScene {
  const char *name;
  double paper_ms;
} SommerScene;

static const SommerScene SCENES[] = {
    {"sandcastle", 9.75}, {"excavator", 21.4}, {"hourglass", 47.4}, {"squirrel", 33.0}};

/* A scene at one setting. */
typedef struct SommerCase {
  BenchScene opened;
  char start[SCREE_FILE_MAX];                /* a checkpoint */
  double times[SOMMER_FRAMES];               /* ms of each frame, the shortest of all runs */
  double single;                             /* median of the first run */
  double phase_ms[SOMMER_PHASES], phases_ms; /* a frame, mean of the run that was quickest in them; their sum */
  int64_t coarse, samples;
  double steps; /* a frame */
} SommerCase;

static const char *const PHASES[SOMMER_PHASES] = {"neighbors", "contacts", "stabilize", "solve", "finish", "commit"};

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double phase_seconds(const ScreeStatistics *statistics, const char *name) {
  for (int32_t k = 0; k < statistics->phase_count; k++)
    if (strcmp(statistics->phases[k].name, name) == 0) return statistics->phases[k].seconds;
  return 0;
}

static double median(const double *values) {
  double sorted[SOMMER_FRAMES];
  memcpy(sorted, values, sizeof sorted);
  qsort(sorted, SOMMER_FRAMES, sizeof *sorted, by_value);
  return sorted[SOMMER_FRAMES / 2];
}

static Status open_case(Core *core, const char *name, int threads, bool small, SommerCase *c) {
  static const char *const sets[] = {"method.time_step=0.001", "method.iterations=3", "method.stabilization=1"};
  char shipped[64];
  ScreeError error;
  *c = (SommerCase){.phases_ms = INFINITY};
  for (int k = 0; k < SOMMER_FRAMES; k++) c->times[k] = INFINITY;
  snprintf(shipped, sizeof shipped, "sommer2022/%s", name);
  TRY(bench_scene_open(core, shipped, sets, small ? (int32_t)(sizeof sets / sizeof *sets) : 0, threads, false,
                       &c->opened));
  TRY(bench_temporary_file(core, c->start, sizeof c->start));
  if (scree_world_save(c->opened.world, c->start, &error) != SCREE_OK)
    return fail(core, error.status, "%s", error.message);
  return SCREE_OK;
}

static void close_case(SommerCase *c) {
  if (*c->start) remove(c->start);
  bench_scene_close(&c->opened);
}

static void take_phases(SommerCase *c, const double seconds[SOMMER_PHASES]) {
  double sum = 0;
  for (int k = 0; k < SOMMER_PHASES; k++) sum += seconds[k] * 1e3 / SOMMER_FRAMES;
  if (!(sum < c->phases_ms)) return;
  c->phases_ms = sum;
  for (int k = 0; k < SOMMER_PHASES; k++) c->phase_ms[k] = seconds[k] * 1e3 / SOMMER_FRAMES;
}

/* From the start of the scene through all frames that are timed. */
static Status run_case(Core *core, SommerCase *c) {
  ScreeWorld *world = c->opened.world;
  ScreeError error;
  ScreeStatistics statistics;
  double began[SOMMER_PHASES] = {0}, spent[SOMMER_PHASES];
  int64_t first_step = 0;
  if (scree_world_load(world, c->start, &error) != SCREE_OK) return fail(core, error.status, "%s", error.message);
  for (int frame = -SOMMER_WARM; frame < SOMMER_FRAMES; frame++) {
    TRY(bench_scene_frame(core, &c->opened));
    scree_world_statistics(world, &statistics);
    if (frame == -1) {
      first_step = scree_world_step_index(world);
      for (int k = 0; k < SOMMER_PHASES; k++) began[k] = phase_seconds(&statistics, PHASES[k]);
    }
    if (frame >= 0) c->times[frame] = fmin(c->times[frame], statistics.frame_seconds_coarse * 1e3);
  }
  for (int k = 0; k < SOMMER_PHASES; k++) spent[k] = phase_seconds(&statistics, PHASES[k]) - began[k];
  take_phases(c, spent);
  if (c->single == 0) c->single = median(c->times);
  c->steps = (double)(scree_world_step_index(world) - first_step) / SOMMER_FRAMES;
  c->coarse = statistics.coarse;
  c->samples = statistics.body_samples;
  return SCREE_OK;
}

/* Frame by frame: they differ by how much moves in them. */
static double thread_gain(const SommerCase *one, const SommerCase *two) {
  double ratios[SOMMER_FRAMES];
  for (int k = 0; k < SOMMER_FRAMES; k++) ratios[k] = one->times[k] / two->times[k];
  return median(ratios);
}

static Status scene_rows(Core *core, BenchTable *table, const SommerScene *scene, const SommerCase *two,
                         const SommerCase *one, const SommerCase *small) {
  BenchRow row = {.ours = median(two->times), .reference = scene->paper_ms, .unit = "ms"};
  snprintf(row.name, sizeof row.name, "%s, 5 ms x 5, 2 threads", scene->name);
  snprintf(row.note, sizeof row.note,
           "%lld grains, %lld samples; %.1f steps a frame; first run alone %.2f; target %.2f", (long long)two->coarse,
           (long long)two->samples, two->steps, two->single, scene->paper_ms / 5);
  TRY(bench_row(core, table, row));
  for (int k = 0; k < SOMMER_PHASES; k++) {
    BenchRow phase = {.ours = two->phase_ms[k], .reference = NAN, .unit = "ms"};
    snprintf(phase.name, sizeof phase.name, "%s, %s", scene->name, PHASES[k]);
    snprintf(phase.note, sizeof phase.note, "a frame, mean of the quickest run");
    TRY(bench_row(core, table, phase));
  }
  BenchRow gain = {.ours = thread_gain(one, two), .reference = 1.7, .unit = "times"};
  snprintf(gain.name, sizeof gain.name, "%s, 1 thread over 2", scene->name);
  snprintf(gain.note, sizeof gain.note, "median over frames; one thread %.2f ms; the reference is what is asked for",
           median(one->times));
  TRY(bench_row(core, table, gain));
  BenchRow substeps = {.ours = median(small->times), .reference = NAN, .unit = "ms"};
  snprintf(substeps.name, sizeof substeps.name, "%s, 1 ms x 3, 2 threads", scene->name);
  snprintf(substeps.note, sizeof substeps.note, "small substeps; %.1f steps a frame; first run alone %.2f",
           small->steps, small->single);
  return bench_row(core, table, substeps);
}

static Status bench_scene(Core *core, BenchTable *table, const SommerScene *scene) {
  enum { TWO, ONE, SMALL, CASES };
  SommerCase cases[CASES] = {0};
  Status status = SCREE_OK;
  for (int k = 0; k < CASES && status == SCREE_OK; k++)
    status = open_case(core, scene->name, k == ONE ? 1 : 2, k == SMALL, &cases[k]);
  for (int run = 0; run < SOMMER_RUNS; run++)
    for (int k = 0; k < CASES && status == SCREE_OK; k++) status = run_case(core, &cases[k]);
  if (status == SCREE_OK) status = scene_rows(core, table, scene, &cases[TWO], &cases[ONE], &cases[SMALL]);
  for (int k = 0; k < CASES; k++) close_case(&cases[k]);
  return status;
}

Status bench_sommer(Core *core, BenchTable *table) {
  for (size_t k = 0; k < sizeof SCENES / sizeof *SCENES; k++) TRY(bench_scene(core, table, &SCENES[k]));
  return bench_upsample(core, table);
}
