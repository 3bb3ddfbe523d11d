/* The inner loop of the neighbour search. */
#include "neighbors/grid.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if SIMD_LEVEL == 1
WIDE_INLINE unsigned lanes_bits(WideInt mask) { return (unsigned)_mm256_movemask_ps((__m256)mask); }

/* Stores base + k for each set bit k, ascending, and rubbish behind. */
WIDE_INLINE void lanes_pack(int32_t *out, unsigned bits, int32_t base) {
  uint64_t spread = _pdep_u64(bits, 0x0101010101010101u) * 0xff;
  __m128i lanes = _mm_cvtsi64_si128((int64_t)_pext_u64(0x0706050403020100u, spread));
  _mm256_storeu_si256((__m256i *)out, _mm256_add_epi32(_mm256_cvtepu8_epi32(lanes), _mm256_set1_epi32(base)));
}
#else
WIDE_INLINE unsigned lanes_bits(WideInt mask) {
#if defined(__SSE2__)
  __m128 half[2];
  memcpy(half, &mask, sizeof mask);
  return (unsigned)_mm_movemask_ps(half[0]) | (unsigned)_mm_movemask_ps(half[1]) << 4;
#else
  unsigned bits = 0;
  for (int k = 0; k < LANES; k++) bits |= (unsigned)(mask[k] & 1) << k;
  return bits;
#endif
}

WIDE_INLINE void lanes_pack(int32_t *out, unsigned bits, int32_t base) {
  for (; bits; bits &= bits - 1) *out++ = base + __builtin_ctz(bits);
}
#endif

typedef struct Query {
  float x, y, z, radius;
  int32_t self;
} Query;

/* Appends the hits among the points [b, e) of the grid's order. */
WIDE_INLINE int32_t *range_find(const RowsJob *job, Query query, int64_t b, int64_t e, bool radii, int32_t *out) {
  const CellGrid *grid = job->grid;
  const Wide x = wide_set(query.x), y = wide_set(query.y), z = wide_set(query.z);
  const WideInt lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  float limit = job->reach * job->reach;
  for (int64_t k = b; k < e; k += LANES) {
    if (k + LANES > grid->count) { /* too near the end of the arrays for whole blocks */
      for (; k < e; k++) {
        float dx = grid->x[k] - query.x, dy = grid->y[k] - query.y, dz = grid->z[k] - query.z;
        if (radii) {
          float reach = job->reach * (query.radius + job->target_radius[k]);
          limit = reach * reach;
        }
        *out = (int32_t)k;
        out += dx * dx + dy * dy + dz * dz <= limit && k != query.self;
      }
      break;
    }
    Wide dx = wide_load(grid->x + k) - x, dy = wide_load(grid->y + k) - y, dz = wide_load(grid->z + k) - z;
    Wide limits = wide_set(limit);
    if (radii) {
      Wide reach = wide_set(job->reach) * (wide_set(query.radius) + wide_load(job->target_radius + k));
      limits = reach * reach;
    }
    int32_t left = e - k < LANES ? (int32_t)(e - k) : LANES, self = query.self - (int32_t)k;
    WideInt hit = (dx * dx + dy * dy + dz * dz <= limits) & (lanes < left) & (lanes != self);
    unsigned bits = lanes_bits(hit);
    lanes_pack(out, bits, (int32_t)k);
    out += __builtin_popcount(bits);
  }
  return out;
}

WIDE_INLINE int64_t rows_find(const RowsJob *job, int64_t b, int64_t e, int32_t *out, int64_t room, int64_t *ends,
                              int64_t *wanted, bool radii) {
  const CellGrid *grid = job->grid;
  Surroundings around = {.key = UINT64_MAX};
  int32_t cx[BLOCK], cy[BLOCK], cz[BLOCK], *at = out;
  for (int64_t block = b; block < e; block += BLOCK) {
    int64_t end = block + BLOCK < e ? block + BLOCK : e;
    bool good = KERNEL(cells_of)(job->queries.x + block, end - block, grid->inverse, cx);
    good &= KERNEL(cells_of)(job->queries.y + block, end - block, grid->inverse, cy);
    good &= KERNEL(cells_of)(job->queries.z + block, end - block, grid->inverse, cz);
    if (!good) {
      *wanted = -1;
      return block;
    }
    for (int64_t i = block; i < end; i++) {
      int64_t q = i - block;
      surroundings_find(grid, cx[q], cy[q], cz[q], &around);
      int lane = (cx[q] + COORDINATE_BIAS) & (STRIP - 1);
      Query query = {job->queries.x[i], job->queries.y[i], job->queries.z[i], radii ? job->query_radius[i] : 0,
                     job->same ? (int32_t)i : -1};
      int64_t most = LANES;
      for (int r = 0; r < 9; r++) most += around.start[r][lane + 3] - around.start[r][lane];
      if (at - out + most > room) {
        *wanted = at - out + most;
        return i;
      }
      for (int r = 0; r < 9; r++) {
        const int32_t *start = around.start[(int)around.order[r]];
        at = range_find(job, query, start[lane], start[lane + 3], radii, at);
      }
      ends[i - b] = at - out;
    }
  }
  return e;
}

int64_t KERNEL(rows_find)(const RowsJob *job, int64_t b, int64_t e, int32_t *out, int64_t room, int64_t *ends,
                          int64_t *wanted) {
  return job->target_radius ? rows_find(job, b, e, out, room, ends, wanted, true)
                            : rows_find(job, b, e, out, room, ends, wanted, false);
}
