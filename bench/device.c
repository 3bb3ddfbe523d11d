/* Fine grains, pbd and dem on a device: time of a frame in which all fine grains move, and of a step of a bed that
 * rests, by the device's clock, beside the CPU of the same machine; memory, the bus, and how long a scene takes to its
 * first frame. */
#include <math.h>
#include <string.h>

#include "bench/device.h"
#include "bench/scene.h"
#include "core/timer.h"
#include "scree/scene.h"
#include "world/world.h"

/* Room that a fine grain takes: on the host, where that has it too, or as long as it is placed; on the device. */
enum { FRAMES_MEASURED = 5, BYTES_PER_FINE_HOST = 110, BYTES_PER_FINE_PLACED = 30, BYTES_PER_FINE_DEVICE = 60 };
/* Beds of a method: the same of a grain, and how long one is left to settle and measured. A frame of dem has hundreds
 * of steps. */
typedef struct BedKind {
  const char *method;
  double host, there;     /* bytes of a grain */
  int64_t settles, lasts; /* frames */
  bool by_the_clock;      /* of the wall, which sees launches, waits and lists made by the host */
} BedKind;
/* Of more than these a frame is measured from the start on: it has hundreds of steps. */
#define MANY_GRAINS 2e7
static const BedKind BED_PBD = {"pbd", 400, 1400, 20, 5, false}, BED_DEM = {"dem", 400, 1000, 6, 2, true};

typedef struct DeviceTiming {
  int64_t grains, memory, up, down; /* memory: peak on the device; up, down: bytes of a frame */
  int64_t commands, waits;          /* of a frame */
  double device, wall;              /* s of a frame, the shortest of several */
} DeviceTiming;

void bench_device_times(const ScreeWorld *world, DeviceTimes times) {
  if (world->device) device_set_times(world->device, times);
}

double bench_device_seconds(const ScreeWorld *world) {
  double sum = 0;
  if (!world->device) return NAN;
  DeviceUse use = device_use(world->device);
  for (int32_t k = 0; k < use.phase_count; k++)
    if (strcmp(use.phases[k].name, "device copies") != 0) sum += use.phases[k].seconds;
  return sum;
}

/* Fine grains of the frames that follow; coarse grains fall on as `none` lets them. */
static Status measure_frames(ScreeWorld *world, int64_t frames, DeviceTiming *timing, ScreeError *error) {
  *timing = (DeviceTiming){.device = INFINITY, .wall = INFINITY};
  for (int64_t k = 0; k < frames; k++) {
    DeviceUse before = world->device ? device_use(world->device) : (DeviceUse){.memory = 0};
    double seconds = bench_device_seconds(world);
    ScreeStatus status = scree_world_frame(world, error);
    if (status != SCREE_OK) return status;
    timing->wall = fmin(timing->wall, world->seconds_upsample);
    if (!world->device) continue;
    DeviceUse after = device_use(world->device);
    timing->device = fmin(timing->device, bench_device_seconds(world) - seconds);
    timing->up = after.up - before.up, timing->down = after.down - before.down;
    timing->commands = after.commands - before.commands, timing->waits = after.waits - before.waits;
    timing->memory = after.memory_peak;
  }
  timing->grains = upsample_grains(world->upsample)->count;
  return SCREE_OK;
}

/* A block of sand in the air of which every grain falls. */
static Status block_timing(Core *core, const BenchTable *table, double wanted, int mode, const char *device,
                           DeviceTiming *timing) {
  BenchBlock block;
  bench_block_make(&block, table->quick ? 2000 : wanted, mode, (ScreeVec3){0.3, -0.2, 0.1});
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = table->threads;
  options.memory_limit = memory_left(&core->memory);
  options.device = device;
  ScreeWorld *world = NULL;
  ScreeError error;
  Status status = scree_world_create(&block.scene, &options, &world, &error);
  if (status == SCREE_OK) status = scree_world_frame(world, &error); /* sorts */
  if (status == SCREE_OK) bench_device_times(world, DEVICE_TIMES_ALL);
  if (status == SCREE_OK) status = measure_frames(world, bench_amount(table, FRAMES_MEASURED, 1), timing, &error);
  if (status != SCREE_OK) status = fail(core, status, "%s", error.message);
  scree_world_destroy(world);
  return status;
}

static Status block_row(Core *core, BenchTable *table, double count, const char *words, int mode, bool beside) {
  DeviceTiming ours, cpu = {.wall = NAN};
  const char *name = mode == SCREE_UPSAMPLE_PAPER ? "paper" : "better";
  BenchRow row = {.unit = "ms/frame"}, memory = {.unit = "B/grain"};
  snprintf(row.name, sizeof row.name, "fine grains, %s, %s", name, words);
  snprintf(memory.name, sizeof memory.name, "fine grains, memory, %s", words);
  if (!bench_wants(table, row.name) && !(mode == SCREE_UPSAMPLE_BETTER && bench_wants(table, memory.name)))
    return SCREE_OK;
  TRY(block_timing(core, table, count, mode, table->device, &ours));
  if (beside) TRY(block_timing(core, table, count, mode, "cpu", &cpu));
  row.ours = 1e3 * ours.device, row.reference = 1e3 * cpu.wall;
  snprintf(row.note, sizeof row.note, "%.4gM grains, device's clock; %.4g ms in all, %.4g kB up, %.4g down; ref.: CPU",
           1e-6 * (double)ours.grains, 1e3 * ours.wall, 1e-3 * (double)ours.up, 1e-3 * (double)ours.down);
  TRY(bench_row(core, table, row));
  if (mode != SCREE_UPSAMPLE_BETTER) return SCREE_OK;
  memory.ours = (double)ours.memory / (double)ours.grains;
  snprintf(memory.note, sizeof memory.note, "peak on the device, with the coarse grains");
  return bench_row(core, table, memory);
}

static Status block_rows(Core *core, BenchTable *table, const ScreeDeviceInfo *info) {
  static const struct {
    double count;
    const char *words;
    bool beside; /* the CPU too */
  } sizes[] = {{4.7e5, "470k", true}, {1e8, "100M", true}, {1e9, "1,000M", false}};
  for (int64_t k = 0; k < bench_amount(table, 3, 1); k++) {
    double host = (sizes[k].beside ? BYTES_PER_FINE_HOST : BYTES_PER_FINE_PLACED) * sizes[k].count,
           there = BYTES_PER_FINE_DEVICE * sizes[k].count;
    bool fits = host < (double)memory_left(&core->memory) && there < (double)info->memory_bytes &&
                4 * sizes[k].count < (double)info->buffer_bytes;
    if (!fits) {
      fprintf(stderr, "fine grains, %s: not measured, they want %.0f GB on the host and %.0f GB on the device\n",
              sizes[k].words, 1e-9 * host, 1e-9 * there);
      continue;
    }
    for (int mode = SCREE_UPSAMPLE_PAPER; mode >= SCREE_UPSAMPLE_BETTER; mode--)
      TRY(block_row(core, table, sizes[k].count, sizes[k].words, mode, sizes[k].beside));
  }
  return SCREE_OK;
}

/* What a kernel takes of a step. */
typedef struct KernelTime {
  const char *name;
  double seconds, launches;
} KernelTime;
enum { KERNEL_TIMES_MAX = 128 };

/* Steps of a bed. */
typedef struct BedTiming {
  DeviceTiming step;
  KernelTime kernels[KERNEL_TIMES_MAX]; /* the mean of all steps measured */
  int32_t kernel_count;
} BedTiming;

/* A bed in a box. */
static Status bed_create(Core *core, const BenchTable *table, const BedKind *kind, double wanted, const char *device,
                         ScreeWorld **world) {
  const double radius = 0.01;
  if (table->quick) wanted = 500;
  const double side = cbrt(wanted * 4.0 / 3 * M_PI * radius * radius * radius / 0.55);
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeGrainsDef grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){side, side, side}));
  grains.start = SCREE_START_DENSE;
  ScreeBoundaryDef tank =
      scree_boundary_default(scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){side, side, 2 * side}));
  tank.inside = true;
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "bed";
  scene.method = scree_method_default(kind->method);
  scene.method.radius = radius;
  scene.materials = &sand, scene.material_count = 1;
  scene.grains = &grains, scene.grains_count = 1;
  scene.boundaries = &tank, scene.boundary_count = 1;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = table->threads;
  options.memory_limit = memory_left(&core->memory);
  options.device = device;
  ScreeError error;
  Status status = scree_world_create(&scene, &options, world, &error);
  return status == SCREE_OK ? status : fail(core, status, "%s", error.message);
}

/* The mean of a step, of the times so far. */
static void take_kernels(const ScreeWorld *world, double steps, BedTiming *timing) {
  if (!world->device) return;
  const DeviceUse use = device_use(world->device);
  timing->kernel_count = use.kernel_count < KERNEL_TIMES_MAX ? use.kernel_count : KERNEL_TIMES_MAX;
  for (int32_t k = 0; k < timing->kernel_count; k++) {
    timing->kernels[k].name = use.kernels[k].name;
    timing->kernels[k].seconds = use.kernels[k].seconds / steps;
    timing->kernels[k].launches = (double)use.kernels[k].calls / steps;
  }
}

/* By the clock of the wall, or by the device's. */
static Status bed_frame(ScreeWorld *world, bool timed, DeviceTiming *timing, ScreeError *error) {
  const DeviceUse before = world->device ? device_use(world->device) : (DeviceUse){.memory = 0};
  const int64_t first = scree_world_step_index(world);
  const double seconds = bench_device_seconds(world), began = timer_now();
  TRY(scree_world_frame(world, error));
  const double steps = (double)(scree_world_step_index(world) - first);
  if (!timed) timing->wall = fmin(timing->wall, (timer_now() - began) / steps);
  if (!world->device) return SCREE_OK;
  const DeviceUse after = device_use(world->device);
  if (timed) timing->device = fmin(timing->device, (bench_device_seconds(world) - seconds) / steps);
  timing->commands = (int64_t)((double)(after.commands - before.commands) / steps);
  timing->waits = (int64_t)((double)(after.waits - before.waits) / steps + 0.5);
  timing->up = (int64_t)((double)(after.up - before.up) / steps);
  timing->down = (int64_t)((double)(after.down - before.down) / steps);
  timing->memory = after.memory_peak;
  return SCREE_OK;
}

/* Steps of the bed, once it has come to rest. */
static Status bed_timing(Core *core, const BenchTable *table, const BedKind *kind, double wanted, const char *device,
                         BedTiming *timing) {
  ScreeWorld *world = NULL;
  ScreeError error;
  TRY(bed_create(core, table, kind, wanted, device, &world));
  *timing = (BedTiming){.step = {.device = INFINITY, .wall = INFINITY}};
  Status status = SCREE_OK;
  const bool many = wanted > MANY_GRAINS;
  const int64_t lasts = bench_amount(table, many ? 1 : kind->lasts, 1);
  bench_device_times(world, DEVICE_TIMES_NONE);
  for (int64_t k = 0; k < bench_amount(table, many ? 0 : kind->settles, 1) && status == SCREE_OK; k++)
    status = scree_world_frame(world, &error);
  for (int64_t k = 0; k < lasts && status == SCREE_OK; k++) status = bed_frame(world, false, &timing->step, &error);
  bench_device_times(world, DEVICE_TIMES_ALL);
  const int64_t first = scree_world_step_index(world);
  for (int64_t k = 0; k < lasts && world->device && status == SCREE_OK; k++)
    status = bed_frame(world, true, &timing->step, &error);
  take_kernels(world, (double)(scree_world_step_index(world) - first), timing);
  if (status == SCREE_OK) timing->step.grains = world->state.particles.count;
  else status = fail(core, status, "%s", error.message);
  scree_world_destroy(world);
  return status;
}

static Status rate_row(Core *core, BenchTable *table, const DeviceTiming *ours, const char *words) {
  BenchRow row = {.ours = 1e-9 * (double)ours->grains / ours->wall, .unit = "1e9 grain-steps/s"};
  snprintf(row.name, sizeof row.name, "dem rate, %s", words);
  snprintf(row.note, sizeof row.note, "by the clock of the wall, lists included");
  return bench_row(core, table, row);
}

static Status bed_row(Core *core, BenchTable *table, const BedKind *kind, double count, const char *words, bool beside,
                      bool kernels) {
  BenchRow row = {.unit = "ms/step"};
  snprintf(row.name, sizeof row.name, "%s step, %s", kind->method, words);
  if (!bench_wants(table, row.name)) return SCREE_OK;
  BedTiming ours, cpu = {.step = {.wall = NAN}};
  TRY(bed_timing(core, table, kind, count, table->device, &ours));
  if (beside) TRY(bed_timing(core, table, kind, count, "cpu", &cpu));
  const DeviceTiming *step = &ours.step;
  row.ours = 1e3 * (kind->by_the_clock ? step->wall : step->device), row.reference = 1e3 * cpu.step.wall;
  snprintf(row.note, sizeof row.note,
           "%.4gM; kernels %.4g, all %.4g ms; %d commands, %d waits, %.3g kB; %.4g B/grain; ref.: CPU",
           1e-6 * (double)step->grains, 1e3 * step->device, 1e3 * step->wall, (int)step->commands, (int)step->waits,
           1e-3 * (double)(step->up + step->down), (double)step->memory / (double)step->grains);
  TRY(bench_row(core, table, row));
  if (kind == &BED_DEM && count > 1e5) TRY(rate_row(core, table, step, words));
  for (int32_t k = 0; kernels && k < ours.kernel_count; k++) {
    const KernelTime *kernel = &ours.kernels[k];
    if (!(kernel->launches > 0)) continue;
    row = (BenchRow){.ours = 1e6 * kernel->seconds, .unit = "us/step"};
    snprintf(row.name, sizeof row.name, "%s step, %s: %s", kind->method, words, kernel->name);
    snprintf(row.note, sizeof row.note, "%.3g launches", kernel->launches);
    TRY(bench_row(core, table, row));
  }
  return SCREE_OK;
}

static Status bed_rows(Core *core, BenchTable *table, const ScreeDeviceInfo *info, const BedKind *kind) {
  static const struct {
    double count;
    const char *words;
    bool beside, kernels; /* the CPU too; each kernel */
  } sizes[] = {
      {1e4, "10k", true, true}, {1e6, "1M", true, true}, {1e7, "10M", false, false}, {5e7, "50M", false, false}};
  for (int64_t k = 0; k < bench_amount(table, kind == &BED_DEM ? 4 : 3, 1); k++) {
    const double host = kind->host * sizes[k].count, there = kind->there * sizes[k].count;
    if (host > (double)memory_left(&core->memory) || there > (double)info->memory_bytes) {
      fprintf(stderr, "%s step, %s: not measured, it wants %.0f GB on the host and %.0f GB on the device\n",
              kind->method, sizes[k].words, 1e-9 * host, 1e-9 * there);
      continue;
    }
    TRY(bed_row(core, table, kind, sizes[k].count, sizes[k].words, sizes[k].beside, sizes[k].kernels));
  }
  return SCREE_OK;
}

static const char *const hourglass_names[] = {"hourglass, from the command to its first frame", "hourglass, a frame",
                                              "hourglass, kernels of a frame", "hourglass, bus a step"};

enum { HOURGLASS_ROWS = sizeof hourglass_names / sizeof *hourglass_names };

/* Sommer's hourglass as shipped. */
static Status hourglass_rows(Core *core, BenchTable *table) {
  const char *sets[] = {"method.radius=0.1", "upsample.radius=0.05"};
  ScreeScene *scene = NULL;
  ScreeWorld *world = NULL;
  ScreeError error;
  TRY(bench_scene_load(core, "sommer2022/hourglass", sets, (int32_t)bench_amount(table, 0, 2), &scene));
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = table->threads;
  options.device = table->device;
  double began = timer_now(), first = 0, frame = INFINITY;
  DeviceTiming fine = {.grains = 0};
  Status status = scree_world_create(scree_scene_definition(scene), &options, &world, &error);
  if (status == SCREE_OK) status = scree_world_frame(world, &error);
  first = timer_now() - began;
  if (status == SCREE_OK) bench_device_times(world, DEVICE_TIMES_NONE);
  for (int64_t k = 0; k < bench_amount(table, 30, 1) && status == SCREE_OK; k++) {
    began = timer_now();
    status = scree_world_frame(world, &error);
    frame = fmin(frame, timer_now() - began);
  }
  if (status == SCREE_OK) bench_device_times(world, DEVICE_TIMES_ALL);
  if (status == SCREE_OK) status = measure_frames(world, bench_amount(table, 10, 1), &fine, &error);
  if (status != SCREE_OK) status = fail(core, status, "%s", error.message);
  double steps =
      status == SCREE_OK ? (double)scree_world_step_index(world) / (double)scree_world_frame_index(world) : 1;
  scree_world_destroy(world);
  scree_scene_free(scene);
  TRY(status);
  BenchRow rows[] = {{.ours = first, .unit = "s"},
                     {.ours = 1e3 * frame, .unit = "ms/frame"},
                     {.ours = 1e3 * fine.device, .unit = "ms/frame"},
                     {.unit = "kB"}};
  rows[3].ours = 1e-3 * (double)(fine.up + fine.down) / steps;
  snprintf(rows[1].note, sizeof rows[1].note, "pbd and fine grains on the device");
  snprintf(rows[2].note, sizeof rows[2].note, "device's clock; %lld commands, %lld waits; fine grains %.4g ms in all",
           (long long)fine.commands, (long long)fine.waits, 1e3 * fine.wall);
  snprintf(rows[3].note, sizeof rows[3].note, "%.3g steps a frame", steps);
  for (int k = 0; k < HOURGLASS_ROWS; k++) {
    snprintf(rows[k].name, sizeof rows[k].name, "%s", hourglass_names[k]);
    TRY(bench_row(core, table, rows[k]));
  }
  return SCREE_OK;
}

Status bench_device(Core *core, BenchTable *table) {
  if (!table->counts) table->counts = "the shortest of several frames";
  ScreeDeviceInfo info;
  int32_t index = 0;
  TRY(device_find(core, table->device, &index));
  if (device_describe(index, &info) != SCREE_OK) return fail(core, SCREE_BAD_INPUT, "'%s' is no device", table->device);
  if (bench_wants_any(table, hourglass_names, HOURGLASS_ROWS)) TRY(hourglass_rows(core, table));
  TRY(bench_device_hourglass(core, table, &info));
  TRY(bed_rows(core, table, &info, &BED_PBD));
  TRY(bed_rows(core, table, &info, &BED_DEM));
  TRY(bench_device_sph(core, table, &info));
  return block_rows(core, table, &info);
}
