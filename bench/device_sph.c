/* sph on a device: the frame that Neder 2023 gives a time for, and what an iteration costs per parcel, by the device's
 * clock, beside the CPU of the same machine. */
#include <math.h>
#include <string.h>

#include "bench/device.h"
#include "bench/neder.h"
#include "core/timer.h"
#include "methods/sph/sph.h"

enum { FALLING_FRAMES = 6, FLOW_FRAMES = 24, SETTLE_FRAMES = 60, REST_FRAMES = 4 };
/* Of a parcel: lists, slots and rows. */
enum { BYTES_PER_PARCEL_HOST = 700, BYTES_PER_PARCEL_DEVICE = 1500 };

/* Means of frames, in s. */
typedef struct SandTiming {
  double flowing, settled, device; /* device: of a flowing frame, by its clock */
  double steps, iterations, bus;   /* of a flowing frame; iterations of a step; bytes of a step */
  double commands, waits;          /* of a step */
  char phases[84];                 /* of a flowing frame, on the host */
} SandTiming;

/* What the host's clock says of the phases since `before`, a frame. */
static void phases_of(const ScreeWorld *world, const Profile *before, int frames, SandTiming *timing) {
  static const char *const names[] = {"neighbors", "pairs", "walls", "pressure", "method", "upsample"};
  size_t used = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const double seconds = profile_seconds(&world->profile, names[k]) - profile_seconds(before, names[k]);
    const int wrote = snprintf(timing->phases + used, sizeof timing->phases - used, "%s%s %.2g", k ? ", " : "",
                               names[k], 1e3 * seconds / frames);
    if (wrote < 0 || (size_t)wrote >= sizeof timing->phases - used) return;
    used += (size_t)wrote;
  }
}

static int64_t bytes_on_bus(const DeviceUse *use) { return use->up + use->down; }

static Status heap_timing(Core *core, const BenchTable *table, const char *device, SandTiming *timing) {
  NederSand sand = neder_heap(table);
  sand.device = device;
  sand.threads = table->threads;
  ScreeWorld *world = NULL;
  TRY(neder_world(core, &sand, &world));
  const SphStatistics *statistics = sph_statistics(world->method_data);
  const int flowing = (int)bench_amount(table, FLOW_FRAMES, 1);
  Status status = neder_frames(core, world, (int)bench_amount(table, FALLING_FRAMES, 1), NULL);
  const SphStatistics then = *statistics;
  const Profile profile = world->profile;
  const DeviceUse before = world->device ? device_use(world->device) : (DeviceUse){.memory = 0};
  bench_device_times(world, DEVICE_TIMES_NONE);
  const double began = timer_now();
  if (status == SCREE_OK) status = neder_frames(core, world, flowing, NULL);
  const double seconds = timer_now() - began;
  bench_device_times(world, DEVICE_TIMES_ALL);
  if (status == SCREE_OK && world->device) status = neder_frames(core, world, 1, NULL);
  const double steps = (double)(statistics->steps - then.steps);
  *timing = (SandTiming){.flowing = seconds / flowing,
                         .device = bench_device_seconds(world),
                         .steps = steps / flowing,
                         .iterations = (double)(statistics->all_iterations - then.all_iterations) / steps};
  phases_of(world, &profile, flowing, timing);
  if (world->device) {
    const DeviceUse after = device_use(world->device);
    timing->bus = (double)(bytes_on_bus(&after) - bytes_on_bus(&before)) / steps;
    timing->commands = (double)(after.commands - before.commands) / steps;
    timing->waits = (double)(after.waits - before.waits) / steps;
  }
  timing->settled = INFINITY;
  if (status == SCREE_OK) status = neder_frames(core, world, (int)bench_amount(table, SETTLE_FRAMES, 1), NULL);
  if (status == SCREE_OK)
    status = neder_frames(core, world, (int)bench_amount(table, FALLING_FRAMES, 1), &timing->settled);
  scree_world_destroy(world);
  return status;
}

static const char *const heap_names[] = {"sph, Neder's frame, flowing", "sph, Neder's frame, settled",
                                         "sph, Neder's frame, kernels while flowing", "sph, Neder's frame, bus a step"};
enum { HEAP_ROWS = sizeof heap_names / sizeof *heap_names };

static Status heap_rows(Core *core, BenchTable *table) {
  SandTiming ours, cpu;
  if (!bench_wants_any(table, heap_names, HEAP_ROWS)) return SCREE_OK;
  TRY(heap_timing(core, table, table->device, &ours));
  TRY(heap_timing(core, table, "cpu", &cpu));
  BenchRow rows[] = {{.ours = 1e3 * ours.flowing, .reference = 1e3 * cpu.flowing, .unit = "ms"},
                     {.ours = 1e3 * ours.settled, .reference = 1e3 * cpu.settled, .unit = "ms"},
                     {.ours = 1e3 * ours.device, .unit = "ms"},
                     {.ours = 1e-3 * ours.bus, .unit = "kB"}};
  snprintf(rows[0].note, sizeof rows[0].note, "%.3g steps of %.3g iterations; %g ms on its author's GPU; ref.: CPU",
           ours.steps, ours.iterations, NEDER_MS);
  snprintf(rows[2].note, sizeof rows[2].note, "device's clock; the host's: %s ms", ours.phases);
  snprintf(rows[3].note, sizeof rows[3].note, "%.3g commands, %.2g waits", ours.commands, ours.waits);
  for (int k = 0; k < HEAP_ROWS; k++) {
    snprintf(rows[k].name, sizeof rows[k].name, "%s", heap_names[k]);
    TRY(bench_row(core, table, rows[k]));
  }
  return SCREE_OK;
}

/* Of the search for pressure and friction, in s: on the device by its clock. */
static double solve_seconds(const ScreeWorld *world) {
  if (!world->device) return profile_seconds(&world->profile, "pressure");
  const DeviceUse use = device_use(world->device);
  for (int32_t k = 0; k < use.phase_count; k++)
    if (strcmp(use.phases[k].name, "device pressure") == 0) return use.phases[k].seconds;
  return 0;
}

/* A parcel's share of an iteration at rest; whole: that of a frame. */
static Status box_timing(Core *core, const BenchTable *table, double half, const char *device, double *share,
                         double *whole, int64_t *parcels, int64_t *memory) {
  NederSand sand = neder_box(half);
  sand.device = device;
  sand.threads = table->threads;
  ScreeWorld *world = NULL;
  TRY(neder_world(core, &sand, &world));
  const SphStatistics *statistics = sph_statistics(world->method_data);
  Status status = SCREE_OK;
  bench_device_times(world, DEVICE_TIMES_ALL);
  *share = *whole = INFINITY;
  *parcels = world->state.particles.count;
  for (int64_t k = 0; k < bench_amount(table, REST_FRAMES, 1) && status == SCREE_OK; k++) {
    const double solved = solve_seconds(world), began = timer_now();
    const int64_t passes = statistics->all_iterations;
    status = neder_frames(core, world, 1, NULL);
    const double many = (double)(statistics->all_iterations - passes) * (double)*parcels;
    *share = fmin(*share, (solve_seconds(world) - solved) / many);
    *whole = fmin(*whole, timer_now() - began);
  }
  *memory = world->device ? device_use(world->device).memory_peak : 0;
  scree_world_destroy(world);
  return status;
}

static Status box_row(Core *core, BenchTable *table, double half, const char *words, bool beside) {
  double ours, whole, cpu = NAN, cpu_whole = NAN;
  int64_t parcels = 0, memory = 0, none = 0;
  BenchRow row = {.unit = "ns"};
  snprintf(row.name, sizeof row.name, "sph, an iteration a parcel, %s", words);
  if (!bench_wants(table, row.name)) return SCREE_OK;
  TRY(box_timing(core, table, half, table->device, &ours, &whole, &parcels, &memory));
  if (beside) TRY(box_timing(core, table, half, "cpu", &cpu, &cpu_whole, &parcels, &none));
  row.ours = 1e9 * ours, row.reference = 1e9 * cpu;
  snprintf(row.note, sizeof row.note,
           "%.4gM parcels, device's clock; a frame %.4g ms, CPU %.4g; %.4g B/parcel; ref.: CPU", 1e-6 * (double)parcels,
           1e3 * whole, 1e3 * cpu_whole, (double)memory / (double)parcels);
  return bench_row(core, table, row);
}

Status bench_device_sph(Core *core, BenchTable *table, const ScreeDeviceInfo *info) {
  static const struct {
    double half;
    const char *words;
    bool beside; /* the CPU too */
  } sizes[] = {{1.6, "128k", true}, {4.6, "1M", true}, {13, "8M", false}, {32.2, "49M", false}};
  TRY(heap_rows(core, table));
  for (int64_t k = 0; k < bench_amount(table, 4, 1); k++) {
    const double half = table->quick ? 0.2 : sizes[k].half, side = half / NEDER_RADIUS, parcels = 20 * side * side,
                 host = BYTES_PER_PARCEL_HOST * parcels, there = BYTES_PER_PARCEL_DEVICE * parcels;
    if (host > (double)memory_left(&core->memory) || there > (double)info->memory_bytes) {
      fprintf(stderr, "sph, %s parcels: not measured, they want %.0f GB on the host and %.0f GB on the device\n",
              sizes[k].words, 1e-9 * host, 1e-9 * there);
      continue;
    }
    TRY(box_row(core, table, half, sizes[k].words, sizes[k].beside));
  }
  return SCREE_OK;
}
