/* One frame of the fine grains. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/parallel.h"
#include "upsample/internal.h"

enum { BLOCKS_PER_CHUNK = 8, RANGES_MAX = 128 };

/* A block wider than this many reaches is cut in halves: every coarse grain near one of its grains would be looked at
 * for all of them. */
#define WIDEST 2.0f
/* Grains are sorted again when a frame looks at so many more pairs than the first one after sorting did. */
#define SORT_AGAIN 1.2
/* Air, and the drag coefficient of a sphere in it. */
#define AIR_DENSITY 1.2
#define SPHERE_DRAG 0.47

typedef struct Advance {
  Core *core;
  Upsample *up;
  const State *state;
  const Solids *sinks;
  bool paper;
  bool awake; /* coarse grains went in some other way than through a sink: nothing rests */
  CoarseSets sets;
  FineLaw law;
  Stir stir;
  double dt;
  Candidates *candidates; /* per thread */
  _Atomic int64_t pairs;
  atomic_bool bad;
} Advance;

static FineLaw make_law(const Upsample *up, const State *state, double dt) {
  double radius = up->coarse_radius, drag = up->definition.air_drag;
  const ScreeMaterialDef *stuff = &state->materials.items[0].definition;
  if (scree_is_auto(drag)) drag = 0.375 * SPHERE_DRAG * AIR_DENSITY / (stuff->grain_density * up->definition.radius);
  Vec3 gain = vec3_scale(state->gravity, dt), wind = state->wind;
  return (FineLaw){.reach2 = (float)(REACH * REACH * radius * radius),
                   .dt = (float)dt,
                   .gain = {(float)gain.x, (float)gain.y, (float)gain.z},
                   .covered2 = (float)(COVERED * COVERED * radius * radius),
                   .free2 = (float)(FREE * FREE * radius * radius),
                   .wind = {(float)wind.x, (float)wind.y, (float)wind.z},
                   .air_drag = (float)drag,
                   .gravity = (float)vec3_length(state->gravity),
                   .blow = vec3_length(state->gravity) > 0 ? (float)(drag * vec3_dot(wind, wind)) : 0,
                   .body_rule = up->definition.body_rule};
}

static void bounds_of(const Core *core, const FineGrains *g, int64_t b, int64_t e, float bounds[6]) {
  KERNEL_CALL(core, fine_bounds)(g->x + b, g->y + b, g->z + b, e - b, bounds);
}

static void load(const FineGrains *g, int64_t b, int64_t e, FineBlock *block) {
  int64_t count = e - b, padded = (count + LANES - 1) / LANES * LANES;
  block->count = count;
  block->padded = padded;
  block->radius = g->radius + b;
  block->material = g->material + b;
  float *const from[6] = {g->x, g->y, g->z, g->vx, g->vy, g->vz};
  float **to[6] = {&block->x, &block->y, &block->z, &block->vx, &block->vy, &block->vz};
  for (int f = 0; f < 6; f++) {
    *to[f] = from[f] + b;
    if (count == padded) continue;
    memcpy(block->copies[f], from[f] + b, sizeof(float) * (size_t)count);
    for (int64_t i = count; i < padded; i++) block->copies[f][i] = block->copies[f][count - 1];
    *to[f] = block->copies[f];
  }
}

static bool has_no_speed(const Core *core, const FineBlock *block) {
  return KERNEL_CALL(core, fine_zero)(block->vx, block->count) &&
         KERNEL_CALL(core, fine_zero)(block->vy, block->count) && KERNEL_CALL(core, fine_zero)(block->vz, block->count);
}

static bool stayed(const Core *core, const FineBlock *block) {
  return KERNEL_CALL(core, fine_equal)(block->to_x, block->x, block->count) &&
         KERNEL_CALL(core, fine_equal)(block->to_y, block->y, block->count) &&
         KERNEL_CALL(core, fine_equal)(block->to_z, block->z, block->count);
}

static void store(Advance *a, int64_t b, const FineBlock *block) {
  FineGrains *g = &a->up->grains;
  if (!block->finite) atomic_store(&a->bad, true);
  size_t size = sizeof(float) * (size_t)block->count;
  memcpy(g->x + b, block->to_x, size);
  memcpy(g->y + b, block->to_y, size);
  memcpy(g->z + b, block->to_z, size);
  if (block->vx == g->vx + b) return;
  memcpy(g->vx + b, block->vx, size);
  memcpy(g->vy + b, block->vy, size);
  memcpy(g->vz + b, block->vz, size);
}

/* false: too many cells, the box is too wide. */
static bool find_candidates(const Advance *a, const CellGrid *grid, const CoarseSet *set, const float bounds[6],
                            Candidates *candidates) {
  int64_t ranges[RANGES_MAX][2];
  float wide[6];
  candidates->count = 0;
  if (set->count == 0) return true;
  bounds_widen(bounds, sqrtf(a->law.reach2), wide);
  int count = cell_grid_box(grid, wide, RANGES_MAX, ranges);
  if (count > RANGES_MAX) return false;
  for (int k = 0; k < count; k++) KERNEL_CALL(a->core, coarse_near)
  (set, ranges[k][0], ranges[k][1], bounds, a->law.reach2, a->up->pack, candidates);
  return true;
}

static bool add_samples(const Advance *a, const float bounds[6], Candidates *candidates, FineBlock *block) {
  const CoarseSet *samples = &a->sets.samples;
  if (samples->count == 0) return true;
  if (!find_candidates(a, a->up->sample_grid, samples, bounds, candidates)) return false;
  KERNEL_CALL(a->core, fine_add_samples)(samples, candidates, a->law.reach2, a->law.body_rule, a->up->pack, block);
  return true;
}

/* Moves a block; answers false when it is too wide. */
static bool advance_block(Advance *a, Candidates *candidates, const float bounds[6], FineBlock *block, int64_t *pairs) {
  const Core *core = a->core;
  float reach = sqrtf(a->law.reach2);
  if (!find_candidates(a, a->up->coarse_grid, &a->sets.grains, bounds, candidates)) return false;
  block->walled = !a->paper && walls_before(core, a->up, bounds, (double)reach, block);
  *pairs += KERNEL_CALL(core, fine_sums)(&a->sets.grains, candidates, a->law.reach2, block->walled, !a->paper,
                                         a->up->pack, block);
  if (a->paper) {
    if (!add_samples(a, bounds, candidates, block)) return false;
    walls_weigh(core, a->up, &a->law, bounds, block);
    KERNEL_CALL(core, fine_move_paper)(&a->law, block);
    return true;
  }
  KERNEL_CALL(core, fine_move_better)(&a->law, block);
  stir_push(&a->stir, &a->law, block);
  walls_after(core, a->up, a->state, bounds, a->dt, block);
  return true;
}

/* Answers whether every grain was and is without speed and stayed where it was: with the same surroundings it will do
 * so again. */
static bool advance_range(Advance *a, Candidates *candidates, int64_t b, int64_t e, int64_t *pairs) {
  float bounds[6], widest = 0;
  bounds_of(a->core, &a->up->grains, b, e, bounds);
  for (int axis = 0; axis < 3; axis++) widest = fmaxf(widest, bounds[3 + axis] - bounds[axis]);
  if (widest <= WIDEST * sqrtf(a->law.reach2)) {
    FineBlock block;
    load(&a->up->grains, b, e, &block);
    bool still = !a->paper && has_no_speed(a->core, &block);
    if (advance_block(a, candidates, bounds, &block, pairs)) {
      still = still && has_no_speed(a->core, &block) && stayed(a->core, &block);
      store(a, b, &block);
      return still;
    }
  }
  if (e - b == 1) { /* not finite */
    atomic_store(&a->bad, true);
    return false;
  }
  int64_t middle = e - b > 2 * LANES ? b + (e - b) / 2 / LANES * LANES : e - b > LANES ? b + LANES : b + (e - b) / 2;
  bool first = advance_range(a, candidates, b, middle, pairs);
  return advance_range(a, candidates, middle, e, pairs) && first;
}

/* How far something that moves can be and still matter: to the weights, and to the counts that a moving grain reads. */
static float stir_reach(const Upsample *up) { return (float)((REACH + 2 * STIR_CELL) * up->coarse_radius); }

static bool skips(const Advance *a, int64_t block) {
  const Upsample *up = a->up;
  return !a->paper && !a->awake && up->resting[block] && !coarse_stirs(up, &a->sets, up->bounds[block], stir_reach(up));
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
  for (int64_t k = b; k < e; k++) {
    int64_t first = k * FINE_BLOCK, last = first + FINE_BLOCK < g->count ? first + FINE_BLOCK : g->count;
    if (skips(a, k)) continue;
    stir_count(a->core, &a->stir, last - first, g->x + first, g->y + first, g->z + first);
  }
}

static void advance_chunk(void *context, int64_t b, int64_t e, int thread) {
  Advance *a = context;
  Upsample *up = a->up;
  const Core *core = a->core;
  const FineGrains *g = &up->grains;
  int64_t pairs = 0;
  for (int64_t k = b; k < e; k++) {
    int64_t first = k * FINE_BLOCK, last = first + FINE_BLOCK < g->count ? first + FINE_BLOCK : g->count;
    if (skips(a, k)) continue;
    up->resting[k] = advance_range(a, &a->candidates[thread], first, last, &pairs);
    if (!up->resting[k]) continue;
    bounds_of(core, g, first, last, up->bounds[k]);
    if (near_sink(a, up->bounds[k])) up->resting[k] = 0;
  }
  atomic_fetch_add(&a->pairs, pairs);
}

static Status candidates_create(Core *core, Scratch *scratch, int64_t room, Candidates *candidates) {
  TRY(scratch_take(core, scratch, &candidates->x, room, "candidates"));
  TRY(scratch_take(core, scratch, &candidates->y, room, "candidates"));
  TRY(scratch_take(core, scratch, &candidates->z, room, "candidates"));
  TRY(scratch_take(core, scratch, &candidates->index, room, "candidates"));
  return scratch_take(core, scratch, &candidates->list, room, "candidates");
}

static Status move_grains(Advance *a, Scratch *scratch) {
  Core *core = a->core;
  Upsample *up = a->up;
  int64_t count = up->grains.count, blocks = parallel_chunks(0, count, FINE_BLOCK);
  TRY(coarse_gather(core, up, a->state, scratch, a->dt, &a->sets));
  if (count == 0) return SCREE_OK;
  int threads = pool_threads(core->pool);
  int64_t room = (a->sets.grains.count > a->sets.samples.count ? a->sets.grains.count : a->sets.samples.count) + LANES;
  TRY(scratch_take(core, scratch, &a->candidates, threads, "candidates"));
  for (int t = 0; t < threads; t++) TRY(candidates_create(core, scratch, room, &a->candidates[t]));
  if (!a->paper) {
    TRY(stir_prepare(core, up, &a->sets, &a->stir));
    parallel_for(core, 0, blocks, BLOCKS_PER_CHUNK, count_chunk, a);
  }
  parallel_for(core, 0, blocks, BLOCKS_PER_CHUNK, advance_chunk, a);
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
  Advance a = {.core = core,
               .up = up,
               .state = state,
               .sinks = sinks,
               .paper = up->definition.mode == SCREE_UPSAMPLE_PAPER,
               .awake = others_died(&state->queue),
               .law = make_law(up, state, dt),
               .dt = dt};
  if (up->unsorted && up->grains.count > 0) TRY(fine_sort(core, up, scratch));
  solids_view_refresh(up, state);
  int mark = scratch_mark(scratch);
  Status status = move_grains(&a, scratch);
  scratch_release(core, scratch, mark);
  TRY(status);
  solids_view_commit(up);
  up->pairs = up->grains.count > 0 ? (double)atomic_load(&a.pairs) / (double)up->grains.count : 0;
  if (up->pairs > up->pairs_sorted * SORT_AGAIN) {
    up->unsorted = up->pairs_sorted > 0;
    up->pairs_sorted = up->pairs;
  }
  TRY(fine_births(core, up, state));
  return fine_sinks(core, up, state, sinks, scratch);
}
