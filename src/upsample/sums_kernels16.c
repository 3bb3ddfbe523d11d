/* Coarse grains near fine ones, and their weighted sums: as many fine grains abreast as there are lanes. */
#include "core/lane_memory.h"
#include "upsample/upsample_kernels.h"
#include "upsample/weight_law.h"

typedef struct LaneBox {
  LaneVec3 low, high;
} LaneBox;

/* Which of the points, of which `left` are meant, are nearer to the box than the reach. Rounding grows with the value,
 * so that no coordinate of a grain in the box is nearer than what is found here. */
LANE_INLINE unsigned near_points(LaneBox box, const float *x, const float *y, const float *z, int64_t left,
                                 float reach2) {
  LaneVec3 at = lane_load3(x, y, z);
  LaneVec3 d = vec_make(at.x - real_min(real_max(at.x, box.low.x), box.high.x),
                        at.y - real_min(real_max(at.y, box.low.y), box.high.y),
                        at.z - real_min(real_max(at.z, box.low.z), box.high.z));
  unsigned bits = lane_bits(real_less(vec_dot(d, d), real(reach2)));
  return left < LANE_WIDTH ? bits & ((1u << left) - 1) : bits;
}

/* The box round the fine grains from g on. */
LANE_INLINE LaneBox group_box(const FineBoxes *boxes, int64_t g) {
  float low[3], high[3];
  for (int axis = 0; axis < 3; axis++) {
    low[axis] = boxes->low[axis][g / LANES], high[axis] = boxes->high[axis][g / LANES];
    for (int64_t k = g / LANES + 1; k < (g + LANE_WIDTH) / LANES; k++) {
      low[axis] = boxes->low[axis][k] < low[axis] ? boxes->low[axis][k] : low[axis];
      high[axis] = boxes->high[axis][k] > high[axis] ? boxes->high[axis][k] : high[axis];
    }
  }
  return (LaneBox){vec_make(real(low[0]), real(low[1]), real(low[2])),
                   vec_make(real(high[0]), real(high[1]), real(high[2]))};
}

/* Appends those of [b, e) that are near the box; `index` NULL: their numbers are their places. */
LANE_INLINE void append_near(const float *x, const float *y, const float *z, const int32_t *index, int64_t b, int64_t e,
                             const float bounds[6], float reach2, Candidates *to) {
  LaneBox box = {vec_make(real(bounds[0]), real(bounds[1]), real(bounds[2])),
                 vec_make(real(bounds[3]), real(bounds[4]), real(bounds[5]))};
  int64_t count = to->count;
  for (int64_t k = b; k < e; k += LANE_WIDTH) {
    int32_t places[LANE_WIDTH];
    unsigned bits = near_points(box, x + k, y + k, z + k, e - k, reach2);
    if (!bits) continue;
    if (!index)
      for (int lane = 0; lane < LANE_WIDTH; lane++) places[lane] = (int32_t)k + lane;
    lane_pack((int32_t *)to->x + count, bits, (const int32_t *)x + k);
    lane_pack((int32_t *)to->y + count, bits, (const int32_t *)y + k);
    lane_pack((int32_t *)to->z + count, bits, (const int32_t *)z + k);
    lane_pack(to->index + count, bits, index ? index + k : places);
    count += __builtin_popcount(bits);
  }
  to->count = count;
}

void KERNEL(coarse_near)(const CoarseSet *set, int64_t b, int64_t e, const float bounds[6], float reach2,
                         Candidates *candidates) {
  append_near(set->x, set->y, set->z, NULL, b, e, bounds, reach2, candidates);
}

void KERNEL(candidates_narrow)(const Candidates *from, const float bounds[6], float reach2, Candidates *to) {
  to->count = 0;
  append_near(from->x, from->y, from->z, from->index, 0, from->count, bounds, reach2, to);
}

/* The candidates within reach of the box round the fine grains from g on. */
LANE_INLINE int64_t list_near(const Candidates *c, const FineBlock *block, int64_t g, float reach2, int32_t *list) {
  const LaneBox box = group_box(block->boxes, g);
  int64_t count = 0;
  for (int64_t k = 0; k < c->count; k += LANE_WIDTH) {
    unsigned bits = near_points(box, c->x + k, c->y + k, c->z + k, c->count - k, reach2);
    lane_pack(list + count, bits, c->index + k);
    count += __builtin_popcount(bits);
  }
  return count;
}

/* `walls` NULL: none is in reach. */
LANE_INLINE WeightedSums sum_pairs(const CoarseRow *rows, const int32_t *list, int64_t count, const FineBlock *block,
                                   const FineWalls *walls, int64_t g, float reach2, bool squares) {
  const Real reach = real(reach2);
  LaneVec3 at = lane_load3(block->x + g, block->y + g, block->z + g), normal = vec_zero();
  Real gap = real(0);
  if (walls) {
    gap = lane_load(walls->gap + g);
    normal = lane_load3(walls->nx + g, walls->ny + g, walls->nz + g);
  }
  WeightedSums sums = sums_zero();
  for (int64_t k = 0; k < count; k++) {
    const CoarseRow *row = &rows[list[k]];
    LaneVec3 offset = vec_sub(at, vec_make(real(row->x), real(row->y), real(row->z)));
    Real t = pair_nearness(offset, reach);
    if (walls) t = pair_nearness_in_front(t, offset, gap, normal);
    LaneVec3 velocity = vec_make(real(row->vx), real(row->vy), real(row->vz));
    sums = sums_add_pair(sums, t, velocity, real(row->square), squares);
  }
  return sums;
}

LANE_INLINE void store_sums(FineSums *to, int64_t g, WeightedSums sums) {
  lane_store(to->weight + g, sums.weight);
  lane_store3(to->vx + g, to->vy + g, to->vz + g, sums.velocity);
  lane_store(to->top + g, sums.top);
}

int64_t KERNEL(fine_sums)(const CoarseSet *set, const Candidates *candidates, int32_t *list, float reach2, bool squares,
                          const FineBlock *block, const FineWalls *walls, FineSums *to) {
  int64_t effort = candidates->count * (block->padded / LANES);
  const Real reach = real(1.00001f * __builtin_sqrtf(reach2));
  for (int64_t g = 0; g < block->padded; g += LANE_WIDTH) {
    int64_t count = list_near(candidates, block, g, reach2, list);
    /* Nothing in reach is behind a wall that is out of it. */
    bool walled = walls->any && mask_any(real_less(lane_load(walls->gap + g), reach));
    WeightedSums sums;
    if (walled) sums = sum_pairs(set->rows, list, count, block, walls, g, reach2, true);
    else if (squares) sums = sum_pairs(set->rows, list, count, block, NULL, g, reach2, true);
    else sums = sum_pairs(set->rows, list, count, block, NULL, g, reach2, false);
    store_sums(to, g, sums);
    lane_store(to->square + g, sums.square);
    effort += count * LANE_WIDTH;
  }
  return effort;
}

void KERNEL(fine_add_samples)(const CoarseSet *set, const Candidates *candidates, int32_t *list, float reach2,
                              bool body_rule, const FineBlock *block, FineSums *to) {
  for (int64_t g = 0; g < block->padded; g += LANE_WIDTH) {
    int64_t count = list_near(candidates, block, g, reach2, list);
    if (count == 0) continue;
    WeightedSums samples = sum_pairs(set->rows, list, count, block, NULL, g, reach2, false);
    WeightedSums sums = {lane_load(to->weight + g), lane_load3(to->vx + g, to->vy + g, to->vz + g),
                         lane_load(to->top + g), real(0)};
    store_sums(to, g, sums_add_samples(sums, samples, body_rule));
  }
}
