/* Sommer's hourglass with grains as fine as a device has room for: a frame while all of the sand rests above a closed
 * neck, and one while it runs. */
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

static Status hourglass_row(Core *core, BenchTable *table, const char *name, bool closed) {
  BenchRow row = {.reference = NAN, .unit = "ms/frame"};
  snprintf(row.name, sizeof row.name, "%s", name);
  if (!bench_wants(table, row.name)) return SCREE_OK;
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
  Status status = scree_world_create(&definition, &options, &world, &error);
  if (status == SCREE_OK) status = measure(table, world, closed ? FRAMES_RESTING : FRAMES_RUNNING, &row, &error);
  if (status != SCREE_OK) status = fail(core, status, "%s", error.message);
  scree_world_destroy(world);
  scree_scene_free(scene);
  return status == SCREE_OK ? bench_row(core, table, row) : status;
}

Status bench_device_hourglass(Core *core, BenchTable *table, const ScreeDeviceInfo *info) {
  static const char *const names[] = {"2.1M + 100M: hourglass at rest", "2.1M + 100M: hourglass flowing"};
  if (!bench_wants_any(table, names, 2)) return SCREE_OK;
  if (!table->quick && (HOST_BYTES > (double)memory_left(&core->memory) || DEVICE_BYTES > (double)info->memory_bytes)) {
    fprintf(stderr, "hourglass, 2.1M + 100M: not measured, it wants %.0f GB on the host and %.0f GB on the device\n",
            1e-9 * HOST_BYTES, 1e-9 * DEVICE_BYTES);
    return SCREE_OK;
  }
  TRY(hourglass_row(core, table, names[0], true));
  return hourglass_row(core, table, names[1], false);
}
