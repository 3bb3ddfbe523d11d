/* The sizes of Neder 2023: 8,192 coarse parcels and 70 fine grains for each, for which the finished system behind the
 * paper needed just under 16 ms a frame on a GPU. Settled, flowing, and what a step costs per parcel at other sizes. */
#include <math.h>

#include "bench/neder.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "methods/sph/sph.h"

#define FINE_RADIUS 0.0043
enum { SETTLE_FRAMES = 90, MEASURED_FRAMES = 20, FLOW_FRAMES = 24 };

static ScreeShapeDef cylinder(double radius, double height) {
  return (ScreeShapeDef){.kind = SCREE_SHAPE_CYLINDER,
                         .cylinder = {.radius = radius, .height = height},
                         .rotation = {1, 0, 0, 0},
                         .scale = 1};
}

NederSand neder_heap(const BenchTable *table) {
  return (NederSand){.radius = table->quick ? 0.2 : 0.65, .height = table->quick ? 0.2 : 0.4, .fine = true};
}

NederSand neder_box(double half) { return (NederSand){.box = true, .radius = half, .height = 20 * 2 * NEDER_RADIUS}; }

Status neder_world(Core *core, const NederSand *wanted, ScreeWorld **world) {
  ScreeMaterialDef sand = scree_material_default("sand");
  sand.friction_angle_deg = 26.57; /* the paper's internal angle of 30: shear is bounded by its sine */
  double half = wanted->radius;
  ScreeShapeDef fill = wanted->box
                           ? scree_shape_box((ScreeVec3){-half, -half, 0}, (ScreeVec3){half, half, wanted->height})
                           : cylinder(wanted->radius, wanted->height);
  ScreeGrainsDef grains = scree_grains_default("sand", fill);
  ScreeBoundaryDef walls[2] = {scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1})),
                               scree_boundary_default(fill)};
  walls[0].friction_static = walls[0].friction_kinetic = 2;
  if (wanted->box) {
    walls[1].inside = true;
    walls[1].shape.box.max.z *= 2;
  }
  ScreeUpsampleDef fine = scree_upsample_default(FINE_RADIUS);
  ScreeSceneDef scene = scree_scene_default();
  scene.method = scree_method_default("sph");
  scene.method.radius = NEDER_RADIUS;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.grains = &grains;
  scene.grains_count = 1;
  scene.boundaries = wanted->box ? &walls[1] : walls;
  scene.boundary_count = 1;
  if (wanted->fine) scene.upsample = &fine;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = wanted->threads > 0 ? wanted->threads : pool_threads(core->pool);
  options.device = wanted->device;
  options.baseline_simd = core->baseline_simd;
  ScreeError error;
  if (scree_world_create(&scene, &options, world, &error) != SCREE_OK)
    return fail(core, error.status, "%s", error.message);
  return SCREE_OK;
}

Status neder_frames(Core *core, ScreeWorld *world, int count, double *quickest) {
  ScreeError error;
  for (int k = 0; k < count; k++) {
    double began = timer_now();
    if (scree_world_frame(world, &error) != SCREE_OK) return fail(core, error.status, "%s", error.message);
    double seconds = timer_now() - began;
    if (quickest && !(*quickest < seconds)) *quickest = seconds;
  }
  return SCREE_OK;
}

/* Phases of the frames since `before`, as a note. */
static void composition(const ScreeWorld *world, const Profile *before, int64_t steps, int count, char *note,
                        size_t size) {
  static const char *const names[] = {"neighbors", "pairs", "walls", "forces", "pressure", "upsample"};
  size_t used = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    double seconds = profile_seconds(&world->profile, names[k]) - profile_seconds(before, names[k]);
    int wrote = snprintf(note + used, size - used, "%s%s %.1f", k ? ", " : "", names[k], 1e3 * seconds / count);
    if (wrote < 0 || (size_t)wrote >= size - used) return;
    used += (size_t)wrote;
  }
  snprintf(note + used, size - used, " ms; %.1f steps", (double)steps / count);
}

static Status heap(Core *core, BenchTable *table, ScreeWorld *world) {
  const SphStatistics *statistics = sph_statistics(world->method_data);
  BenchRow flow = {.name = "a frame, flowing", .reference = NEDER_MS, .unit = "ms"};
  BenchRow visits = {.name = "pair visits while flowing", .unit = "1e9/s"};
  BenchRow passes = {.name = "iterations of a step, flowing", .unit = ""};
  BenchRow rest = {.name = "a frame, settled", .reference = NEDER_MS, .unit = "ms"};
  BenchRow compression = {.name = "mean compression, settled", .unit = ""};
  double seconds = INFINITY;
  int flowing = (int)bench_amount(table, FLOW_FRAMES, 1), measured = (int)bench_amount(table, MEASURED_FRAMES, 1);
  TRY(neder_frames(core, world, (int)bench_amount(table, 6, 0), NULL));
  Profile before = world->profile;
  SphStatistics then = *statistics;
  double began = timer_now();
  TRY(neder_frames(core, world, flowing, NULL));
  double pressed = profile_seconds(&world->profile, "pressure") - profile_seconds(&before, "pressure");
  flow.ours = 1e3 * (timer_now() - began) / flowing;
  composition(world, &before, statistics->steps - then.steps, flowing, flow.note, sizeof flow.note);
  visits.ours = 1e-9 * (double)(statistics->visits - then.visits) / pressed;
  passes.ours = (double)(statistics->all_iterations - then.all_iterations) / (double)(statistics->steps - then.steps);
  snprintf(visits.note, sizeof visits.note, "in the pressure loop, %lld pairs, padding included",
           (long long)statistics->pairs);
  TRY(neder_frames(core, world, (int)bench_amount(table, SETTLE_FRAMES, 1), NULL));
  before = world->profile;
  then = *statistics;
  TRY(neder_frames(core, world, measured, &seconds));
  rest.ours = 1e3 * seconds;
  compression.ours = statistics->compression_before;
  composition(world, &before, statistics->steps - then.steps, measured, rest.note, sizeof rest.note);
  snprintf(compression.note, sizeof compression.note, "%lld coarse, %lld fine grains",
           (long long)world->state.particles.count,
           world->upsample ? (long long)upsample_grains(world->upsample)->count : 0);
  TRY(bench_row(core, table, rest));
  TRY(bench_row(core, table, compression));
  TRY(bench_row(core, table, flow));
  TRY(bench_row(core, table, passes));
  return bench_row(core, table, visits);
}

/* A step's cost at rest in a box, per parcel: the same depth, more and more of it. */
static Status size_row(Core *core, BenchTable *table, double half, double *first) {
  const NederSand sand = neder_box(half);
  ScreeWorld *world = NULL;
  Status status = neder_world(core, &sand, &world);
  if (status != SCREE_OK) return status;
  const SphStatistics *statistics = sph_statistics(world->method_data);
  double best = INFINITY;
  for (int64_t k = 0; k < bench_amount(table, 4, 1) && status == SCREE_OK; k++) {
    double pressed = profile_seconds(&world->profile, "pressure");
    int64_t passes = statistics->all_iterations;
    status = neder_frames(core, world, 1, NULL);
    pressed = profile_seconds(&world->profile, "pressure") - pressed;
    best = fmin(best, pressed / (double)(statistics->all_iterations - passes) / (double)world->state.particles.count);
  }
  if (*first == 0) *first = 1e9 * best;
  BenchRow row = {.ours = 1e9 * best, .reference = *first, .unit = "ns"};
  snprintf(row.name, sizeof row.name, "an iteration per parcel, %lldk",
           (long long)(world->state.particles.count / 1000));
  snprintf(row.note, sizeof row.note, "reference: the smallest");
  scree_world_destroy(world);
  return status == SCREE_OK ? bench_row(core, table, row) : status;
}

Status bench_neder(Core *core, BenchTable *table) {
  table->counts = "the mean while sand flows, the shortest frame when it has settled";
  const NederSand sand = neder_heap(table);
  ScreeWorld *world = NULL;
  TRY(neder_world(core, &sand, &world));
  Status status = heap(core, table, world);
  scree_world_destroy(world);
  double first = 0;
  static const double halves[] = {0.4, 0.8, 1.6, 3.2}; /* 8, 32, 128, 512 thousand */
  for (int64_t k = 0; k < bench_amount(table, 4, 1) && status == SCREE_OK; k++)
    status = size_row(core, table, halves[k], &first);
  return status;
}
