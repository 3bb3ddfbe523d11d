/* Filling a castle with a million grains and covering it with points: samples per second, mesh loading not counted. */
#include <string.h>

#include "bench/bench.h"
#include "core/paths.h"
#include "core/timer.h"
#include "sampling/sampling.h"

typedef struct Work {
  const char *name;
  double radius; /* of grains, or half the spacing of points */
  bool surface, maximal, dense;
} Work;

static Status sample_once(Core *core, const Shape *shape, const Work *work, Samples *samples) {
  SamplingPlan plan = {.radius = work->radius, .seed = 1, .rotation = {1, 0, 0, 0}};
  plan.maximal = work->maximal, plan.dense = work->dense;
  if (work->surface) return sample_surface(core, shape, 2 * work->radius, &plan, samples);
  return sample_volume(core, shape, &plan, samples);
}

static Status sampling_row(Core *core, BenchTable *table, const Shape *shape, const Work *work, int repeats) {
  double best = INFINITY, fraction = 0;
  int64_t count = 0;
  for (int k = 0; k < repeats; k++) {
    Samples samples;
    double began = timer_now();
    TRY(sample_once(core, shape, work, &samples));
    best = fmin(best, timer_now() - began);
    count = samples.count, fraction = samples.fraction;
    samples_destroy(core, &samples);
  }
  BenchRow row = {.ours = (double)count / best / 1000, .unit = "thousand a second"};
  snprintf(row.name, sizeof row.name, "%s", work->name);
  if (work->surface) snprintf(row.note, sizeof row.note, "%lld points", (long long)count);
  else snprintf(row.note, sizeof row.note, "%lld grains, solid fraction %.3f", (long long)count, fraction);
  return bench_row(core, table, row);
}

Status bench_sampling(Core *core, BenchTable *table) {
  if (!table->counts) table->counts = "the quickest of 3 to 5 fills";
  static const Work works[] = {
      {.name = "castle, 10k, random", .radius = 0.0203},
      {.name = "castle, 100k, random", .radius = 0.0096},
      {.name = "castle, 1M, random", .radius = 0.0045},
      {.name = "castle, 1M, maximal", .radius = 0.0045, .maximal = true},
      {.name = "castle, 150k, dense", .radius = 0.01, .dense = true},
      {.name = "castle, 1.3M, surface", .radius = 0.0015, .surface = true},
  };
  char path[1024];
  TRY(paths_resolve(core, NULL, NULL, "sandcastle_large.obj", (PathsOrigin){0}, path, sizeof path));
  ScreeShapeDef definition = scree_shape_mesh_file(path);
  Shape shape;
  TRY(shape_create(core, &definition, false, path, NULL, &shape));
  Status status = SCREE_OK;
  int64_t count = bench_amount(table, sizeof works / sizeof *works, 1);
  for (int64_t k = 0; k < count && status == SCREE_OK; k++)
    status = sampling_row(core, table, &shape, &works[k], table->quick ? 1 : k < 2 ? 5 : 3);
  shape_destroy(core, &shape);
  return status;
}
