/* Sommer's hourglass with grains as fine as a device has room for: how long it takes to its first frame, a frame while
 * it runs, and one while all of the sand rests above a closed neck. */
#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/device.h"
#include "bench/scene.h"
#include "core/timer.h"
#include "scree/scree.h"

#define COARSE_RADIUS "method.radius=0.0048"
#define FINE_RADIUS "upsample.radius=0.0013"
/* What it takes on the host while it is placed, and on the device, bytes. */
#define HOST_BYTES 16e9
#define DEVICE_BYTES 12e9
/* Until the sand lies still above the neck, or runs through it. */
enum { FRAMES_RESTING = 90, FRAMES_RUNNING = 45, FRAMES_MEASURED = 9 };

static int by_size(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The median of some frames after `before` others. */
static Status measure(BenchTable *table, ScreeWorld *world, int64_t before, BenchRow *row, ScreeError *error) {
  double seconds[FRAMES_MEASURED];
  const int64_t measured = bench_amount(table, FRAMES_MEASURED, 1);
  int64_t first = 0;
  for (int64_t k = 0; k < bench_amount(table, before, 0) + measured; k++) {
    const int64_t at = k - bench_amount(table, before, 0);
    if (at == 0) first = scree_world_step_index(world);
    const double began = timer_now();
    TRY(scree_world_frame(world, error));
    if (at >= 0) seconds[at] = timer_now() - began;
  }
  qsort(seconds, (size_t)measured, sizeof *seconds, by_size);
  ScreeStatistics statistics;
  scree_world_statistics(world, &statistics);
  row->ours = 1e3 * seconds[measured / 2];
  snprintf(row->note, sizeof row->note, "median; %.3gM + %.4gM grains, %.3g steps a frame",
           1e-6 * (double)statistics.coarse, 1e-6 * (double)statistics.grains,
           (double)(scree_world_step_index(world) - first) / (double)measured);
  return SCREE_OK;
}

enum { HOURGLASS_START, HOURGLASS_FLOWING, HOURGLASS_RESTING, HOURGLASS_ROWS };
static const char *const names[HOURGLASS_ROWS] = {"2.1M + 100M: from the command to its first frame",
                                                  "2.1M + 100M: hourglass flowing", "2.1M + 100M: hourglass at rest"};

/* One world; `row` is what is measured after its first frame, the start is a row of the flowing one. */
static Status hourglass_rows(Core *core, BenchTable *table, bool closed) {
  const char *name = names[closed ? HOURGLASS_RESTING : HOURGLASS_FLOWING];
  BenchRow row = {.reference = NAN, .unit = "ms/frame"}, start = {.reference = NAN, .unit = "s"};
  snprintf(row.name, sizeof row.name, "%s", name);
  snprintf(start.name, sizeof start.name, "%s", names[HOURGLASS_START]);
  const bool runs = bench_wants(table, row.name), starts = !closed && bench_wants(table, start.name);
  if (!runs && !starts) return SCREE_OK;
  const char *sets[] = {COARSE_RADIUS, FINE_RADIUS};
  const char *few[] = {"method.radius=0.1", "upsample.radius=0.05"};
  ScreeScene *scene = NULL;
  TRY(bench_scene_load(core, "sommer2022/hourglass", table->quick ? few : sets, 2, &scene));
  ScreeSceneDef definition = *scree_scene_definition(scene);
  ScreeBoundaryDef solids[2] = {definition.boundaries[0],
                                scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}))};
  if (closed) definition.boundaries = solids, definition.boundary_count = 2;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = table->threads;
  options.memory_limit = memory_left(&core->memory);
  options.device = table->device;
  ScreeWorld *world = NULL;
  ScreeError error;
  const double began = timer_now();
  Status status = scree_world_create(&definition, &options, &world, &error);
  if (status == SCREE_OK) status = scree_world_frame(world, &error);
  start.ours = timer_now() - began;
  if (status == SCREE_OK && runs)
    status = measure(table, world, closed ? FRAMES_RESTING : FRAMES_RUNNING, &row, &error);
  if (status != SCREE_OK) status = fail(core, status, "%s", error.message);
  scree_world_destroy(world);
  scree_scene_free(scene);
  if (status == SCREE_OK && starts) status = bench_row(core, table, start);
  return status == SCREE_OK && runs ? bench_row(core, table, row) : status;
}

Status bench_device_hourglass(Core *core, BenchTable *table, const ScreeDeviceInfo *info) {
  if (!bench_wants_any(table, names, HOURGLASS_ROWS)) return SCREE_OK;
  if (!table->quick && (HOST_BYTES > (double)memory_left(&core->memory) || DEVICE_BYTES > (double)info->memory_bytes)) {
    fprintf(stderr, "hourglass, 2.1M + 100M: not measured, it wants %.0f GB on the host and %.0f GB on the device\n",
            1e-9 * HOST_BYTES, 1e-9 * DEVICE_BYTES);
    return SCREE_OK;
  }
  TRY(hourglass_rows(core, table, false));
  return hourglass_rows(core, table, true);
}
