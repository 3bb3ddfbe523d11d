/* Searching the bins. For *_kernels.c files only. */
#ifndef NEIGHBORS_BINS_SEARCH_H
#define NEIGHBORS_BINS_SEARCH_H

#include "core/narrow.h"
#include "neighbors/bins.h"

enum { BINS_RANGES = 8 };

/* A place to search round. */
typedef struct BinPlace {
  int32_t x, y, z; /* units */
  int16_t radius;
} BinPlace;

WIDE_INLINE int16_t bins_radius(const Bins *bins, float radius) {
  /* Rounded up, and a unit for the rounding of each coordinate. */
  return (int16_t)((double)(radius + 0.5f * bins->margin) * bins->scale * (1 << BINS_LOW_BITS) + 5);
}

static inline uint32_t bins_hash(int32_t y, int32_t z) {
  uint64_t key = (uint64_t)(uint32_t)y << 32 | (uint32_t)z;
  return (uint32_t)(((key ^ key >> 29) * 0x9e3779b97f4a7c15u) >> 32);
}

/* Runs of points round a place in the table: cut where they run over its end, and none twice where rows fall together.
 */
static inline int bins_hashed(const int32_t *start, uint32_t mask, const int32_t low[3],
                              int32_t ranges[BINS_RANGES][2]) {
  int64_t first[BINS_RANGES], last[BINS_RANGES], size = (int64_t)mask + 1;
  int count = 0, kept = 0;
  for (int row = 0; row < 4; row++) {
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

/* Which of the `left` points from k on, sixteen at most, are within reach. */
WIDE_INLINE int32_t *bins_block(const Bins *bins, const NarrowPlace *at, int64_t k, int32_t left, bool differ,
                                int32_t *out) {
  Narrow far = narrow_square(at->x - narrow_load(bins->x + k)) + narrow_square(at->y - narrow_load(bins->y + k)) +
               narrow_square(at->z - narrow_load(bins->z + k));
  Narrow limit = narrow_set(bins->limit);
  if (differ) limit = narrow_square(at->radius + narrow_load(bins->radius + k)) + 1;
  unsigned near = narrow_larger(limit, far) & ((1u << left) - 1), first = near & 0xff, second = near >> 8;
  wide_pack(out, first, bins->index + k, pack_lanes);
  out += __builtin_popcount(first);
  wide_pack(out, second, bins->index + k + LANES, pack_lanes);
  return out + __builtin_popcount(second);
}

/* The points of a run that are within reach. Most runs are no longer than sixteen. */
WIDE_INLINE int32_t *bins_run(const Bins *bins, const NarrowPlace *at, int64_t k, int64_t end, bool differ,
                              int32_t *out, const int32_t *limit) {
  if (__builtin_expect(end - k > NARROW_LANES, 0)) {
    if (limit - out < end - k) return NULL;
    for (; end - k > NARROW_LANES; k += NARROW_LANES) out = bins_block(bins, at, k, NARROW_LANES, differ, out);
  }
  return bins_block(bins, at, k, (int32_t)(end - k), differ, out);
}

/* The points within reach of a point of the bins, or of a place that they cover. Answers where they end; NULL where
 * there might not be room before the limit, behind which there is room for BINS_SPILL more. `bins` is best a copy of
 * the caller's own, `differ` what it says of the radii. */
enum { BINS_SPILL = BINS_RANGES * NARROW_LANES + LANES };
WIDE_INLINE int32_t *bins_near(const Bins *bins, BinPlace place, bool differ, int32_t *out, const int32_t *limit) {
  const int32_t low[3] = {(place.x - BINS_REACH) >> BINS_BIN_BITS, (place.y - BINS_REACH) >> BINS_ROW_BITS,
                          (place.z - BINS_REACH) >> BINS_ROW_BITS};
  const NarrowPlace at = narrow_place(place);
  if (out > limit) return NULL;
  if (__builtin_expect(bins->hashed, 0)) {
    int32_t ranges[BINS_RANGES][2];
    for (int r = 0, count = bins_hashed(bins->start, bins->mask, low, ranges); r < count && out; r++)
      out = bins_run(bins, &at, ranges[r][0], ranges[r][1], differ, out, limit);
    return out;
  }
  const int64_t across = bins->size[0], layer = across * bins->size[1];
  const int32_t *start =
      bins->start + (low[2] - bins->low[2]) * layer + (low[1] - bins->low[1]) * across + low[0] - bins->low[0];
#pragma GCC unroll 1
  for (int row = 0; row < 4 && out; row++) {
    out = bins_run(bins, &at, start[0], start[BINS_RUN], differ, out, limit);
    start += row & 1 ? layer - across : across;
  }
  return out;
}

#endif
