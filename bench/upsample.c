/* Fine grains: time of a frame in which all grains move, in the paper's scenes and by size, and of sand at rest. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/scene.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "scree/scene.h"
#include "world/world.h"

enum { REPEATS_MIN = 7, REPEATS_MAX = 60 };

typedef struct Timing {
  int64_t grains;
  double wall, cpu; /* s of a frame, best of several; cpu of all threads together */
} Timing;

/* What a frame changes, as it was before the frame, to be put back so that the same frame can be measured again. By id,
 * since both coarse and fine grains may be sorted in a frame. */
typedef struct Before {
  int64_t fine, coarse; /* ids */
  float *fields[6], *seen[3];
} Before;

static void fine_fields(const ScreeWorld *world, float *fields[6]) {
  const FineGrains *g = upsample_grains(world->upsample);
  float *const all[6] = {g->x, g->y, g->z, g->vx, g->vy, g->vz};
  memcpy(fields, all, sizeof all);
}

static void seen_fields(const ScreeWorld *world, float *seen[3]) {
  static const char *const names[3] = {"upsample_x", "upsample_y", "upsample_z"};
  const Particles *p = &world->state.particles;
  for (int axis = 0; axis < 3; axis++)
    for (int32_t f = 0; f < p->field_count; f++)
      if (strcmp(p->fields[f].name, names[axis]) == 0) seen[axis] = *p->fields[f].data;
}

typedef struct Copying {
  const uint32_t *id;
  int64_t ids;
  float *here, *there;
  bool back;
} Copying;

static void copy_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Copying *c = context;
  for (int64_t i = b; i < e; i++) {
    if (c->id[i] >= c->ids) continue; /* born since */
    if (c->back) c->here[i] = c->there[c->id[i]];
    else c->there[c->id[i]] = c->here[i];
  }
}

/* With the world's threads, so that they are awake when the frame begins, as they are in a run. */
static void before_copy(ScreeWorld *world, Before *before, bool back) {
  const FineGrains *g = upsample_grains(world->upsample);
  const Particles *p = &world->state.particles;
  float *fields[6], *seen[3];
  fine_fields(world, fields);
  seen_fields(world, seen);
  for (int f = 8; f >= 0; f--) {
    bool fine = f < 6;
    Copying copying = {fine ? g->id : p->id, fine ? before->fine : before->coarse, fine ? fields[f] : seen[f - 6],
                       fine ? before->fields[f] : before->seen[f - 6], back};
    parallel_for(&world->core, 0, fine ? g->count : p->count, 4096, copy_chunk, &copying);
  }
}

static Status before_create(Core *core, ScreeWorld *world, Before *before) {
  const Particles *p = &world->state.particles;
  before->fine = upsample_grains(world->upsample)->next_id;
  before->coarse = 1;
  for (int64_t i = 0; i < p->count; i++) before->coarse = p->id[i] >= before->coarse ? p->id[i] + 1 : before->coarse;
  for (int f = 0; f < 6; f++) TRY(memory_new(core, &before->fields[f], before->fine, "benchmark"));
  for (int f = 0; f < 3; f++) TRY(memory_new(core, &before->seen[f], before->coarse, "benchmark"));
  before_copy(world, before, false);
  return SCREE_OK;
}

static void before_destroy(Core *core, Before *before) {
  for (int f = 0; f < 6; f++) memory_drop(core, &before->fields[f]);
  for (int f = 0; f < 3; f++) memory_drop(core, &before->seen[f]);
}

/* Repeats the upsampling of the frame that has just been simulated; at rest (before is NULL) the next ones. */
static Status measure(Core *core, const BenchTable *table, ScreeWorld *world, Before *before, Timing *timing) {
  *timing = (Timing){.grains = upsample_grains(world->upsample)->count, .wall = INFINITY, .cpu = INFINITY};
  double began = timer_now(), dt = 1 / world->definition.scene.frame_rate;
  int64_t least = bench_amount(table, REPEATS_MIN, 1), most = bench_amount(table, REPEATS_MAX, 1);
  for (int64_t k = 0; k < most && (k < least || timer_now() - began < 2); k++) {
    if (before) before_copy(world, before, true);
    double wall = timer_now(), cpu = timer_processor();
    Status status = upsample_advance(&world->core, world->upsample, &world->state, &world->sinks, &world->scratch, dt);
    if (status != SCREE_OK) return fail(core, status, "%s", world->core.error.message);
    timing->wall = fmin(timing->wall, timer_now() - wall);
    timing->cpu = fmin(timing->cpu, timer_processor() - cpu);
  }
  return SCREE_OK;
}

/* Runs a scene to the end of the frame that is measured. */
static Status scene_time(Core *core, const BenchTable *table, const ScreeSceneDef *scene, int frames, int threads,
                         bool again, Timing *timing) {
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = threads;
  options.baseline_simd = core->baseline_simd;
  options.memory_limit = memory_left(&core->memory);
  ScreeWorld *world = NULL;
  ScreeError error;
  Before before = {0};
  Status status = scree_world_create(scene, &options, &world, &error);
  for (int k = 0; k < frames - 1 && status == SCREE_OK; k++) status = scree_world_frame(world, &error);
  if (status == SCREE_OK && again) status = before_create(core, world, &before);
  if (status == SCREE_OK) status = scree_world_frame(world, &error);
  if (status != SCREE_OK) status = fail(core, status, "%s", error.message);
  else status = measure(core, table, world, again ? &before : NULL, timing);
  before_destroy(core, &before);
  scree_world_destroy(world);
  return status;
}

static Status timing_row(Core *core, BenchTable *table, const char *name, const Timing *t, double reference,
                         const char *unit, const char *remark) {
  double each = 1e9 / (double)t->grains;
  bool frame = strcmp(unit, "ms/frame") == 0;
  BenchRow row = {.ours = frame ? t->wall * 1e3 : t->wall * each, .reference = reference, .unit = unit};
  snprintf(row.name, sizeof row.name, "%s", name);
  snprintf(row.note, sizeof row.note, "%.0fk grains, %.1f ns a grain, %.1f ns of processor time%s%s",
           (double)t->grains / 1e3, t->wall * each, t->cpu * each, *remark ? "; " : "", remark);
  return bench_row(core, table, row);
}

/* A block of sand in the air: every grain falls, nothing is near a wall. */
static Status block_time(Core *core, const BenchTable *table, double wanted, int mode, bool moving, int threads,
                         Timing *timing) {
  BenchBlock block;
  bench_block_make(&block, table->quick ? 2000 : wanted, mode,
                   moving ? (ScreeVec3){0.3, -0.2, 0.1} : (ScreeVec3){0, 0, 0});
  if (!moving) block.scene.gravity = (ScreeVec3){0, 0, 0};
  return scene_time(core, table, &block.scene, 2, threads, moving, timing);
}

enum { BYTES_PER_FINE = 160 };

/* On one thread: what a grain costs, whatever the second core shares with the first. */
static Status size_rows(Core *core, BenchTable *table) {
  static const struct {
    double count;
    const char *words;
  } sizes[] = {{1e5, "100k"}, {4.6e5, "460k"}, {1e6, "1M"}, {1e7, "10M"}};
  double least = INFINITY, most = 0;
  for (int64_t k = 0; k < bench_amount(table, 4, 1); k++) {
    if (sizes[k].count * BYTES_PER_FINE > (double)memory_left(&core->memory)) break;
    Timing timing;
    char name[BENCH_NAME_MAX];
    TRY(block_time(core, table, sizes[k].count, SCREE_UPSAMPLE_PAPER, true, 1, &timing));
    snprintf(name, sizeof name, "upsampling, paper, block of %s falling", sizes[k].words);
    TRY(timing_row(core, table, name, &timing, 0, "ns/grain", "1 thread"));
    least = fmin(least, timing.cpu / (double)timing.grains);
    most = fmax(most, timing.cpu / (double)timing.grains);
  }
  BenchRow row = {.ours = most / least, .unit = "slowest/fastest"};
  snprintf(row.name, sizeof row.name, "upsampling, flatness from 100k up");
  snprintf(row.note, sizeof row.note, "processor time a grain, 1 thread");
  return bench_row(core, table, row);
}

static Status rest_rows(Core *core, BenchTable *table, int threads) {
  Timing moving, resting;
  TRY(block_time(core, table, 4.6e5, SCREE_UPSAMPLE_BETTER, true, threads, &moving));
  TRY(block_time(core, table, 4.6e5, SCREE_UPSAMPLE_BETTER, false, threads, &resting));
  TRY(timing_row(core, table, "upsampling, better, block of 460k falling", &moving, 0, "ns/grain", ""));
  char remark[48];
  snprintf(remark, sizeof remark, "%.3f of moving sand", resting.cpu / moving.cpu);
  return timing_row(core, table, "upsampling, better, block of 460k at rest", &resting, 0, "ns/grain", remark);
}

/* The paper's scenes with its times on eight cores, and the frame that is measured: in the middle of the action. */
static Status scene_rows(Core *core, BenchTable *table, int threads) {
  static const struct {
    const char *name;
    double paper; /* ms */
    int frame;
  } scenes[] = {{"sandcastle", 7.31, 12}, {"excavator", 11.2, 12}, {"hourglass", 48.5, 30}, {"squirrel", 15.8, 12}};
  for (int64_t k = bench_amount(table, 0, 3); k < 4; k++)
    for (int mode = SCREE_UPSAMPLE_PAPER; mode >= SCREE_UPSAMPLE_BETTER; mode--) {
      char name[BENCH_NAME_MAX], set[48];
      snprintf(name, sizeof name, "sommer2022/%s", scenes[k].name);
      snprintf(set, sizeof set, "upsample.mode=%s", mode == SCREE_UPSAMPLE_PAPER ? "paper" : "better");
      const char *sets[] = {set, "method.radius=0.1", "upsample.radius=0.05"}; /* the last two make it small */
      ScreeScene *scene = NULL;
      TRY(bench_scene_load(core, name, sets, (int32_t)bench_amount(table, 1, 3), &scene));
      Timing timing;
      Status status = scene_time(core, table, scree_scene_definition(scene),
                                 (int)bench_amount(table, scenes[k].frame, 1), threads, true, &timing);
      scree_scene_free(scene);
      TRY(status);
      snprintf(name, sizeof name, "upsampling, %s, %s", scenes[k].name, set + strlen("upsample.mode="));
      TRY(timing_row(core, table, name, &timing, scenes[k].paper, "ms/frame", "reference: the paper, 8 cores"));
    }
  return SCREE_OK;
}

Status bench_upsample(Core *core, BenchTable *table) {
  int threads = table->threads;
  if (!table->counts) table->counts = "the shortest of several times of the same frame";
  TRY(size_rows(core, table));
  TRY(rest_rows(core, table, threads));
  return scene_rows(core, table, threads);
}
