/* One block of fine grains: the coarse grains near it, their sums, the law, the walls. */
#include <math.h>
#include <string.h>

#include "upsample/internal.h"

enum { RANGES_MAX = 192 };

/* A block wider than this many reaches is cut in halves: every coarse grain near one of its grains would be looked at
 * for all of them. A cluster of blocks that is wider than this does without what is common to them. */
#define WIDEST 3.0f
/* What a block costs besides its pairs, and one that looks its coarse grains up itself, in pairs. */
#define BLOCK_EFFORT 500
#define GATHER_EFFORT 2000
#define WIDEST_CLUSTER 6.0f

static void bounds_of(const Core *core, const FineGrains *g, int64_t b, int64_t e, FineBounds *bounds) {
  KERNEL_CALL(core, fine_boxes)(g->x + b, g->y + b, g->z + b, e - b, &bounds->boxes, bounds->all);
}

void fine_block_bounds(const Core *core, const FineGrains *g, int64_t block, FineBounds *bounds) {
  int64_t first = block * FINE_BLOCK, last = first + FINE_BLOCK < g->count ? first + FINE_BLOCK : g->count;
  bounds_of(core, g, first, last, bounds);
}

static float widest(const float bounds[6]) {
  float most = 0;
  for (int axis = 0; axis < 3; axis++) {
    float side = bounds[3 + axis] - bounds[axis];
    if (!(side <= most)) most = side; /* a NaN is wide */
  }
  return most;
}

static void block_load(const FineGrains *g, int64_t b, int64_t e, bool in_place, FineBlock *block) {
  int64_t count = e - b, padded = (count + LANES_MOST - 1) / LANES_MOST * LANES_MOST;
  block->count = count;
  block->padded = padded;
  block->radius = g->radius + b;
  block->material = g->material + b;
  float *fields[6] = {g->x + b, g->y + b, g->z + b, g->vx + b, g->vy + b, g->vz + b};
  for (int f = 0; f < 6 && count < padded; f++) {
    memcpy(block->copies[f], fields[f], sizeof(float) * (size_t)count);
    for (int64_t i = count; i < padded; i++) block->copies[f][i] = block->copies[f][count - 1];
    fields[f] = block->copies[f];
  }
  block->x = fields[0], block->y = fields[1], block->z = fields[2];
  block->vx = fields[3], block->vy = fields[4], block->vz = fields[5];
  block->end_x = in_place ? fields[0] : block->ends[0];
  block->end_y = in_place ? fields[1] : block->ends[1];
  block->end_z = in_place ? fields[2] : block->ends[2];
}

static bool has_no_speed(const Core *core, const FineBlock *block) {
  if (block->vx[0] != 0 || block->vy[0] != 0 || block->vz[0] != 0) return false; /* as a rule one tells */
  return KERNEL_CALL(core, fine_zero)(block->vx, block->count) &&
         KERNEL_CALL(core, fine_zero)(block->vy, block->count) && KERNEL_CALL(core, fine_zero)(block->vz, block->count);
}

static bool stayed(const Core *core, const FineBlock *block) {
  return KERNEL_CALL(core, fine_equal)(block->end_x, block->x, block->count) &&
         KERNEL_CALL(core, fine_equal)(block->end_y, block->y, block->count) &&
         KERNEL_CALL(core, fine_equal)(block->end_z, block->z, block->count);
}

static void block_store(Advance *a, int64_t b, const FineBlock *block) {
  FineGrains *g = &a->up->grains;
  size_t size = sizeof(float) * (size_t)block->count;
  const float *const from[6] = {block->end_x, block->end_y, block->end_z, block->vx, block->vy, block->vz};
  float *const to[6] = {g->x + b, g->y + b, g->z + b, g->vx + b, g->vy + b, g->vz + b};
  for (int f = 0; f < 6; f++)
    if (from[f] != to[f]) memcpy(to[f], from[f], size);
}

/* Where there are many coarse grains they are not in the cache: all that is needed is asked for at once. */
static void fetch_ranges(const CoarseSet *set, int count, int64_t (*ranges)[2]) {
  const float *const from[3] = {set->x, set->y, set->z};
  for (int k = 0; k < count; k++)
    for (int axis = 0; axis < 3; axis++) {
      __builtin_prefetch(from[axis] + ranges[k][0]);
      __builtin_prefetch(from[axis] + ranges[k][1] - 1);
    }
}

/* false: too many cells, the box is too wide. */
static bool find_candidates(const Advance *a, const CoarseGrid *grid, const CoarseSet *set, const float bounds[6],
                            Candidates *candidates) {
  int64_t ranges[RANGES_MAX][2];
  float wide[6];
  candidates->count = 0;
  if (set->count == 0) return true;
  bounds_widen(bounds, sqrtf(a->parameters.reach2), wide);
  int count = coarse_grid_box(grid, wide, RANGES_MAX, ranges);
  if (count > RANGES_MAX) return false;
  fetch_ranges(set, count, ranges);
  for (int k = 0; k < count; k++) KERNEL16_CALL(a->core, coarse_near)
  (set, ranges[k][0], ranges[k][1], bounds, a->parameters.reach2, candidates);
  for (int64_t k = 0; k < candidates->count; k++) __builtin_prefetch(&set->rows[candidates->index[k]]);
  return true;
}

/* What a block is given of its cluster is what it would find itself: in the same order. */
static bool block_candidates(const Advance *a, FineWork *work, const Candidates *cluster, const CoarseGrid *grid,
                             const CoarseSet *set, const float bounds[6]) {
  if (!work->clustered) return find_candidates(a, grid, set, bounds, &work->block);
  KERNEL16_CALL(a->core, candidates_narrow)(cluster, bounds, a->parameters.reach2, &work->block);
  return true;
}

static bool add_samples(const Advance *a, FineWork *work, const float bounds[6], FineStages *stages) {
  const CoarseSet *samples = &a->sets.samples;
  if (samples->count == 0) return true;
  if (!block_candidates(a, work, &work->samples, &a->up->sample_grid, samples, bounds)) return false;
  if (work->block.count > 0) KERNEL16_CALL(a->core, fine_add_samples)
  (samples, &work->block, work->list, a->parameters.reach2, a->parameters.body_rule, &stages->block, &stages->sums);
  return true;
}

/* Moves a block. Returns false when it is too wide. */
static bool advance_block(Advance *a, FineWork *work, const float bounds[6], FineStages *s, int64_t *effort) {
  const Core *core = a->core;
  const Upsample *up = a->up;
  double reach = sqrt((double)a->parameters.reach2);
  if (!block_candidates(a, work, &work->cluster, &up->coarse_grid, &a->sets.grains, bounds)) return false;
  if (a->paper) s->walls.any = false;
  else walls_before(core, &work->near, bounds, reach, &s->block, &s->walls);
  *effort += BLOCK_EFFORT + (work->clustered ? work->cluster.count : GATHER_EFFORT);
  *effort += KERNEL16_CALL(core, fine_sums)(&a->sets.grains, &work->block, work->list, a->parameters.reach2, !a->paper,
                                            &s->block, &s->walls, &s->sums);
  if (a->paper) {
    if (!add_samples(a, work, bounds, s)) return false;
    walls_weigh(core, &work->near, &a->parameters, bounds, &s->block, &s->sums);
    KERNEL_CALL(core, fine_move_paper)(&a->parameters, &s->sums, &s->block, &s->motion);
    return true;
  }
  KERNEL_CALL(core, fine_move_better)(&a->parameters, &s->sums, &s->block, &s->motion);
  KERNEL_CALL(core, fine_stir)
  (&a->stir.cells, a->stir.counts, &a->parameters, &s->walls, &s->motion, &s->block);
  walls_after(core, &work->near, a->state, bounds, a->dt, reach, s);
  return true;
}

bool advance_range(Advance *a, FineWork *work, int64_t b, int64_t e, const FineBounds *bounds, int64_t *effort) {
  if (widest(bounds->all) <= WIDEST * sqrtf(a->parameters.reach2)) {
    FineStages stages;
    block_load(&a->up->grains, b, e, a->paper, &stages.block);
    stages.block.boxes = &bounds->boxes;
    bool still = !a->paper && has_no_speed(a->core, &stages.block);
    if (advance_block(a, work, bounds->all, &stages, effort)) {
      still = still && has_no_speed(a->core, &stages.block) && stayed(a->core, &stages.block);
      if (!stages.motion.finite) atomic_store(&a->bad, true);
      block_store(a, b, &stages.block);
      return still;
    }
  }
  if (e - b == 1) { /* not finite */
    atomic_store(&a->bad, true);
    return false;
  }
  int64_t middle = e - b > 2 * LANES ? b + (e - b) / 2 / LANES * LANES : e - b > LANES ? b + LANES : b + (e - b) / 2;
  FineBounds half;
  bounds_of(a->core, &a->up->grains, b, middle, &half);
  bool first = advance_range(a, work, b, middle, &half, effort);
  bounds_of(a->core, &a->up->grains, middle, e, &half);
  return advance_range(a, work, middle, e, &half, effort) && first;
}

void cluster_begin(const Advance *a, FineWork *work, int64_t count, const bool *moves, FineBounds *bounds) {
  float all[6];
  bool any = false;
  for (int64_t k = 0; k < count; k++) {
    if (!moves[k]) continue;
    for (int axis = 0; axis < 3; axis++) {
      float low = bounds[k].all[axis], high = bounds[k].all[3 + axis];
      all[axis] = any && all[axis] < low ? all[axis] : low;
      all[3 + axis] = any && all[3 + axis] > high ? all[3 + axis] : high;
    }
    any = true;
  }
  bool narrow = any && widest(all) <= WIDEST_CLUSTER * sqrtf(a->parameters.reach2);
  for (int32_t k = 0; k < a->up->solid_count; k++)
    for (int when = 0; when < 2; when++)
      work->near.gaps[k][when] = narrow ? solid_view_gap(&a->up->solids[k], all, when) : -INFINITY;
  work->clustered = narrow && find_candidates(a, &a->up->coarse_grid, &a->sets.grains, all, &work->cluster) &&
                    find_candidates(a, &a->up->sample_grid, &a->sets.samples, all, &work->samples);
}
