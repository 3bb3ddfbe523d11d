/* scree bench threads: small scenes on one thread, two, four and so on up to --threads. More must never be slower: a
 * scene takes as many as help (core/crew.h). The worlds of all these threads take turns, frame by frame, so that the
 * same minutes of the machine count for each; of a frame, the shortest time of several rounds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/scene.h"
#include "core/timer.h"

enum { COUNTS_MOST = 10, ROUNDS = 3, TIMED_FRAMES = 24 };
/* Before that it is still being tried out how many help. */
enum { TRIAL_STEPS = 360, TRIAL_FRAMES_MOST = 90 };

static const struct {
  const char *name, *path, *method;
} scenes[] = {
    {"pbd sandcastle", "sommer2022/sandcastle", "pbd"}, {"p2 slope", "holz2014/slope", "p2"},
    {"dem nut", "papadimitriou2012/brazil_nut", "dem"}, {"dem pour", "papadimitriou2012/pour", "dem"},
    {"sph collapse", "side_by_side/collapse", "sph"},   {"flip collapse", "side_by_side/collapse", "flip"},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

typedef struct Turns {
  int count, threads[COUNTS_MOST];
  BenchScene worlds[COUNTS_MOST];
  double shortest[COUNTS_MOST][TIMED_FRAMES]; /* s */
} Turns;

static Status run_frame(Core *core, Turns *turns, int frame) {
  for (int k = 0; k < turns->count; k++) {
    double began = timer_now();
    TRY(bench_scene_frame(core, &turns->worlds[k]));
    double *shortest = &turns->shortest[k][frame < 0 ? 0 : frame];
    if (frame >= 0) *shortest = fmin(*shortest, timer_now() - began);
  }
  return SCREE_OK;
}

static Status run_round(Core *core, const BenchTable *table, int scene, Turns *turns) {
  char set[40];
  snprintf(set, sizeof set, "method.name=%s", scenes[scene].method);
  const char *const sets[] = {set};
  for (int k = 0; k < turns->count; k++)
    TRY(bench_scene_open(core, scenes[scene].path, sets, 1, turns->threads[k], false, &turns->worlds[k]));
  const ScreeWorld *first = turns->worlds[0].world;
  int64_t steps = bench_amount(table, TRIAL_STEPS, 0), frames = bench_amount(table, TIMED_FRAMES, 1);
  for (int frame = 0; frame < TRIAL_FRAMES_MOST && scree_world_step_index(first) < steps; frame++)
    TRY(run_frame(core, turns, -1));
  for (int frame = 0; frame < frames; frame++) TRY(run_frame(core, turns, frame));
  return SCREE_OK;
}

static Status scene_rows(Core *core, BenchTable *table, int scene, const Turns *turns, int64_t particles) {
  double least = INFINITY, worst = 1, total[COUNTS_MOST] = {0};
  for (int k = 0; k < turns->count; k++) {
    int frames = (int)bench_amount(table, TIMED_FRAMES, 1);
    for (int frame = 0; frame < frames; frame++) total[k] += turns->shortest[k][frame] / frames;
    worst = fmax(worst, total[k] / least);
    least = fmin(least, total[k]);
    BenchRow row = {.ours = 1e3 * total[k], .reference = NAN, .unit = "ms/frame"};
    snprintf(row.name, sizeof row.name, "%s, %s", scenes[scene].name, bench_threads(turns->threads[k]).text);
    snprintf(row.note, sizeof row.note, "%lld particles", (long long)particles);
    TRY(bench_row(core, table, row));
  }
  BenchRow row = {.ours = worst, .reference = NAN, .unit = "times", .note = "the worst of all pairs"};
  snprintf(row.name, sizeof row.name, "%s, more threads over fewer", scenes[scene].name);
  return turns->count > 1 ? bench_row(core, table, row) : SCREE_OK;
}

static Status measure(Core *core, BenchTable *table, int scene) {
  Turns turns = {0};
  ScreeStatistics statistics = {0};
  for (int threads = 1; turns.count < COUNTS_MOST - 1 && threads < table->threads; threads *= 2)
    turns.threads[turns.count++] = threads;
  turns.threads[turns.count++] = table->threads;
  for (int k = 0; k < turns.count; k++)
    for (int frame = 0; frame < TIMED_FRAMES; frame++) turns.shortest[k][frame] = INFINITY;
  Status status = SCREE_OK;
  for (int64_t round = 0; round < bench_amount(table, ROUNDS, 1) && status == SCREE_OK; round++) {
    status = run_round(core, table, scene, &turns);
    if (status == SCREE_OK) scree_world_statistics(turns.worlds[0].world, &statistics);
    for (int k = 0; k < turns.count; k++) {
      bench_scene_close(&turns.worlds[k]);
      turns.worlds[k] = (BenchScene){0};
    }
  }
  return status == SCREE_OK ? scene_rows(core, table, scene, &turns, statistics.coarse) : status;
}

Status bench_crew(Core *core, BenchTable *table) {
  table->counts = "the mean over 24 frames, each as in the shortest of three rounds";
  for (int scene = 0; scene < SCENES; scene++)
    if (!table->method || strcmp(table->method, scenes[scene].method) == 0) TRY(measure(core, table, scene));
  return SCREE_OK;
}
