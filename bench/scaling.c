/* scree bench scaling: cost per particle and step over sizes and threads, for every method of this build, of a block
 * that falls and of a bed that lies; and the memory that a particle takes. Beside the gain of each stands that of a
 * loop that only computes, measured in the same minutes. All sizes are gone through several times, so that they are
 * compared over the same minutes of the machine; the shortest time counts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "scree/world.h"

enum { WARM_FRAMES = 3, TIMED_FRAMES = 6, ROUNDS = 3, SIZES = 3 };
enum { FALLING, LYING, CASES };

#define LATE_SECONDS 4.0
#define QUICK_PARTICLES 500

static const char *const case_names[CASES] = {"falling", "lying"};

typedef struct Measured {
  int64_t particles;
  double step_ns; /* per particle, best frame of all rounds */
  double bytes;   /* per particle, at the peak */
} Measured;

/* A block of about `count` grains that falls apart in a box: contacts, walls and rebuilds all take part. Or a bed of as
 * many, as dense as settled sand, with all the contacts that sand at rest has. */
static Status measure(Core *core, const BenchTable *table, const char *method, double count, int kind, int threads,
                      Measured *measured) {
  if (table->quick) count = QUICK_PARTICLES;
  double radius = 0.01, solid = kind == LYING ? 0.6 : 0.36;
  double volume = count * 4.0 / 3 * M_PI * radius * radius * radius / solid, side = cbrt(volume / 2);
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeGrainsDef grains = scree_grains_default(
      "sand", scree_shape_box((ScreeVec3){-side / 2, -side / 2, 0}, (ScreeVec3){side / 2, side / 2, 2 * side}));
  ScreeBoundaryDef box = scree_boundary_default(
      scree_shape_box((ScreeVec3){-side / 2, -side / 2, 0}, (ScreeVec3){side / 2, side / 2, 4 * side}));
  box.inside = true;
  if (kind == LYING) grains.start = SCREE_START_DENSE;
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
  int warm = (int)bench_amount(table, WARM_FRAMES, 0), timed = (int)bench_amount(table, TIMED_FRAMES, 1);
  for (int frame = 0; frame < warm + timed && status == SCREE_OK; frame++) {
    bool late = timer_now() - start > LATE_SECONDS;
    if (late && best < INFINITY) break;
    int64_t steps = scree_world_step_index(world);
    double began = timer_now();
    status = scree_world_frame(world, &error);
    double seconds = (timer_now() - began) / (double)(scree_world_step_index(world) - steps);
    if ((frame >= warm || late || timer_now() - start > LATE_SECONDS) && seconds < best) best = seconds;
  }
  ScreeStatistics statistics;
  scree_world_statistics(world, &statistics);
  measured->particles = statistics.coarse;
  measured->step_ns = fmin(measured->step_ns, best * 1e9 / (double)statistics.coarse);
  measured->bytes = (double)statistics.memory_peak_bytes / (double)statistics.coarse;
  scree_world_destroy(world);
  return status == SCREE_OK ? SCREE_OK : fail(core, status, "%s", error.message);
}

static Status add(Core *core, BenchTable *table, double ours, const char *unit, const char *note, const char *format,
                  const char *method, double count) {
  BenchRow row = {.ours = ours, .reference = NAN, .unit = unit};
  char size[24];
  snprintf(size, sizeof size, count >= 1e6 ? "%.0fM" : "%.0fk", count >= 1e6 ? count / 1e6 : count / 1e3);
  snprintf(row.name, sizeof row.name, format, method, size);
  snprintf(row.note, sizeof row.note, "%s", note);
  return bench_row(core, table, row);
}

/* Rows of one size and case. gain: of a loop that only computes. */
static Status size_rows(Core *core, BenchTable *table, const char *method, double size, int kind,
                        const Measured measured[2], double gain) {
  const Measured *one = &measured[0], *all = &measured[bench_thread_counts(table) - 1];
  char note[BENCH_NOTE_MAX], format[64];
  snprintf(note, sizeof note, "per particle and step, best frame; %lld particles", (long long)one->particles);
  snprintf(format, sizeof format, "%%s %%s %s, 1 thread", case_names[kind]);
  TRY(add(core, table, one->step_ns, "ns", note, format, method, size));
  if (all != one) {
    snprintf(format, sizeof format, "%%s %%s %s, %s", case_names[kind], bench_threads(table->threads).text);
    TRY(add(core, table, all->step_ns, "ns", note, format, method, size));
    snprintf(format, sizeof format, "%%s %%s %s, gain", case_names[kind]);
    snprintf(note, sizeof note, "1 thread over %d; %.2f of the %.2f of a loop that only computes", table->threads,
             one->step_ns / all->step_ns / gain, gain);
    TRY(add(core, table, one->step_ns / all->step_ns, "times", note, format, method, size));
  }
  snprintf(format, sizeof format, "%%s %%s %s, memory", case_names[kind]);
  return add(core, table, all->bytes, "bytes", "per particle, at the peak", format, method, size);
}

enum { COMPUTE_CHUNKS = 4096, COMPUTE_TERMS = 20000 };

static double compute_chunk(void *context, int64_t b, int64_t e) {
  (void)context;
  double sum = 0;
  for (int64_t k = b; k < e; k++)
    for (int n = 1; n <= COMPUTE_TERMS; n++) sum += 1 / ((double)n * (double)(n + k));
  return sum;
}

/* What threads gain where nothing but arithmetic is to be done. */
static Status compute_gain(const BenchTable *table, double *gain) {
  double seconds[2] = {INFINITY, INFINITY}, sum = 0;
  for (int round = 0; round < ROUNDS; round++)
    for (int t = 0; t < bench_thread_counts(table); t++) {
      ScreeWorldOptions options = {.threads = t ? table->threads : 1};
      Core core;
      TRY(core_create(&core, &options));
      double began = timer_now();
      sum += parallel_sum(&core, 0, bench_amount(table, COMPUTE_CHUNKS, 64), 1, compute_chunk, NULL);
      seconds[t] = fmin(seconds[t], timer_now() - began);
      core_destroy(&core);
    }
  *gain = isfinite(sum) && isfinite(seconds[1]) ? seconds[0] / seconds[1] : 1;
  return SCREE_OK;
}

static Status scale_method(Core *core, BenchTable *table, const char *method, double gain) {
  static const double sizes[SIZES] = {1e4, 1e5, 1e6};
  int count = (int)bench_amount(table, SIZES, 1), last = bench_thread_counts(table) - 1;
  Measured measured[CASES][SIZES][2];
  for (int n = 0; n < CASES * SIZES * 2; n++)
    measured[n / (SIZES * 2)][n / 2 % SIZES][n % 2] = (Measured){.step_ns = INFINITY};
  for (int64_t round = 0; round < bench_amount(table, ROUNDS, 1); round++)
    for (int kind = 0; kind < CASES; kind++)
      for (int k = 0; k < count; k++)
        for (int t = 0; t <= last; t++)
          TRY(measure(core, table, method, sizes[k], kind, t ? table->threads : 1, &measured[kind][k][t]));
  for (int kind = 0; kind < CASES; kind++) {
    double slowest = 0, fastest = INFINITY;
    char note[64], format[48];
    for (int k = 0; k < count; k++) {
      TRY(size_rows(core, table, method, sizes[k], kind, measured[kind][k], gain));
      slowest = fmax(slowest, measured[kind][k][last].step_ns);
      fastest = fmin(fastest, measured[kind][k][last].step_ns);
    }
    snprintf(note, sizeof note, "%s, slowest over fastest", bench_threads(last ? table->threads : 1).text);
    snprintf(format, sizeof format, "%%s %s, from 10k to %%s", case_names[kind]);
    TRY(add(core, table, slowest / fastest, "times", note, format, method, sizes[count - 1]));
  }
  return SCREE_OK;
}

Status bench_scaling(Core *core, BenchTable *table) {
  bool any = false;
  double gain = 1;
  table->counts = "the shortest frame of three rounds";
  TRY(compute_gain(table, &gain));
  for (int32_t m = 0; m < scree_method_count(); m++) {
    const char *method = scree_method_info(m)->name;
    if (table->method && strcmp(table->method, method) != 0) continue;
    any = true;
    TRY(scale_method(core, table, method, gain));
  }
  return any ? SCREE_OK : fail(core, SCREE_BAD_INPUT, "there is no method '%s'", table->method);
}
