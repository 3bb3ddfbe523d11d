/* scree bench scaling: cost per particle and step over sizes and threads, for every method of this build; and the
 * memory that a particle takes. All sizes are gone through several times, so that they are compared over the same
 * minutes of the machine; the shortest time counts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "core/timer.h"
#include "scree/world.h"

enum { WARM_FRAMES = 3, TIMED_FRAMES = 6, ROUNDS = 3, SIZES = 3 };

#define LATE_SECONDS 4.0
#define REST_FRAMES 90
#define REST_PARTICLES 20000

typedef struct Measured {
  int64_t particles;
  double step_ns; /* per particle, best frame of all rounds */
  double bytes;   /* per particle, at the peak */
  double rested;  /* the same when the block has come to rest, where contacts are many; NaN where that takes long */
} Measured;

static bool is_coarse(const char *method) { return strcmp(method, "pbd") == 0 || strcmp(method, "p2") == 0; }

/* A block of about `count` grains that falls apart in a box: contacts, walls and rebuilds all take part. */
static Status measure(Core *core, const char *method, double count, int threads, Measured *measured) {
  double radius = 0.01, volume = count * 4.0 / 3 * M_PI * radius * radius * radius / 0.36, side = cbrt(volume / 2);
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeGrainsDef grains = scree_grains_default(
      "sand", scree_shape_box((ScreeVec3){-side / 2, -side / 2, 0}, (ScreeVec3){side / 2, side / 2, 2 * side}));
  ScreeBoundaryDef box = scree_boundary_default(
      scree_shape_box((ScreeVec3){-side / 2, -side / 2, 0}, (ScreeVec3){side / 2, side / 2, 4 * side}));
  box.inside = true;
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "scaling";
  scene.method = scree_method_default(method);
  scene.method.radius = radius;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.grains = &grains;
  scene.grains_count = 1;
  scene.boundaries = &box;
  scene.boundary_count = 1;
  ScreeWorldOptions options = {.threads = threads, .baseline_simd = core->baseline_simd};
  ScreeWorld *world = NULL;
  ScreeError error;
  if (scree_world_create(&scene, &options, &world, &error) != SCREE_OK)
    return fail(core, error.status, "%s", error.message);
  Status status = SCREE_OK;
  double best = INFINITY, start = timer_now();
  /* Methods of many small steps have measured enough after one frame of a million. */
  for (int frame = 0; frame < WARM_FRAMES + TIMED_FRAMES && status == SCREE_OK; frame++) {
    bool late = timer_now() - start > LATE_SECONDS;
    if (late && best < INFINITY) break;
    int64_t steps = scree_world_step_index(world);
    double began = timer_now();
    status = scree_world_frame(world, &error);
    double seconds = (timer_now() - began) / (double)(scree_world_step_index(world) - steps);
    if ((frame >= WARM_FRAMES || late || timer_now() - start > LATE_SECONDS) && seconds < best) best = seconds;
  }
  ScreeStatistics statistics;
  scree_world_statistics(world, &statistics);
  measured->particles = statistics.coarse;
  measured->step_ns = fmin(measured->step_ns, best * 1e9 / (double)statistics.coarse);
  measured->bytes = (double)statistics.memory_peak_bytes / (double)statistics.coarse;
  if (is_coarse(method) && statistics.coarse < REST_PARTICLES && isnan(measured->rested)) {
    while (scree_world_frame_index(world) < REST_FRAMES && status == SCREE_OK)
      status = scree_world_frame(world, &error);
    scree_world_statistics(world, &statistics);
    measured->rested = (double)statistics.memory_peak_bytes / (double)statistics.coarse;
  }
  scree_world_destroy(world);
  return status == SCREE_OK ? SCREE_OK : fail(core, status, "%s", error.message);
}

static Status add(Core *core, BenchTable *table, double ours, double reference, const char *unit, const char *note,
                  const char *format, const char *method, double count) {
  BenchRow row = {.ours = ours, .reference = reference, .unit = unit};
  char size[24];
  snprintf(size, sizeof size, count >= 1e6 ? "%.0fM" : "%.0fk", count >= 1e6 ? count / 1e6 : count / 1e3);
  snprintf(row.name, sizeof row.name, format, method, size);
  snprintf(row.note, sizeof row.note, "%s", note);
  return bench_row(core, table, row);
}

/* The memory that `none` may take per particle, everything counted. */
#define NONE_BYTES 200
/* And a coarse grain with its contacts. */
#define COARSE_BYTES 600
/* Its cost over the sizes may differ by that much. */
#define FLATNESS 1.25

static Status size_rows(Core *core, BenchTable *table, const char *method, double size, const Measured *one,
                        const Measured *two) {
  double bytes = strcmp(method, "none") == 0 ? NONE_BYTES : is_coarse(method) ? COARSE_BYTES : NAN;
  const char *best = "per particle and step, best frame";
  TRY(add(core, table, one->step_ns, NAN, "ns", best, "%s %s, 1 thread", method, size));
  TRY(add(core, table, two->step_ns, NAN, "ns", best, "%s %s, 2 threads", method, size));
  TRY(add(core, table, one->step_ns / two->step_ns, NAN, "times", "1 thread over 2", "%s %s, gain", method, size));
  TRY(add(core, table, two->bytes, bytes, "bytes", "per particle, at the peak", "%s %s, memory", method, size));
  if (!isfinite(two->rested)) return SCREE_OK;
  return add(core, table, two->rested, bytes, "bytes", "per particle, at the peak, come to rest",
             "%s %s, memory at rest", method, size);
}

static Status scale_method(Core *core, BenchTable *table, const char *method) {
  static const double sizes[SIZES] = {1e4, 1e5, 1e6};
  Measured measured[SIZES][2];
  double slowest = 0, fastest = INFINITY;
  for (int k = 0; k < SIZES; k++) measured[k][0] = measured[k][1] = (Measured){.step_ns = INFINITY, .rested = NAN};
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < SIZES; k++)
      for (int threads = 1; threads <= 2; threads++)
        TRY(measure(core, method, sizes[k], threads, &measured[k][threads - 1]));
  for (int k = 0; k < SIZES; k++) {
    TRY(size_rows(core, table, method, sizes[k], &measured[k][0], &measured[k][1]));
    slowest = fmax(slowest, measured[k][1].step_ns);
    fastest = fmin(fastest, measured[k][1].step_ns);
  }
  return add(core, table, slowest / fastest, is_coarse(method) ? FLATNESS : NAN, "times",
             "2 threads, slowest over fastest", "%s, from 10k to %s", method, sizes[SIZES - 1]);
}

Status bench_scaling(Core *core, BenchTable *table) {
  bool any = false;
  for (int32_t m = 0; m < scree_method_count(); m++) {
    const char *method = scree_method_info(m)->name;
    if (table->method && strcmp(table->method, method) != 0) continue;
    any = true;
    TRY(scale_method(core, table, method));
  }
  return any ? SCREE_OK : fail(core, SCREE_BAD_INPUT, "there is no method '%s'", table->method);
}
