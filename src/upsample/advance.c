/* One frame of the fine grains. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/parallel.h"
#include "upsample/points.h"

enum { BLOCKS_PER_CHUNK = FINE_CLUSTER, CHUNK_CLUSTERS = 8, CHUNKS_PER_THREAD = 16, LINE = 64 / sizeof(float) };

/* Sorting costs about as much as looking at so many pairs (of a coarse and a fine grain) per grain, on an H200 as on
 * the CPU. When so much has been wasted since the last time, it pays. */
#define SORT_EFFORT 250
/* Air, and the drag coefficient of a sphere in it. */
#define AIR_DENSITY 1.2
#define SPHERE_DRAG 0.47

static FineParameters frame_parameters(const Upsample *up, const State *state, double dt) {
  double radius = up->coarse_radius, drag = up->definition.air_drag;
  const ScreeMaterialDef *material = &state->materials.items[0].definition;
  if (scree_is_auto(drag)) drag = 0.375 * SPHERE_DRAG * AIR_DENSITY / (material->grain_density * up->definition.radius);
  Vec3 gain = vec3_scale(state->gravity, dt), wind = state->wind;
  return (FineParameters){.reach2 = (float)(REACH * REACH * radius * radius),
                          .dt = (float)dt,
                          .gain = {(float)gain.x, (float)gain.y, (float)gain.z},
                          .covered2 = (float)(COVERED * COVERED * radius * radius),
                          .free2 = (float)(FREE * FREE * radius * radius),
                          .wind = {(float)wind.x, (float)wind.y, (float)wind.z},
                          .air_drag = (float)drag,
                          .stir = (float)up->definition.stir,
                          .gravity = (float)vec3_length(state->gravity),
                          .blow = vec3_length(state->gravity) > 0 ? (float)(drag * vec3_dot(wind, wind)) : 0,
                          .body_rule = up->definition.body_rule};
}

/* How far something that moves can be and still matter: to the weights, and to the counts that a moving grain reads. */
static float stir_reach(const Upsample *up) { return (float)((REACH + 2 * STIR_CELL) * up->coarse_radius); }

static bool skips(const Advance *a, int64_t block) {
  const Upsample *up = a->up;
  return !a->paper && !a->awake && up->storage.resting[block] &&
         !coarse_stirs(up, &a->sets, up->storage.bounds[block], stir_reach(up));
}

static bool near_sink(const Advance *a, const float bounds[6]) {
  for (int32_t k = 0; k < a->sinks->count; k++) {
    Vec3 low = vec3((double)bounds[0], (double)bounds[1], (double)bounds[2]),
         high = vec3((double)bounds[3], (double)bounds[4], (double)bounds[5]);
    Vec3 middle = vec3_scale(vec3_add(low, high), 0.5);
    double reach = vec3_length(vec3_sub(high, middle)) + (REACH + 1) * a->up->coarse_radius;
    Vec3 local = solid_to_local(&a->sinks->items[k], vec3_add(a->state->origin, middle));
    if (shape_distance(&a->sinks->items[k].shape, local, 2 * reach).distance < reach) return true;
  }
  return false;
}

static void count_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Advance *a = context;
  const FineGrains *g = &a->up->grains;
  StirTally tally = {.count = {0}};
  for (int64_t k = b; k < e; k++) {
    int64_t first = k * FINE_BLOCK, last = first + FINE_BLOCK < g->count ? first + FINE_BLOCK : g->count;
    /* Nobody asks about cells of resting blocks, unless others are folded into them. */
    if (!a->stir.cells.folded && skips(a, k)) continue;
    stir_count(a->core, &a->stir, last - first, g->x + first, g->y + first, g->z + first, &tally);
  }
  stir_tally_end(&a->stir, &tally);
}

/* Asks for the block that is as far ahead as a cluster is long: so much is done meanwhile that memory is in time.
 * Blocks from `end` on are another thread's. */
static void fetch_ahead(const Upsample *up, int64_t block, int64_t end) {
  const FineGrains *g = &up->grains;
  int64_t ahead = block + FINE_CLUSTER, first = ahead * FINE_BLOCK, last = first + FINE_BLOCK;
  if (ahead >= end || last > g->count || up->storage.resting[ahead]) return;
  const float *const fields[6] = {g->x, g->y, g->z, g->vx, g->vy, g->vz};
  for (int f = 0; f < 6; f++)
    for (int64_t i = first; i < last; i += LINE) __builtin_prefetch(fields[f] + i, 1, 2);
}

/* Blocks that follow each other lie together: what is round them is looked up once for all. `end`: of the chunk. */
static void advance_cluster(Advance *a, FineWork *work, int64_t b, int64_t e, int64_t end, int64_t *effort) {
  Upsample *up = a->up;
  const FineGrains *g = &up->grains;
  FineBounds bounds[FINE_CLUSTER];
  bool moves[FINE_CLUSTER] = {false};
  for (int64_t k = b; k < e; k++) {
    moves[k - b] = !skips(a, k);
    if (moves[k - b]) fine_block_bounds(a->core, g, k, &bounds[k - b]);
  }
  cluster_begin(a, work, e - b, moves, bounds);
  for (int64_t k = b; k < e; k++) {
    fetch_ahead(up, k, end);
    if (!moves[k - b]) continue;
    int64_t first = k * FINE_BLOCK, last = first + FINE_BLOCK < g->count ? first + FINE_BLOCK : g->count;
    up->storage.resting[k] = advance_range(a, work, first, last, &bounds[k - b], effort);
    if (!up->storage.resting[k]) continue;
    KERNEL_CALL(a->core, fine_bounds)(g->x + first, g->y + first, g->z + first, last - first, up->storage.bounds[k]);
    if (near_sink(a, up->storage.bounds[k])) up->storage.resting[k] = 0;
  }
}

static void advance_chunk(void *context, int64_t b, int64_t e, int thread) {
  Advance *a = context;
  int64_t effort = 0;
  for (int64_t k = b; k < e; k += FINE_CLUSTER)
    advance_cluster(a, &a->work[thread], k, k + FINE_CLUSTER < e ? k + FINE_CLUSTER : e, e, &effort);
  atomic_fetch_add(&a->effort, effort);
}

/* One piece for all threads: the stack of scratch memory is not deep. */
static Status work_create(Core *core, Scratch *scratch, int64_t capacity, Advance *a) {
  int threads = pool_threads(core->pool);
  int64_t solids = a->up->solid_count + 1;
  float *places = NULL;
  int32_t *numbers = NULL;
  double(*gaps)[2] = NULL;
  enum { SETS = 3 };
  capacity = (capacity + LANES_MOST + 15) / 16 * 16; /* whole cache lines */
  TRY(scratch_take(core, scratch, &a->work, threads, "candidates"));
  TRY(scratch_take(core, scratch, &places, threads * SETS * 3 * capacity, "candidates"));
  TRY(scratch_take(core, scratch, &numbers, threads * (SETS + 1) * capacity, "candidates"));
  TRY(scratch_take(core, scratch, &gaps, threads * solids, "gaps"));
  for (int t = 0; t < threads; t++) {
    FineWork *work = &a->work[t];
    Candidates *const each[SETS] = {&work->cluster, &work->samples, &work->block};
    for (int k = 0; k < SETS; k++) {
      *each[k] = (Candidates){0, places, places + capacity, places + 2 * capacity, numbers};
      places += 3 * capacity;
      numbers += capacity;
    }
    work->list = numbers;
    numbers += capacity;
    work->near = (Surroundings){a->up, gaps + t * solids};
  }
  return SCREE_OK;
}

static Status move_grains(Advance *a, Scratch *scratch) {
  Core *core = a->core;
  Upsample *up = a->up;
  int64_t count = up->grains.count, blocks = parallel_chunks(0, count, FINE_BLOCK);
  if (FINE_ON_DEVICE(up)) return fine_device_move(a, scratch);
  TRY(coarse_gather(core, up, a->state, scratch, a->dt, &a->sets));
  if (count == 0) return SCREE_OK;
  int64_t grains = a->sets.grains.count, samples = a->sets.samples.count;
  TRY(work_create(core, scratch, grains > samples ? grains : samples, a));
  if (!a->paper) {
    float bounds[6];
    coarse_bounds(core, &a->sets.grains, bounds);
    TRY(stir_prepare(core, up, grains, bounds, &a->stir));
    parallel_for(core, 0, blocks, BLOCKS_PER_CHUNK, count_chunk, a);
  }
  /* Long chunks, so that what is fetched ahead is fetched for the thread that needs it. */
  int64_t clusters = blocks / FINE_CLUSTER / (CHUNKS_PER_THREAD * pool_threads(core->pool));
  clusters = clusters < 1 ? 1 : clusters > CHUNK_CLUSTERS ? CHUNK_CLUSTERS : clusters;
  parallel_for(core, 0, blocks, clusters * FINE_CLUSTER, advance_chunk, a);
  if (atomic_load(&a->bad)) return fail(core, SCREE_FAILED, "a fine grain is not finite at t = %.6g s", a->state->time);
  return SCREE_OK;
}

/* Some coarse grain is gone that no sink took. */
static bool others_died(const Queue *queue) {
  for (int64_t k = 0; k < queue->done_death_count; k++)
    if (queue->done_deaths[k].reason != REASON_SINK) return true;
  return false;
}

Status upsample_advance(Core *core, Upsample *up, const State *state, const Solids *sinks, Scratch *scratch,
                        double dt) {
  if (up->definition.mode == SCREE_UPSAMPLE_POINTS) return points_advance(core, up, state, scratch, dt);
  Advance a = {.core = core,
               .up = up,
               .state = state,
               .sinks = sinks,
               .paper = up->definition.mode == SCREE_UPSAMPLE_PAPER,
               .parameters = frame_parameters(up, state, dt),
               .dt = dt};
  if (up->storage.unsorted && up->grains.count > 0)
    TRY(FINE_ON_DEVICE(up) ? fine_device_sort(core, up) : fine_sort(core, up, scratch));
  solids_view_refresh(up, state);
  a.awake = up->reshaped || others_died(&state->queue);
  int mark = scratch_mark(scratch);
  Status status = move_grains(&a, scratch);
  scratch_release(core, scratch, mark);
  TRY(status);
  solids_view_commit(up);
  up->storage.effort = up->grains.count > 0 ? (double)atomic_load(&a.effort) / (double)up->grains.count : 0;
  if (up->storage.effort_sorted > 0) up->storage.effort_wasted += up->storage.effort - up->storage.effort_sorted;
  else up->storage.effort_sorted = up->storage.effort;
  up->storage.unsorted = up->storage.effort_wasted > SORT_EFFORT;
  TRY(fine_births(core, up, state));
  if (!FINE_ON_DEVICE(up)) return fine_deaths(core, up, state, sinks, scratch);
  TRY(fine_device_births(core, up));
  return fine_device_deaths(core, up, state, sinks);
}
