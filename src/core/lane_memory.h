/* Lanes from and to memory, and masks as bits: for kernels that are written over the lanes of core/lane.h and compiled
 * for eight and for sixteen of them. Not for laws, which have no pointers. */
#ifndef CORE_LANE_MEMORY_H
#define CORE_LANE_MEMORY_H

#include <string.h>

#include "core/lane.h"

#if LANE_WIDTH < 16

LANE_INLINE Real lane_load(const float *p) { return wide_load(p); }
LANE_INLINE void lane_store(float *p, Real v) { wide_store(p, v); }
/* Bit k is set where the mask holds in lane k. */
LANE_INLINE unsigned lane_bits(Mask mask) { return wide_bits(mask); }
#if LANE_WIDTH == 8
/* Stores the values of the set lanes one behind the other, and undefined values behind them: room for all lanes is
 * needed. */
LANE_INLINE void lane_pack(int32_t *out, unsigned bits, const int32_t *values) {
  wide_pack(out, bits, values, pack_lanes);
}
#endif

LANE_INLINE Int lane_gather_int(const int32_t *base, Int i) {
  Int v;
  for (int k = 0; k < LANE_WIDTH; k++) v[k] = base[i[k]];
  return v;
}
/* base[i] and base[i + 1]. */
LANE_INLINE void lane_gather2(const float *base, const int32_t *i, Real *first, Real *second) {
  wide_gather2(base, i, first, second);
}

#elif LANE_WIDTH == 16

LANE_INLINE Real lane_load(const float *p) { return (Real)_mm512_loadu_ps(p); }
LANE_INLINE void lane_store(float *p, Real v) { _mm512_storeu_ps(p, (__m512)v); }
LANE_INLINE unsigned lane_bits(Mask mask) { return mask & 0xffff; }
LANE_INLINE void lane_pack(int32_t *out, unsigned bits, const int32_t *values) {
  _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)bits, _mm512_loadu_si512(values)));
}
LANE_INLINE Int lane_gather_int(const int32_t *base, Int i) { return (Int)_mm512_i32gather_epi32((__m512i)i, base, 4); }
/* Each two in one load. */
LANE_INLINE void lane_gather2(const float *base, const int32_t *i, Real *first, Real *second) {
  __m512d low = _mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)i), base, 4);
  __m512d high = _mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)(i + 8)), base, 4);
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  *first = (Real)_mm512_permutex2var_ps(_mm512_castpd_ps(low), even, _mm512_castpd_ps(high));
  *second = (Real)_mm512_permutex2var_ps(_mm512_castpd_ps(low), odd, _mm512_castpd_ps(high));
}

#endif

LANE_INLINE LaneVec3 lane_load3(const float *x, const float *y, const float *z) {
  return vec_make(lane_load(x), lane_load(y), lane_load(z));
}
LANE_INLINE void lane_store3(float *x, float *y, float *z, LaneVec3 v) {
  lane_store(x, v.x);
  lane_store(y, v.y);
  lane_store(z, v.z);
}
/* The first `count` lanes; the others are zero. */
LANE_INLINE Real lane_load_few(const float *p, int64_t count) {
  if (count >= LANE_WIDTH) return lane_load(p);
  Real v = real(0);
  memcpy(&v, p, sizeof *p * (size_t)count);
  return v;
}
LANE_INLINE void lane_store_few(float *p, Real v, int64_t count) {
  if (count >= LANE_WIDTH) lane_store(p, v);
  else memcpy(p, &v, sizeof *p * (size_t)count);
}

#endif
