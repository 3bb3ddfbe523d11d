/* Exchange of grains and columns: a settled bed of 200,000 grains with a small blade in it, all of grains, and as
 * terrain that gives grains back only round the blade. Same grains, step and motion; the time of a step counts. */
#include <math.h>

#include "bench/bench.h"
#include "core/timer.h"
#include "world/world.h"

#define RADIUS 0.005
#define SIDE 1.0
#define GRAINS 200000
#define QUICK_GRAINS 8000 /* as wide, one grain deep */
#define TIME_STEP 6e-5
#define MOTION 0.5 /* s, of the blade */

enum { BATCHES = 3, BATCH = 20 };

typedef struct Bed {
  ScreeMaterialDef sand;
  ScreeGrainsDef grains;
  ScreeTerrainDef terrain;
  ScreeBoundaryDef tray;
  ScreeBodyDef blade;
  ScreeKeyDef keys[3];
  ScreeSceneDef scene;
} Bed;

static void make_bed(const BenchTable *table, Bed *bed, bool exchange) {
  double depth = (double)bench_amount(table, GRAINS, QUICK_GRAINS) * 4.0 / 3 * M_PI * RADIUS * RADIUS * RADIUS / 0.6 /
                 (SIDE * SIDE);
  bed->sand = scree_material_default("sand");
  bed->sand.young = 5e6;
  bed->sand.friction_static = bed->sand.friction_kinetic = 0.5;
  bed->grains = scree_grains_default("sand", scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){SIDE, SIDE, depth}));
  bed->grains.start = SCREE_START_DENSE;
  bed->terrain = scree_terrain_default("sand");
  bed->terrain.size = (ScreeVec2){SIDE, SIDE};
  bed->terrain.cell = 4 * RADIUS;
  bed->terrain.height = depth;
  bed->tray = scree_boundary_default(scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){SIDE, SIDE, 2}));
  bed->tray.inside = true;
  bed->blade = scree_body_default("blade", scree_shape_box((ScreeVec3){-0.01, -0.05, 0}, (ScreeVec3){0.01, 0.05, 0.2}));
  bed->blade.motion = SCREE_MOTION_KEYFRAMES;
  static const double times[3] = {0, 0.1, MOTION};
  const ScreeVec3 places[3] = {{0.4, 0.5, depth}, {0.4, 0.5, depth - 0.05}, {0.64, 0.5, depth - 0.05}};
  for (int k = 0; k < 3; k++) {
    bed->keys[k] = scree_key_default();
    bed->keys[k].t = times[k];
    bed->keys[k].position = places[k];
  }
  bed->blade.keys = bed->keys;
  bed->blade.key_count = 3;
  bed->scene = scree_scene_default();
  bed->scene.name = "exchange";
  bed->scene.frame_rate = 1 / (BATCH * TIME_STEP);
  bed->scene.method = scree_method_default("dem");
  bed->scene.method.radius = RADIUS;
  bed->scene.method.time_step = TIME_STEP;
  bed->scene.materials = &bed->sand;
  bed->scene.material_count = 1;
  bed->scene.boundaries = &bed->tray;
  bed->scene.boundary_count = 1;
  bed->scene.bodies = &bed->blade;
  bed->scene.body_count = 1;
  if (exchange) bed->scene.terrain = &bed->terrain;
  bed->scene.grains = &bed->grains;
  bed->scene.grains_count = exchange ? 0 : 1;
}

static Status frames(Core *core, ScreeWorld *world, int count) {
  ScreeError error;
  for (int k = 0; k < count; k++) {
    Status status = scree_world_frame(world, &error);
    if (status != SCREE_OK) return fail(core, status, "%s", error.message);
  }
  return SCREE_OK;
}

/* All of grains: every step costs the same, the quickest batch counts. */
static Status time_grains(Core *core, const BenchTable *table, ScreeWorld *world, double *ms) {
  TRY(frames(core, world, 1));
  for (int64_t k = 0; k < bench_amount(table, BATCHES, 1); k++) {
    int64_t steps = world->state.step;
    double began = timer_processor();
    TRY(frames(core, world, 1));
    double each = 1e3 * (timer_processor() - began) / (double)(world->state.step - steps);
    if (k == 0 || each < *ms) *ms = each;
  }
  return SCREE_OK;
}

/* With exchange the cost grows with what the blade has disturbed: the whole motion counts. */
static Status time_exchange(Core *core, const BenchTable *table, ScreeWorld *world, double *ms) {
  double began = timer_processor();
  TRY(frames(core, world, (int)bench_amount(table, (int64_t)(MOTION / (BATCH * TIME_STEP)), 3)));
  *ms = 1e3 * (timer_processor() - began) / (double)world->state.step;
  return SCREE_OK;
}

Status bench_exchange(Core *core, BenchTable *table) {
  double ms[2] = {0, 0}, grains = 0, disturbed = 0;
  if (!table->counts)
    table->counts = "the quickest of three frames of grains, the mean of the whole motion with exchange";
  for (int exchange = 0; exchange < 2; exchange++) {
    Bed bed;
    make_bed(table, &bed, exchange);
    ScreeWorldOptions options = scree_world_options_default();
    options.threads = table->threads;
    options.baseline_simd = core->baseline_simd;
    ScreeWorld *world = NULL;
    ScreeError error;
    Status status = scree_world_create(&bed.scene, &options, &world, &error);
    if (status != SCREE_OK) return fail(core, status, "%s", error.message);
    if (!exchange) grains = (double)world->state.particles.count;
    status = exchange ? time_exchange(core, table, world, &ms[1]) : time_grains(core, table, world, &ms[0]);
    if (exchange) disturbed = (double)world->state.terrain->exhumed / GRAINS;
    scree_world_destroy(world);
    TRY(status);
  }
  BenchRow row = {
      .name = "exchange, bed of 200,000 grains, small blade", .ours = ms[1], .reference = ms[0], .unit = "ms/step"};
  snprintf(row.note, sizeof row.note,
           "%.1f %% of it disturbed; reference: %.0f grains without exchange; processor time", 100 * disturbed, grains);
  TRY(bench_row(core, table, row));
  bench_figure(table, "exchange_speedup", ms[0] / ms[1]);
  return SCREE_OK;
}
