/* How kernels read the slots of a slice and the rows of its neighbours. */
#ifndef METHODS_SPH_SLOTS_H
#define METHODS_SPH_SLOTS_H

#include "core/lane.h"
#include "methods/sph/work.h"

/* Four floats of each neighbour, as four lane values; a row has `wide` times four floats, from `base` on. */
WIDE_INLINE void gather_rows(const float *base, size_t wide, const uint32_t *row, Real *x, Real *y, Real *z, Real *w) {
  wide_turn4(wide_rows(base + wide * row[0], base + wide * row[4]),
             wide_rows(base + wide * row[1], base + wide * row[5]),
             wide_rows(base + wide * row[2], base + wide * row[6]),
             wide_rows(base + wide * row[3], base + wide * row[7]), x, y, z, w);
}
/* The same of eight rows that follow each other. */
WIDE_INLINE void turn_rows(const float *base, size_t wide, Real *x, Real *y, Real *z, Real *w) {
  static const uint32_t row[LANES] = {0, 4, 8, 12, 16, 20, 24, 28};
  gather_rows(base, wide, row, x, y, z, w);
}
/* One float of each neighbour. */
WIDE_INLINE Real gather_every(const float *base, size_t wide, const uint32_t *row) {
  Real out;
  for (int k = 0; k < LANES; k++) out[k] = base[wide * row[k]];
  return out;
}

WIDE_INLINE LaneVec3 load_vec(float *const parts[3], int64_t i) {
  return vec_make(wide_load(parts[0] + i), wide_load(parts[1] + i), wide_load(parts[2] + i));
}
WIDE_INLINE void store_vec(float *const parts[3], int64_t i, LaneVec3 v) {
  wide_store(parts[0] + i, v.x);
  wide_store(parts[1] + i, v.y);
  wide_store(parts[2] + i, v.z);
}

/* Slots are read one after the other and from farther away than the gathered rows; the processor alone does not ask for
 * them early enough. Asked for so many slots ahead they come at nearly twice the rate. */
#define SLOTS_AHEAD 48

/* A slot's gradients, in their steps. */
WIDE_INLINE LaneVec3 load_gradient(const SphSlot *slot) {
  const char *ahead = (const char *)(slot + SLOTS_AHEAD);
  __builtin_prefetch(ahead);
  __builtin_prefetch(ahead + 64);
#if defined(__AVX2__) /* which the compiler would take apart */
  return vec_make((Wide)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)slot->x))),
                  (Wide)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)slot->y))),
                  (Wide)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)slot->z))));
#else
  typedef int16_t Narrow __attribute__((vector_size(16), aligned(2), may_alias));
  return vec_make(__builtin_convertvector(*(const Narrow *)slot->x, Wide),
                  __builtin_convertvector(*(const Narrow *)slot->y, Wide),
                  __builtin_convertvector(*(const Narrow *)slot->z, Wide));
#endif
}

#endif
