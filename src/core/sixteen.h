/* Sixteen lanes, where the processor has them. For the inner loops of *_kernels.c that are worth a second version:
 * every lane does the same operations in the same order as with eight, so that the bits are the same.
 *
 *   #ifdef SIXTEEN_TARGET
 *   SIXTEEN_TARGET static int64_t loop_by_sixteen(...);   made of SIXTEEN_INLINE functions
 *   #endif
 *
 * and, inside the kernel, `if (sixteen_lanes()) ...` within the same #ifdef. */
#ifndef CORE_SIXTEEN_H
#define CORE_SIXTEEN_H

#include "core/simd.h"

#if defined(__x86_64__) && SIMD_LEVEL == 1
#define SIXTEEN_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw")))
#define SIXTEEN_INLINE static inline __attribute__((always_inline, unused)) SIXTEEN_TARGET
enum { SIXTEEN = 16 };
typedef float Sixteen __attribute__((vector_size(64), aligned(64)));
typedef float SixteenUnaligned __attribute__((vector_size(64), aligned(4)));

SIXTEEN_INLINE Sixteen sixteen_load(const float *p) { return *(const SixteenUnaligned *)p; }
SIXTEEN_INLINE void sixteen_store(float *p, Sixteen v) { *(SixteenUnaligned *)p = v; }
SIXTEEN_INLINE Sixteen sixteen_set(float v) { return (Sixteen)_mm512_set1_ps(v); }
/* The second where the two are equal or one is NaN. */
SIXTEEN_INLINE Sixteen sixteen_min(Sixteen a, Sixteen b) { return (Sixteen)_mm512_min_ps((__m512)a, (__m512)b); }
SIXTEEN_INLINE Sixteen sixteen_max(Sixteen a, Sixteen b) { return (Sixteen)_mm512_max_ps((__m512)a, (__m512)b); }
SIXTEEN_INLINE unsigned sixteen_less(Sixteen a, Sixteen b) {
  return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OS);
}
SIXTEEN_INLINE Sixteen sixteen_select(unsigned mask, Sixteen yes, Sixteen no) {
  return (Sixteen)_mm512_mask_blend_ps((__mmask16)mask, (__m512)no, (__m512)yes);
}
/* base[i] and base[i + 1] for sixteen indices, each two in one load. */
SIXTEEN_INLINE void sixteen_gather2(const float *base, __m512i i, Sixteen *first, Sixteen *second) {
  __m512d low = _mm512_i32gather_pd(_mm512_castsi512_si256(i), base, 4);
  __m512d high = _mm512_i32gather_pd(_mm512_extracti64x4_epi64(i, 1), base, 4);
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  *first = (Sixteen)_mm512_permutex2var_ps(_mm512_castpd_ps(low), even, _mm512_castpd_ps(high));
  *second = (Sixteen)_mm512_permutex2var_ps(_mm512_castpd_ps(low), odd, _mm512_castpd_ps(high));
}

static inline bool sixteen_lanes(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif

#endif
