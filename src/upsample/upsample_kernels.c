#include "upsample/upsample_kernels.h"

#include "core/sixteen.h"

#define TINY 1e-37f
/* Wind: a grain is bare when its sum of weights is below this (half of what settled sand has at its surface), and is
 * held by this share of its weight. */
#define BARE 0.8f
#define HELD 0.6f

/* Largest and smallest of the lanes. */
WIDE_INLINE Wide lanes_max(Wide v) {
  v = wide_max(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = wide_max(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  return wide_max(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
}
WIDE_INLINE Wide lanes_min(Wide v) {
  v = wide_min(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = wide_min(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  return wide_min(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
}

/* Lowest and highest of one coordinate; the rest that fills no eight is taken again from the end. */
WIDE_INLINE void range_of(const float *v, int64_t count, float *low, float *high) {
  if (count < LANES) {
    *low = *high = v[0];
    for (int64_t i = 1; i < count; i++) *low = v[i] < *low ? v[i] : *low, *high = v[i] > *high ? v[i] : *high;
    return;
  }
  Wide least = wide_load(v + count - LANES), most = least;
  for (int64_t i = 0; i + LANES <= count; i += LANES) {
    Wide here = wide_load(v + i);
    least = wide_min(here, least);
    most = wide_max(here, most);
  }
  *low = lanes_min(least)[0];
  *high = lanes_max(most)[0];
}

void KERNEL(fine_bounds)(const float *x, const float *y, const float *z, int64_t count, float bounds[6]) {
  range_of(x, count, &bounds[0], &bounds[3]);
  range_of(y, count, &bounds[1], &bounds[4]);
  range_of(z, count, &bounds[2], &bounds[5]);
}

/* The smallest and the largest lane of each of eight vectors: lanes of two vectors at a time are compared while they
 * are brought together, and what is brought together first serves both. */
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
WIDE_INLINE void lanes_range(const Wide v[8], Wide *low, Wide *high) {
  Wide least[4], most[4];
  for (int k = 0; k < 4; k++) {
    Wide one = PICK(v[2 * k], v[2 * k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    Wide two = PICK(v[2 * k], v[2 * k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    least[k] = wide_min(one, two), most[k] = wide_max(one, two);
  }
  for (int side = 0; side < 2; side++) {
    const Wide *from = side ? most : least;
    Wide quad[2][2];
    for (int k = 0; k < 2; k++) {
      quad[0][k] = PICK(from[2 * k], from[2 * k + 1], 0, 1, 8, 9, 4, 5, 12, 13);
      quad[1][k] = PICK(from[2 * k], from[2 * k + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    Wide half[2];
    for (int k = 0; k < 2; k++) half[k] = side ? wide_max(quad[0][k], quad[1][k]) : wide_min(quad[0][k], quad[1][k]);
    Wide lower = PICK(half[0], half[1], 0, 1, 2, 3, 8, 9, 10, 11);
    Wide upper = PICK(half[0], half[1], 4, 5, 6, 7, 12, 13, 14, 15);
    if (side) *high = wide_max(lower, upper);
    else *low = wide_min(lower, upper);
  }
}
#undef PICK

void KERNEL(fine_boxes)(const float *x, const float *y, const float *z, int64_t count, FineBoxes *boxes,
                        float bounds[6]) {
  _Alignas(32) float few[LANES];
  for (int axis = 0; axis < 3; axis++) {
    const float *at = axis == 0 ? x : axis == 1 ? y : z;
    int64_t end = count;
    if (count < LANES) {
      for (int64_t i = 0; i < LANES; i++) few[i] = at[i < count ? i : count - 1];
      at = few, end = LANES;
    }
    Wide least, most;
    for (int64_t first = 0; first < FINE_GROUPS; first += LANES) {
      Wide v[LANES], low, high;
      for (int64_t k = 0; k < LANES; k++) { /* the last group is filled up with those before it */
        int64_t i = (first + k) * LANES;
        v[k] = wide_load(at + (i + LANES <= end ? i : end - LANES));
      }
      lanes_range(v, &low, &high);
      wide_store(boxes->low[axis] + first, low);
      wide_store(boxes->high[axis] + first, high);
      least = first ? wide_min(low, least) : low, most = first ? wide_max(high, most) : high;
    }
    bounds[axis] = lanes_min(least)[0], bounds[3 + axis] = lanes_max(most)[0];
  }
}

bool KERNEL(coarse_cells)(const float *x, int64_t count, double inverse, int32_t *cell) {
  const double limit = 5e8, usual = 1e6;
  int32_t odd = 0;
  for (int64_t i = 0; i < count; i++) {
    double at = (double)x[i] * inverse;
    at = at > -limit ? at : -limit; /* a NaN too */
    at = at < limit ? at : limit;
    int32_t cut = (int32_t)at, low = cut - (at < (double)cut);
    odd |= !(at > -usual) | !(at < usual);
    cell[i] = low;
  }
  return !odd;
}

bool KERNEL(fine_zero)(const float *v, int64_t count) {
  int32_t differs = 0;
  for (int64_t i = 0; i < count; i++) differs |= v[i] != 0;
  return !differs;
}

bool KERNEL(fine_equal)(const float *a, const float *b, int64_t count) {
  int32_t differs = 0;
  for (int64_t i = 0; i < count; i++) differs |= a[i] != b[i];
  return !differs;
}

WIDE_INLINE Wide eight_load(const float *p) { return wide_load(p); }
WIDE_INLINE void eight_store(float *p, Wide v) { wide_store(p, v); }
WIDE_INLINE Wide eight_set(float v) { return wide_set(v); }
WIDE_INLINE Wide eight_min(Wide a, Wide b) { return wide_min(a, b); }
WIDE_INLINE Wide eight_max(Wide a, Wide b) { return wide_max(a, b); }
WIDE_INLINE unsigned eight_less(Wide a, Wide b) { return wide_bits(wide_less(a, b)); }
WIDE_INLINE Wide eight_keep_less(Wide v, Wide a, Wide b) { return (Wide)((WideInt)v & wide_less(a, b)); }
WIDE_INLINE void eight_pack(int32_t *out, unsigned bits, const int32_t *values, const uint64_t *table) {
  wide_pack(out, bits, values, table);
}
#define SUMS(name) eight_##name
#define SUMS_INLINE WIDE_INLINE
#define SUMS_LANES LANES
#define SumsLanes Wide
#include "upsample/sums_lanes.h"

/* Sixteen lanes, where the processor has them: twice the sums in the same time. */
#ifdef SIXTEEN_TARGET
SIXTEEN_INLINE Sixteen sixteen_keep_less(Sixteen v, Sixteen a, Sixteen b) {
  return (Sixteen)_mm512_maskz_mov_ps(_mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OS), (__m512)v);
}
SIXTEEN_INLINE void sixteen_pack(int32_t *out, unsigned bits, const int32_t *values, const uint64_t *table) {
  (void)table;
  _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)bits, _mm512_loadu_si512(values)));
}
#define SUMS(name) sixteen_##name
#define SUMS_INLINE SIXTEEN_INLINE
#define SUMS_LANES SIXTEEN
#define SumsLanes Sixteen
#include "upsample/sums_lanes.h"
#endif

#ifdef SIXTEEN_TARGET
SIXTEEN_TARGET static void near_by_sixteen(const float *x, const float *y, const float *z, const int32_t *index,
                                           int64_t b, int64_t e, const float bounds[6], float reach2,
                                           const uint64_t *pack, Candidates *to) {
  sixteen_gather(x, y, z, index, b, e, bounds, reach2, pack, to);
}
#endif

static void near_box(const float *x, const float *y, const float *z, const int32_t *index, int64_t b, int64_t e,
                     const float bounds[6], float reach2, const uint64_t *pack, Candidates *to) {
#ifdef SIXTEEN_TARGET
  if (sixteen_lanes()) {
    near_by_sixteen(x, y, z, index, b, e, bounds, reach2, pack, to);
    return;
  }
#endif
  eight_gather(x, y, z, index, b, e, bounds, reach2, pack, to);
}

void KERNEL(coarse_near)(const CoarseSet *set, int64_t b, int64_t e, const float bounds[6], float reach2,
                         const uint64_t *pack, Candidates *candidates) {
  near_box(set->x, set->y, set->z, NULL, b, e, bounds, reach2, pack, candidates);
}

void KERNEL(candidates_narrow)(const Candidates *from, const float bounds[6], float reach2, const uint64_t *pack,
                               Candidates *to) {
  to->count = 0;
  near_box(from->x, from->y, from->z, from->index, 0, from->count, bounds, reach2, pack, to);
}

#ifdef SIXTEEN_TARGET
/* As many grains as fill sixteen lanes; answers where it stopped. */
SIXTEEN_TARGET static int64_t sums_by_sixteen(const CoarseSet *set, const Candidates *candidates, int32_t *list,
                                              float reach2, bool squares, const uint64_t *pack, FineBlock *block,
                                              int64_t *effort) {
  int64_t g = 0;
  for (; g + SIXTEEN <= block->padded; g += SIXTEEN)
    *effort += sixteen_group(set, candidates, list, reach2, squares, pack, block, g);
  return g;
}
#endif

int64_t KERNEL(fine_sums)(const CoarseSet *set, const Candidates *candidates, int32_t *list, float reach2, bool squares,
                          const uint64_t *pack, FineBlock *block) {
  int64_t g = 0, effort = candidates->count * (block->padded / LANES);
#ifdef SIXTEEN_TARGET
  if (sixteen_lanes()) g = sums_by_sixteen(set, candidates, list, reach2, squares, pack, block, &effort);
#endif
  for (; g < block->padded; g += LANES) effort += eight_group(set, candidates, list, reach2, squares, pack, block, g);
  return effort;
}

void KERNEL(fine_add_samples)(const CoarseSet *set, const Candidates *candidates, int32_t *list, float reach2,
                              bool rule, const uint64_t *pack, FineBlock *block) {
  for (int64_t g = 0; g < block->padded; g += LANES) {
    int64_t count = eight_list(candidates, block, g, reach2, pack, list);
    if (count == 0) continue;
    eight_Values s = eight_pairs(set->rows, list, count, block, g, reach2, false, false);
    Wide sum = wide_load(block->sum + g);
    const Wide zero = wide_set(0);
    WideInt counts = rule ? wide_less(zero, sum) : wide_less_equal(zero, sum);
    wide_store(block->sum + g, sum + wide_select(counts, s.sum, zero));
    wide_store(block->sum_x + g, wide_load(block->sum_x + g) + wide_select(counts, s.x, zero));
    wide_store(block->sum_y + g, wide_load(block->sum_y + g) + wide_select(counts, s.y, zero));
    wide_store(block->sum_z + g, wide_load(block->sum_z + g) + wide_select(counts, s.z, zero));
    wide_store(block->top + g, wide_max(wide_load(block->top + g), wide_select(counts, s.top, zero)));
  }
}

/* Keeps the velocity and where it takes the grains; answers zero, or a NaN where one of the places is not finite. */
WIDE_INLINE Wide send(FineBlock *block, int64_t g, Wide dt, Wide vx, Wide vy, Wide vz) {
  wide_store(block->vx + g, vx);
  wide_store(block->vy + g, vy);
  wide_store(block->vz + g, vz);
  Wide to_x = wide_load(block->x + g) + dt * vx;
  wide_store(block->to_x + g, to_x);
  Wide to_y = wide_load(block->y + g) + dt * vy;
  wide_store(block->to_y + g, to_y);
  Wide to_z = wide_load(block->z + g) + dt * vz;
  wide_store(block->to_z + g, to_z);
  return (to_x - to_x) + (to_y - to_y) + (to_z - to_z);
}

/* Section 4: alpha = 1 - max w where max w <= c1 or max w / sum >= c2, else 0; c1 = 512/729 = (1 - 1/9)^3, c2 = 0.6. */
void KERNEL(fine_move_paper)(const FineLaw *law, FineBlock *block) {
  Wide check = wide_set(0);
  const Wide zero = wide_set(0), one = wide_set(1), dt = wide_set(law->dt);
  const Wide whole = wide_set(law->reach2 * law->reach2 * law->reach2);
  for (int64_t g = 0; g < block->padded; g += LANES) {
    Wide sum = wide_load(block->sum + g), top = wide_load(block->top + g);
    Wide largest = top * top * top;
    WideInt sparse =
        wide_less_equal(largest, wide_set(512.0f / 729.0f) * whole) | wide_less_equal(wide_set(0.6f) * sum, largest);
    Wide alpha = wide_select(sparse, one - largest / whole, zero), rest = one - alpha;
    Wide scale = wide_select(wide_less(zero, sum), rest / wide_max(sum, wide_set(TINY)), zero);
    Wide vx = scale * wide_load(block->sum_x + g) + alpha * (wide_load(block->vx + g) + law->gain[0]);
    Wide vy = scale * wide_load(block->sum_y + g) + alpha * (wide_load(block->vy + g) + law->gain[1]);
    Wide vz = scale * wide_load(block->sum_z + g) + alpha * (wide_load(block->vz + g) + law->gain[2]);
    check += send(block, g, dt, vx, vy, vz);
  }
  block->finite = wide_sum(check) == 0;
}

/* Air: a = k |u| u with u = wind - v, taken implicitly so that no k is too large: answers k |u| dt. */
WIDE_INLINE Wide air(const FineLaw *law, Wide vx, Wide vy, Wide vz) {
  Wide ux = law->wind[0] - vx, uy = law->wind[1] - vy, uz = law->wind[2] - vz;
  return wide_set(law->air_drag * law->dt) * wide_sqrt(ux * ux + uy * uy + uz * uz);
}

void KERNEL(fine_move_better)(const FineLaw *law, FineBlock *block) {
  Wide check = wide_set(0), fastest = wide_set(0);
  const Wide zero = wide_set(0), one = wide_set(1), dt = wide_set(law->dt);
  const Wide window = wide_set(1 / (law->free2 - law->covered2));
  for (int64_t g = 0; g < block->padded; g += LANES) {
    Wide sum = wide_load(block->sum + g), top = wide_load(block->top + g);
    Wide share = wide_select(wide_less(zero, sum), one / wide_max(sum, wide_set(TINY)), zero);
    Wide mx = share * wide_load(block->sum_x + g), my = share * wide_load(block->sum_y + g),
         mz = share * wide_load(block->sum_z + g);
    Wide near2 = law->reach2 - top; /* square of the distance to the nearest coarse centre */
    Wide alpha = wide_min(wide_max((near2 - law->covered2) * window, zero), one);
    Wide vx = wide_load(block->vx + g), vy = wide_load(block->vy + g), vz = wide_load(block->vz + g);
    Wide fx = vx + law->gain[0], fy = vy + law->gain[1], fz = vz + law->gain[2];
    if (law->air_drag > 0) {
      Wide k = air(law, vx, vy, vz), damp = one / (one + k);
      fx = (fx + k * law->wind[0]) * damp, fy = (fy + k * law->wind[1]) * damp, fz = (fz + k * law->wind[2]) * damp;
    }
    if (law->blow > HELD * law->gravity) {
      /* Wind takes grains that lie bare: few coarse ones round them, and a force that beats their hold. What begins to
       * move is lifted as long as it is near the ground, else it would only be pressed into it. */
      Wide bare = wide_min(wide_max(one - sum * (1 / (BARE * law->reach2 * law->reach2 * law->reach2)), zero), one);
      Wide rise = 4 * law->blow / law->gravity * bare * (one - bare);
      alpha = wide_select(wide_less(wide_set(HELD * law->gravity), law->blow * bare), one, alpha);
      fx -= rise * law->gain[0], fy -= rise * law->gain[1], fz -= rise * law->gain[2];
    }
    Wide with = one - alpha;
    vx = with * mx + alpha * fx, vy = with * my + alpha * fy, vz = with * mz + alpha * fz;
    /* Variance of the velocities round it, without what rounding makes of equal ones. */
    Wide mean2 = mx * mx + my * my + mz * mz;
    Wide variance = wide_max(share * wide_load(block->square + g) - mean2 * 1.00001f, zero);
    Wide spread = with * wide_sqrt(variance);
    wide_store(block->spread + g, spread);
    wide_store(block->loose + g, alpha);
    check += send(block, g, dt, vx, vy, vz);
    fastest = wide_max(wide_sqrt(vx * vx + vy * vy + vz * vz) + law->stir * spread, fastest);
  }
  block->finite = wide_sum(check) == 0;
  block->farthest = law->dt * lanes_max(fastest)[0];
}
