/* Figures 1 and 5 of Holz 2014: time and slope against a Gauss-Seidel solver of the same contacts. */
#include <math.h>

#include "bench/bench.h"
#include "core/timer.h"
#include "bench/slope.h"

enum { POUR_UNTIL = 5, POUR_SECONDS = 6, POUR_REPEATS = 3 };

typedef struct Pour {
  const char *name;
  int threads;
  bool sequential, averaging, memory;
  double seconds; /* of a step, in the quickest frame after the pouring */
  double solve;   /* of that, the iterations */
  int64_t grains;
} Pour;

static Status fail_like(Core *core, const ScreeError *error) { return fail(core, error->status, "%s", error->message); }

/* Fig. 3, II, as in scenes/holz2014/repose_2.yaml. */
static Status pour(Core *core, const BenchTable *table, Pour *p) {
  const double until = table->quick ? 0.05 : POUR_UNTIL, end = table->quick ? 0.1 : POUR_SECONDS;
  ScreeMaterialDef sand = scree_material_default("sand");
  sand.friction_static = sand.friction_kinetic = 0.577;
  ScreeEmitterDef emitter = scree_emitter_default("sand");
  emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 0.6}, .radius = 0.06, .direction = {0, 0, -1}};
  emitter.rate = 4.47;
  emitter.speed = 1;
  emitter.until = until;
  ScreeBoundaryDef floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  ScreeSceneDef scene = scree_scene_default();
  scene.method = scree_method_default("p2");
  scene.method.radius = 0.01;
  scene.method.p2.iterations = 10;
  scene.method.p2.averaging = p->averaging;
  scene.method.p2.memory = p->memory;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.emitters = &emitter;
  scene.emitter_count = 1;
  scene.boundaries = &floor;
  scene.boundary_count = 1;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = p->threads;
  options.baseline_simd = core->baseline_simd;
  ScreeWorld *world = NULL;
  ScreeError error;
  if (scree_world_create(&scene, &options, &world, &error) != SCREE_OK) return fail_like(core, &error);
  Method twin = gauss_seidel_method();
  if (p->sequential) world->method = &twin;
  ScreeStatus status = SCREE_OK;
  while (status == SCREE_OK && scree_world_time(world) < end - 1e-9) {
    bool counts = scree_world_time(world) > until;
    double began = timer_now(), solved = profile_seconds(&world->profile, "solve");
    int64_t step = scree_world_step_index(world);
    status = scree_world_frame(world, &error);
    double steps = (double)(scree_world_step_index(world) - step), seconds = (timer_now() - began) / steps;
    if (!counts || (p->seconds > 0 && seconds >= p->seconds)) continue;
    p->seconds = seconds;
    p->solve = (profile_seconds(&world->profile, "solve") - solved) / steps;
  }
  p->grains = scree_world_particles(world).count;
  scree_world_destroy(world);
  if (status != SCREE_OK) return fail_like(core, &error);
  return SCREE_OK;
}

static double pour_ms(const Pour *p) { return 1e3 * p->seconds; }

static Status figure_1(Core *core, BenchTable *table) {
  Pour pours[] = {{.name = "Gauss-Seidel", .threads = 1, .sequential = true},
                  {.name = "averaging", .threads = 1, .averaging = true},
                  {.name = "averaging", .threads = table->threads, .averaging = true},
                  {.name = "splitting", .threads = 1},
                  {.name = "splitting", .threads = table->threads},
                  {.name = "splitting with memory", .threads = 1, .memory = true},
                  {.name = "splitting with memory", .threads = table->threads, .memory = true}};
  enum { POURS = sizeof pours / sizeof *pours };
  for (int64_t n = 0; n < bench_amount(table, POUR_REPEATS, 1); n++)
    for (int k = 0; k < POURS; k++) TRY(pour(core, table, &pours[k]));
  for (int k = 0; k < POURS; k++) {
    const Pour *p = &pours[k];
    BenchRow row = {.ours = pour_ms(p), .reference = pour_ms(&pours[0]), .unit = "ms/step"};
    snprintf(row.name, sizeof row.name, "fig. 1, %s, %s", p->name, bench_threads(p->threads).text);
    snprintf(row.note, sizeof row.note, "%lld grains, poured, 10 iterations, quickest frame; iterations alone %.3f ms",
             (long long)p->grains, 1e3 * p->solve);
    TRY(bench_row(core, table, row));
  }
  return SCREE_OK;
}

static Status slope(Core *core, const BenchTable *table, SlopeCase c, SlopeResult *mean) {
  const int seeds = (int)bench_amount(table, 3, 1);
  *mean = (SlopeResult){0};
  for (int seed = 1; seed <= seeds; seed++) {
    SlopeResult result = {0};
    ScreeError error;
    c.seed = seed;
    if (slope_run(&c, table->quick ? 0.02 : 2, &result, &error) != SCREE_OK) return fail_like(core, &error);
    mean->angle += result.angle / seeds;
    mean->load += result.load / seeds;
    mean->depth += result.depth / seeds;
  }
  return SCREE_OK;
}

static Status figure_5(Core *core, BenchTable *table) {
  static const struct {
    const char *name;
    SlopeCase c;
  } cases[] = {
      {"Gauss-Seidel, 40 iterations", {.sequential = true, .iterations = 40}},
      {"Gauss-Seidel, 10 iterations", {.sequential = true, .iterations = 10}},
      {"averaging, 10 iterations", {.averaging = true, .iterations = 10}},
      {"averaging, 10 iterations, eps 0.5", {.averaging = true, .iterations = 10, .error_reduction = 0.5}},
      {"averaging, 10 iterations, eps 0.5 by the ground",
       {.averaging = true, .iterations = 10, .error_reduction = 0.5, .ground = true}},
      {"splitting, 10 iterations", {.iterations = 10}},
      {"splitting, 10 iterations, eps 0.5", {.iterations = 10, .error_reduction = 0.5}},
      {"splitting, 10 iterations, eps 0.5 by the ground", {.iterations = 10, .error_reduction = 0.5, .ground = true}},
      {"splitting with memory, 10 iterations", {.iterations = 10, .memory = true}},
  };
  double reference = 0;
  int64_t count = bench_amount(table, sizeof cases / sizeof *cases, 1);
  for (int64_t k = 0; k < count; k++) {
    SlopeResult mean;
    TRY(slope(core, table, cases[k].c, &mean));
    if (k == 0) reference = mean.angle;
    BenchRow row = {.ours = mean.angle, .reference = reference, .unit = "deg"};
    snprintf(row.name, sizeof row.name, "fig. 5, %s", cases[k].name);
    snprintf(row.note, sizeof row.note, "slope after 2 s, mean of 3; load/weight %.3f, overlap %.3f r", mean.load,
             mean.depth);
    TRY(bench_row(core, table, row));
  }
  return SCREE_OK;
}

Status bench_holz(Core *core, BenchTable *table) {
  table->counts = "the shortest frame of three runs (fig. 1), the mean of three seeds (fig. 5)";
  TRY(figure_1(core, table));
  return figure_5(core, table);
}
