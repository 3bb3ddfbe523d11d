/* scree bench sommer: Table 1 of Sommer 2022 beside ours. Coarse milliseconds a frame (all steps of 16.7 ms, bodies and
 * mechanisms included) of the four shipped scenes. A speed and the setting it belongs to stand in one row: the default
 * (5 ms, 5 iterations) and small substeps (1 ms, 3 iterations, 1 of stabilisation) have rows of their own. The
 * reference is the paper's, on 8 cores.
 *
 * The same second of a scene is gone through several times. A frame is the same to the bit each time, so its shortest
 * time is what it takes, and what it takes longer is what other programs took. Several threads and one go through it in
 * turns of a few frames. The gain is that of the shortest times of all frames; beside it stand the ratio of the same
 * moments (median over the turns), what a busy machine gives, and what more threads gain there where nothing is
 * shared: in a loop that only computes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/scene.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "scree/scree.h"

enum { SOMMER_WARM = 5, SOMMER_RUNS = 7, TURNS = 6, TURN_FRAMES = 10, SOMMER_FRAMES = TURNS * TURN_FRAMES };
enum { RATIOS = SOMMER_RUNS * TURNS, SOMMER_PHASES = 6 };

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
  double bodies[SOMMER_FRAMES];              /* of it, bodies and mechanisms */
  int frames;                                /* how many of them are measured */
  double turn_ms;                            /* of the last turn */
  double single;                             /* median of the first run */
  double phase_ms[SOMMER_PHASES], phases_ms; /* a frame, mean of the run that was quickest in them; their sum */
  double began[SOMMER_PHASES];               /* s, when the first frame of the run began */
  int64_t first_step, coarse, samples;
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

static double median(const double *values, int count) {
  double sorted[SOMMER_FRAMES];
  memcpy(sorted, values, sizeof *sorted * (size_t)count);
  qsort(sorted, (size_t)count, sizeof *sorted, by_value);
  return sorted[count / 2];
}

static double all_frames(const SommerCase *c) {
  double sum = 0;
  for (int k = 0; k < c->frames; k++) sum += c->times[k];
  return sum;
}

static double frame_median(const SommerCase *c) { return median(c->times, c->frames); }

/* ---- what more threads of the machine are worth ---- */

enum { ARITHMETIC_ROUNDS = 400000, CHAINS = 16 }; /* as many at once as keep a core's units busy */

static void arithmetic_chunk(void *context, int64_t b, int64_t e, int thread) {
  double *sums = context, chains[CHAINS];
  (void)thread;
  for (int c = 0; c < CHAINS; c++) chains[c] = c;
  for (int64_t k = 0; k < (e - b) * ARITHMETIC_ROUNDS; k++)
    for (int c = 0; c < CHAINS; c++) chains[c] = chains[c] * 1.0000001 + 1e-9;
  sums[b] = 0;
  for (int c = 0; c < CHAINS; c++) sums[b] += chains[c];
}

static double arithmetic_seconds(Core *core, int64_t chunk) {
  double sums[PARALLEL_THREADS_MAX], began = timer_now();
  parallel_for(core, 0, pool_threads(core->pool), chunk, arithmetic_chunk, sums);
  return timer_now() - began;
}

/* Time on one thread over that on all. The first time of all wakes the others up. */
static double arithmetic_gain(Core *core) {
  double alone = arithmetic_seconds(core, pool_threads(core->pool));
  arithmetic_seconds(core, 1);
  return alone / arithmetic_seconds(core, 1);
}

/* ---- a scene ---- */

static Status open_case(Core *core, const BenchTable *table, const char *name, int threads, bool small, SommerCase *c) {
  static const char *const substeps[] = {"method.time_step=0.001", "method.iterations=3", "method.stabilization=1"};
  static const char *const few[] = {"method.radius=0.1"};
  const char *const *sets = small ? substeps : few;
  int32_t set_count = small ? 3 : table->quick ? 1 : 0;
  char shipped[64];
  ScreeError error;
  *c = (SommerCase){.phases_ms = INFINITY, .frames = (int)bench_amount(table, TURNS, 1) * TURN_FRAMES};
  for (int k = 0; k < SOMMER_FRAMES; k++) c->times[k] = INFINITY;
  snprintf(shipped, sizeof shipped, "sommer2022/%s", name);
  TRY(bench_scene_open(core, shipped, sets, set_count, threads, false, &c->opened));
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
  for (int k = 0; k < SOMMER_PHASES; k++) sum += seconds[k] * 1e3 / c->frames;
  if (!(sum < c->phases_ms)) return;
  c->phases_ms = sum;
  for (int k = 0; k < SOMMER_PHASES; k++) c->phase_ms[k] = seconds[k] * 1e3 / c->frames;
}

static Status start_run(Core *core, SommerCase *c) {
  ScreeWorld *world = c->opened.world;
  ScreeError error;
  ScreeStatistics statistics;
  if (scree_world_load(world, c->start, &error) != SCREE_OK) return fail(core, error.status, "%s", error.message);
  for (int frame = 0; frame < SOMMER_WARM; frame++) TRY(bench_scene_frame(core, &c->opened));
  scree_world_statistics(world, &statistics);
  c->first_step = scree_world_step_index(world);
  for (int k = 0; k < SOMMER_PHASES; k++) c->began[k] = phase_seconds(&statistics, PHASES[k]);
  return SCREE_OK;
}

static Status run_turn(Core *core, SommerCase *c, int turn) {
  c->turn_ms = 0;
  for (int frame = turn * TURN_FRAMES; frame < (turn + 1) * TURN_FRAMES; frame++) {
    ScreeStatistics statistics;
    TRY(bench_scene_frame(core, &c->opened));
    scree_world_statistics(c->opened.world, &statistics);
    double ms = (statistics.frame_seconds_coarse + statistics.frame_seconds_bodies) * 1e3;
    if (ms < c->times[frame]) c->bodies[frame] = statistics.frame_seconds_bodies * 1e3;
    c->times[frame] = fmin(c->times[frame], ms);
    c->turn_ms += ms;
  }
  return SCREE_OK;
}

static void end_run(SommerCase *c) {
  ScreeStatistics statistics;
  double spent[SOMMER_PHASES];
  scree_world_statistics(c->opened.world, &statistics);
  for (int k = 0; k < SOMMER_PHASES; k++) spent[k] = phase_seconds(&statistics, PHASES[k]) - c->began[k];
  take_phases(c, spent);
  if (c->single == 0) c->single = frame_median(c);
  c->steps = (double)(scree_world_step_index(c->opened.world) - c->first_step) / c->frames;
  c->coarse = statistics.coarse;
  c->samples = statistics.body_samples;
}

enum { ALL, ONE, SMALL, CASES }; /* threads; with small substeps */

/* What more threads gain in the scene and without one, turn by turn. */
typedef struct Gains {
  int count;
  double scene[RATIOS], arithmetic[RATIOS];
} Gains;

static Status run_cases(Core *core, const BenchTable *table, SommerCase cases[CASES], Gains *gains) {
  int turns = cases[ALL].frames / TURN_FRAMES;
  for (int64_t run = 0; run < bench_amount(table, SOMMER_RUNS, 1); run++) {
    for (int k = 0; k < CASES; k++) TRY(start_run(core, &cases[k]));
    for (int turn = 0; turn < turns; turn++) {
      for (int k = 0; k < CASES; k++) TRY(run_turn(core, &cases[k], turn));
      gains->scene[gains->count] = cases[ONE].turn_ms / cases[ALL].turn_ms;
      gains->arithmetic[gains->count++] = arithmetic_gain(core);
    }
    for (int k = 0; k < CASES; k++) end_run(&cases[k]);
  }
  return SCREE_OK;
}

static Status scene_rows(Core *core, BenchTable *table, const SommerScene *scene, const SommerCase cases[CASES],
                         const Gains *gains) {
  const SommerCase *all = &cases[ALL], *small = &cases[SMALL];
  BenchWords threads = bench_threads(table->threads);
  BenchRow row = {.ours = frame_median(all), .reference = scene->paper_ms, .unit = "ms"};
  snprintf(row.name, sizeof row.name, "%s, 5 ms x 5, %s", scene->name, threads.text);
  snprintf(
      row.note, sizeof row.note,
      "%lld grains, %lld samples; bodies %.2f of it; %.1f steps a frame; first run alone %.2f; the paper's: 8 cores",
      (long long)all->coarse, (long long)all->samples, median(all->bodies, all->frames), all->steps, all->single);
  TRY(bench_row(core, table, row));
  for (int k = 0; k < SOMMER_PHASES; k++) {
    BenchRow phase = {.ours = all->phase_ms[k], .reference = NAN, .unit = "ms"};
    snprintf(phase.name, sizeof phase.name, "%s, %s", scene->name, PHASES[k]);
    snprintf(phase.note, sizeof phase.note, "a frame, mean of the quickest run");
    TRY(bench_row(core, table, phase));
  }
  BenchRow gain = {.ours = all_frames(&cases[ONE]) / all_frames(all), .reference = NAN, .unit = "times"};
  snprintf(gain.name, sizeof gain.name, "%s, 1 thread over %d", scene->name, table->threads);
  snprintf(gain.note, sizeof gain.note,
           "one thread %.2f ms; median over turns of %d frames %.2f, of arithmetic alone %.2f",
           frame_median(&cases[ONE]), TURN_FRAMES, median(gains->scene, gains->count),
           median(gains->arithmetic, gains->count));
  if (table->threads > 1) TRY(bench_row(core, table, gain));
  BenchRow substeps = {.ours = frame_median(small), .reference = NAN, .unit = "ms"};
  snprintf(substeps.name, sizeof substeps.name, "%s, 1 ms x 3, %s", scene->name, threads.text);
  snprintf(substeps.note, sizeof substeps.note, "small substeps; %.1f steps a frame; first run alone %.2f",
           small->steps, small->single);
  return bench_row(core, table, substeps);
}

static Status bench_scene(Core *core, BenchTable *table, const SommerScene *scene) {
  SommerCase cases[CASES] = {0};
  Gains gains = {0};
  Status status = SCREE_OK;
  for (int k = 0; k < CASES && status == SCREE_OK; k++)
    status = open_case(core, table, scene->name, k == ONE ? 1 : table->threads, k == SMALL, &cases[k]);
  if (status == SCREE_OK) status = run_cases(core, table, cases, &gains);
  if (status == SCREE_OK) status = scene_rows(core, table, scene, cases, &gains);
  for (int k = 0; k < CASES; k++) close_case(&cases[k]);
  return status;
}

Status bench_sommer(Core *core, BenchTable *table) {
  table->counts = "the median over a second of frames, each as in the shortest of seven runs";
  const int64_t scenes = sizeof SCENES / sizeof *SCENES;
  for (int64_t k = bench_amount(table, 0, scenes - 1); k < scenes; k++) TRY(bench_scene(core, table, &SCENES[k]));
  return bench_upsample(core, table);
}
