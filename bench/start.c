/* scree bench start: from the command to the first frame, for every shipped scene, and how fast shapes are filled. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/scene.h"
#include "core/paths.h"
#include "core/timer.h"
#include "sampling/sampling.h"

enum { STAGES_MAX = 12, REPEATS = 3, SCENES_MAX = 256, SCENE_NAME_MAX = 64 };

/* Processor time of the stages that a world goes through while it is made. */
typedef struct Stages {
  const char *name[STAGES_MAX];
  double seconds[STAGES_MAX];
  int count, now;
  double since;
} Stages;

static void stages_go_on(Stages *stages, const char *name) {
  double time = timer_processor();
  stages->seconds[stages->now] += time - stages->since;
  stages->since = time;
  int k = 0;
  while (k < stages->count && strcmp(stages->name[k], name) != 0) k++;
  if (k == STAGES_MAX) return;
  if (k == stages->count) stages->name[stages->count++] = name;
  stages->now = k;
}

static void see_progress(void *context, const char *what, double done) {
  (void)done;
  stages_go_on(context, what);
}

typedef struct Start {
  double wall, processor;
  Stages stages;
  ScreeStatistics statistics;
} Start;

static Status start_once(Core *core, const BenchTable *table, const char *name, Start *start) {
  ScreeScene *scene = NULL;
  ScreeWorld *world = NULL;
  ScreeError error;
  *start = (Start){.stages = {.name = {"reading"}, .count = 1}};
  double began = timer_now(), processor = start->stages.since = timer_processor();
  TRY(bench_scene_load(core, name, NULL, 0, &scene));
  ScreeWorldOptions options = {.threads = table->threads,
                               .baseline_simd = core->baseline_simd,
                               .progress = see_progress,
                               .progress_context = &start->stages};
  ScreeStatus status = scree_world_create(scree_scene_definition(scene), &options, &world, &error);
  stages_go_on(&start->stages, "reading");
  start->wall = timer_now() - began;
  start->processor = timer_processor() - processor;
  if (status == SCREE_OK) scree_world_statistics(world, &start->statistics);
  scree_world_destroy(world);
  scree_scene_free(scene);
  return status == SCREE_OK ? SCREE_OK : fail(core, status, "%s: %s", name, error.message);
}

static Status scene_row(Core *core, BenchTable *table, const char *name) {
  Start best = {.wall = INFINITY}, start;
  for (int64_t k = 0; k < bench_amount(table, REPEATS, 1); k++) {
    TRY(start_once(core, table, name, &start));
    if (start.wall < best.wall) best = start;
  }
  BenchRow row = {.ours = best.wall, .reference = NAN, .unit = "s"};
  snprintf(row.name, sizeof row.name, "%s", name);
  int at = snprintf(row.note, sizeof row.note, "%lld + %lld grains; processor %.2f s",
                    (long long)best.statistics.coarse, (long long)best.statistics.grains, best.processor);
  for (int k = 0; k < best.stages.count && at < (int)sizeof row.note; k++)
    if (best.stages.seconds[k] >= 0.05)
      at += snprintf(row.note + at, sizeof row.note - (size_t)at, ", %s %.2f", best.stages.name[k],
                     best.stages.seconds[k]);
  return bench_row(core, table, row);
}

typedef struct Fill {
  const char *name;
  double radius;
  bool mesh, dense;
} Fill;

static Status fill_row(Core *core, BenchTable *table, const Shape *shape, const Fill *fill) {
  SamplingPlan plan = {.radius = table->quick ? 4 * fill->radius : fill->radius,
                       .seed = 1,
                       .rotation = {1, 0, 0, 0},
                       .dense = fill->dense};
  double best = INFINITY, processor = INFINITY;
  Samples samples;
  int64_t count = 0;
  for (int64_t k = 0; k < bench_amount(table, REPEATS, 1); k++) {
    double began = timer_now(), before = timer_processor();
    TRY(sample_volume(core, shape, &plan, &samples));
    best = fmin(best, timer_now() - began);
    processor = fmin(processor, timer_processor() - before);
    count = samples.count;
    samples_destroy(core, &samples);
  }
  BenchRow row = {.ours = fill->mesh ? best : (double)count / best / 1e6, .reference = NAN};
  row.unit = fill->mesh ? "s" : "million a second";
  snprintf(row.name, sizeof row.name, "%s", fill->name);
  snprintf(row.note, sizeof row.note, "%lld grains; processor %.2f s", (long long)count, processor);
  return bench_row(core, table, row);
}

static Status fill_rows(Core *core, BenchTable *table) {
  static const Fill fills[] = {{"a million grains in a mesh, random", 0.0045, true, false},
                               {"a million grains in a mesh, dense", 0.0053, true, true},
                               {"fine grains in a box, random", 0.00205, false, false},
                               {"fine grains in a box, dense", 0.00242, false, true}};
  char path[1024];
  TRY(paths_resolve(core, NULL, NULL, "sandcastle_large.obj", (PathsOrigin){0}, path, sizeof path));
  ScreeShapeDef castle = scree_shape_mesh_file(path), box = scree_shape_box(vec3(0, 0, 0), vec3(1, 1, 1));
  Shape shapes[2];
  TRY(shape_create(core, &castle, false, path, NULL, &shapes[0]));
  TRY(shape_create(core, &box, false, NULL, NULL, &shapes[1]));
  Status status = SCREE_OK;
  for (size_t k = 0; k < sizeof fills / sizeof *fills && status == SCREE_OK; k++)
    status = fill_row(core, table, &shapes[fills[k].mesh ? 0 : 1], &fills[k]);
  for (int k = 0; k < 2; k++) shape_destroy(core, &shapes[k]);
  return status;
}

typedef struct SceneNames {
  char name[SCENES_MAX][SCENE_NAME_MAX];
  int count;
} SceneNames;

static int note_scene(void *context, const char *name, const char *path, const char *title) {
  (void)path, (void)title;
  SceneNames *names = context;
  if (names->count < SCENES_MAX) snprintf(names->name[names->count++], SCENE_NAME_MAX, "%s", name);
  return 0;
}

Status bench_start(Core *core, BenchTable *table) {
  table->counts = "the shortest of three starts";
  setenv("SCREE_CACHE", "off", 1); /* as the first time */
  SceneNames *names = NULL;
  ScreeError error;
  TRY(memory_new(core, &names, 1, "names of scenes"));
  Status status = scree_scene_list(note_scene, names, &error);
  if (status != SCREE_OK) status = fail(core, status, "%s", error.message);
  for (int k = 0; k < bench_amount(table, names->count, 2) && status == SCREE_OK; k++)
    status = scene_row(core, table, names->name[k]);
  memory_drop(core, &names);
  return status == SCREE_OK ? fill_rows(core, table) : status;
}
