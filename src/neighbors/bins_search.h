/* Searching the bins. For *_kernels.c files only. */
#ifndef NEIGHBORS_BINS_SEARCH_H
#define NEIGHBORS_BINS_SEARCH_H

#include "core/narrow.h"
#include "neighbors/bins.h"

enum { BINS_NOBODY = -1 };

/* A place to search round. */
typedef struct BinPlace {
  int32_t x, y, z; /* units */
  int16_t radius;
} BinPlace;

WIDE_INLINE int16_t bins_radius(const Bins *bins, float radius) {
  /* Rounded up, and a unit for the rounding of each coordinate. */
  return (int16_t)((double)(radius + 0.5f * bins->margin) * bins->scale * (1 << BINS_LOW_BITS) + 5);
}

/* Runs of points round a place in the table: cut where they run over its end, and none twice where rows fall together.
 */
static inline int bins_hashed(const int32_t *start, uint32_t mask, const int32_t low[3],
                              int32_t ranges[BINS_RANGES][2]) {
  int64_t first[BINS_RANGES], last[BINS_RANGES], size = (int64_t)mask + 1;
  int count = 0, kept = 0;
  for (int row = 0; row < BINS_ROWS; row++) {
    int64_t entry = (bins_hash(low[1] + (row & 1), low[2] + (row >> 1)) + (uint32_t)low[0]) & mask;
    for (int64_t left = BINS_RUN; left > 0;) {
      int64_t run = entry + left > size ? size - entry : left;
      int k = count++;
      for (; k > 0 && first[k - 1] > entry; k--) {
        first[k] = first[k - 1];
        last[k] = last[k - 1];
      }
      first[k] = entry;
      last[k] = entry + run;
      left -= run;
      entry = 0;
    }
  }
  for (int64_t k = 0, done = 0; k < count; k++) {
    if (first[k] < done) first[k] = done;
    if (last[k] <= first[k]) continue;
    done = last[k];
    ranges[kept][0] = start[first[k]];
    ranges[kept++][1] = start[last[k]];
  }
  return kept;
}

/* How far apart bins are that follow each other along y or z, where they are numbered through. */
static inline int64_t bins_along_z(const Bins *bins) { return bins->size[0]; }
static inline int64_t bins_along_y(const Bins *bins) { return (int64_t)bins->size[0] * bins->size[2]; }

/* Whether a place may be near any point at all; a point of the bins is. */
WIDE_INLINE bool bins_cover(const Bins *bins, BinPlace place) {
  const int64_t x = ((place.x - BINS_REACH) >> BINS_BIN_BITS) - (int64_t)bins->low[0],
                y = ((place.y - BINS_REACH) >> BINS_ROW_BITS) - (int64_t)bins->low[1],
                z = ((place.z - BINS_REACH) >> BINS_ROW_BITS) - (int64_t)bins->low[2];
  return bins->hashed || (x >= 0 && y >= 0 && z >= 0 && x + BINS_RUN <= bins->size[0] && y + 2 <= bins->size[1] &&
                          z + 2 <= bins->size[2]);
}

/* A place as the points of the bins are, sixteen abreast. */
typedef struct NarrowPlace {
  Narrow x, y, z, radius;
} NarrowPlace;

WIDE_INLINE NarrowPlace narrow_place(BinPlace place) {
  return (NarrowPlace){narrow_set((int16_t)((uint32_t)place.x << BINS_LOW_BITS)),
                       narrow_set((int16_t)((uint32_t)place.y << BINS_LOW_BITS)),
                       narrow_set((int16_t)((uint32_t)place.z << BINS_LOW_BITS)), narrow_set(place.radius)};
}

/* Squares of the distances of the sixteen points from k on, and what they are to be below. */
WIDE_INLINE Narrow bins_far(const Bins *bins, const NarrowPlace *at, int64_t k) {
  return narrow_square(at->x - narrow_load(bins->x + k)) + narrow_square(at->y - narrow_load(bins->y + k)) +
         narrow_square(at->z - narrow_load(bins->z + k));
}
WIDE_INLINE Narrow bins_limit(const Bins *bins, const NarrowPlace *at, int64_t k, bool differ) {
  return differ ? narrow_square(at->radius + narrow_load(bins->radius + k)) + 1 : narrow_set(bins->limit);
}

/* Sixteen points from k on, of which those with bits are to be written. */
WIDE_INLINE int32_t *bins_write(const Bins *bins, int64_t k, unsigned near, int32_t *out) {
  unsigned first = near & 0xff, second = near >> 8;
  wide_pack(out, first, bins->index + k, pack_lanes);
  out += __builtin_popcount(first);
  wide_pack(out, second, bins->index + k + LANES, pack_lanes);
  return out + __builtin_popcount(second);
}

/* Which of the `left` points from k on, sixteen at most, are within reach; not the one at `self`. */
WIDE_INLINE int32_t *bins_block(const Bins *bins, const NarrowPlace *at, int64_t k, int32_t left, int64_t self,
                                bool differ, int32_t *out) {
  unsigned near = narrow_larger(bins_limit(bins, at, k, differ), bins_far(bins, at, k)) & ((1u << left) - 1);
  if (self >= k && self < k + NARROW_LANES) near &= ~(1u << (self - k));
  return bins_write(bins, k, near, out);
}

/* The points of a run that are within reach. Most runs are no longer than sixteen. Beyond the limit: there was no room
 * for them. */
WIDE_INLINE int32_t *bins_run(const Bins *bins, const NarrowPlace *at, int64_t k, int64_t end, int64_t self,
                              bool differ, int32_t *out, const int32_t *limit) {
  if (__builtin_expect(end - k > NARROW_LANES, 0)) {
    if (limit - out < end - k) return (int32_t *)limit + 1;
    for (; end - k > NARROW_LANES; k += NARROW_LANES) out = bins_block(bins, at, k, NARROW_LANES, self, differ, out);
  }
  return bins_block(bins, at, k, (int32_t)(end - k), self, differ, out);
}

/* The points within reach of a place that the bins cover. Returns where they end. When that is beyond the limit, some
 * may be missing: there was not room enough. Behind the limit there must be room for BINS_SPILL. `bins` is best a copy
 * of the caller's own, `differ` what it says of the radii. */
enum { BINS_SPILL = BINS_RANGES * NARROW_LANES + LANES };
WIDE_INLINE int32_t *bins_near(const Bins *bins, BinPlace place, bool differ, int32_t *out, const int32_t *limit) {
  const int32_t low[3] = {(place.x - BINS_REACH) >> BINS_BIN_BITS, (place.y - BINS_REACH) >> BINS_ROW_BITS,
                          (place.z - BINS_REACH) >> BINS_ROW_BITS};
  const NarrowPlace at = narrow_place(place);
  if (__builtin_expect(bins->hashed, 0)) {
    int32_t ranges[BINS_RANGES][2];
    for (int r = 0, count = bins_hashed(bins->start, bins->mask, low, ranges); r < count; r++)
      out = bins_run(bins, &at, ranges[r][0], ranges[r][1], BINS_NOBODY, differ, out, limit);
    return out;
  }
  const int64_t y = bins_along_y(bins), z = bins_along_z(bins);
  const int32_t *start =
      bins->start + (low[2] - bins->low[2]) * z + (low[1] - bins->low[1]) * y + low[0] - bins->low[0];
#pragma GCC unroll 1
  for (int row = 0; row < BINS_ROWS; row++) {
    out = bins_run(bins, &at, start[0], start[BINS_RUN], BINS_NOBODY, differ, out, limit);
    start += row & 1 ? z - y : y;
  }
  return out;
}

/* The points of a bin, of bins that are numbered through, look into the same bins along x and, by the half of their row
 * that they are in, into two of three rows along y and along z. */
typedef struct BinRound {
  const int32_t *corners[BINS_ROWS]; /* where the first of four runs begins: by upper half in y + 2 upper half in z */
  int64_t run;                       /* first point of the run that the bin's own are in */
} BinRound;

WIDE_INLINE BinRound bins_round(const Bins *bins, int64_t bin) {
  const int64_t y = bins_along_y(bins), z = bins_along_z(bins);
  const int32_t *own = bins->start + bin - BINS_RUN / 2;
  return (BinRound){{own - z - y, own - z, own - y, own}, own[0]};
}

WIDE_INLINE NarrowPlace bins_place(const Bins *bins, int64_t k, bool differ) {
  return (NarrowPlace){narrow_set(bins->x[k]), narrow_set(bins->y[k]), narrow_set(bins->z[k]),
                       narrow_set(differ ? bins->radius[k] : 0)};
}

/* The points of a run that are within reach of point `self`: for runs that are not short. */
static __attribute__((noinline, unused)) int32_t *bins_long_run(const Bins *bins, int64_t k, int64_t end, int64_t self,
                                                                bool differ, int32_t *out, const int32_t *limit) {
  const NarrowPlace at = bins_place(bins, self, differ);
  return bins_run(bins, &at, k, end, self, differ, out, limit);
}

/* The points of two runs that are within reach of point `self`. Bits of `leave` are set for those of the first sixteen
 * of the first run and of the second that are not to be found. */
WIDE_INLINE int32_t *bins_two_runs(const Bins *bins, const NarrowPlace *at, const int32_t *first, const int32_t *second,
                                   uint32_t leave, int64_t self, bool differ, int32_t *out, const int32_t *limit) {
  const int64_t a = first[0], b = second[0], a_end = first[BINS_RUN], b_end = second[BINS_RUN];
  const uint32_t a_points = (uint32_t)(a_end - a), b_points = (uint32_t)(b_end - b);
  if (__builtin_expect((a_points | b_points) >= 2 * NARROW_LANES, 0)) {
    out = bins_long_run(bins, a, a_end, self, differ, out, limit);
    return bins_long_run(bins, b, b_end, self, differ, out, limit);
  }
  uint32_t near = narrow_larger_two(bins_limit(bins, at, a, differ), bins_far(bins, at, a),
                                    bins_limit(bins, at, b, differ), bins_far(bins, at, b));
  near &= (uint16_t)((1u << a_points) - 1) | ((1u << b_points) - 1) << NARROW_LANES;
  near &= ~leave;
  out = bins_write(bins, a, near & 0xffff, out);
  if (__builtin_expect(a_points > NARROW_LANES, 0))
    out = bins_long_run(bins, a + NARROW_LANES, a_end, self, differ, out, limit);
  out = bins_write(bins, b, near >> NARROW_LANES, out);
  if (__builtin_expect(b_points > NARROW_LANES, 0))
    out = bins_long_run(bins, b + NARROW_LANES, b_end, self, differ, out, limit);
  return out;
}

/* The points within reach of the k-th, which is in that bin, without itself; as bins_near. */
WIDE_INLINE int32_t *bins_near_point(const Bins *bins, const BinRound *round, int64_t k, bool differ, int32_t *out,
                                     const int32_t *limit) {
  enum { HALF = BINS_REACH_BITS + BINS_LOW_BITS };
  const NarrowPlace at = bins_place(bins, k, differ);
  const unsigned upper = ((uint16_t)bins->y[k] >> HALF & 1u) | ((uint16_t)bins->z[k] >> (HALF - 1) & 2u);
  const int64_t y = bins_along_y(bins), z = bins_along_z(bins);
  const int32_t *start = round->corners[upper];
  const uint64_t before = (uint64_t)(k - round->run), own = BINS_ROWS - 1 - upper;
  const uint64_t leave = (uint64_t)(before < NARROW_LANES) << ((NARROW_LANES * own + before) & 63);
  out = bins_two_runs(bins, &at, start, start + y, (uint32_t)leave, k, differ, out, limit);
  start += z;
  return bins_two_runs(bins, &at, start, start + y, (uint32_t)(leave >> 32), k, differ, out, limit);
}

#endif
