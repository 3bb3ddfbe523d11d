/* Sixteen lanes of 16-bit whole numbers. For *_kernels.c files only. */
#ifndef CORE_NARROW_H
#define CORE_NARROW_H

#include "core/simd.h"

enum { NARROW_LANES = 16 };
typedef int16_t Narrow __attribute__((vector_size(32), aligned(32)));
typedef int16_t NarrowUnaligned __attribute__((vector_size(32), aligned(2), may_alias));

WIDE_INLINE Narrow narrow_load(const int16_t *p) { return *(const NarrowUnaligned *)p; }
WIDE_INLINE Narrow narrow_set(int16_t v) { return (Narrow){v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v}; }

/* The upper half of a a, lane by lane. */
WIDE_INLINE Narrow narrow_square(Narrow a) {
#if defined(__AVX2__)
  return (Narrow)_mm256_mulhi_epi16((__m256i)a, (__m256i)a);
#elif defined(__SSE2__)
  union {
    Narrow whole;
    __m128i half[2];
  } parts = {a};
  for (int h = 0; h < 2; h++) parts.half[h] = _mm_mulhi_epi16(parts.half[h], parts.half[h]);
  return parts.whole;
#elif defined(__wasm_simd128__)
  union {
    Narrow whole;
    v128_t half[2];
  } parts = {a};
  /* Squares of the even lanes and of the odd ones, each in the 32 bits of two lanes. */
  const v128_t even = wasm_i32x4_const(0xffff, 0xffff, 0xffff, 0xffff);
  for (int h = 0; h < 2; h++) {
    v128_t v = parts.half[h], low = wasm_i32x4_dot_i16x8(v, wasm_v128_and(v, even)),
           high = wasm_i32x4_dot_i16x8(v, wasm_v128_andnot(v, even));
    parts.half[h] = wasm_v128_or(wasm_u32x4_shr(low, 16), wasm_v128_andnot(high, even));
  }
  return parts.whole;
#else
  for (int k = 0; k < NARROW_LANES; k++) a[k] = (int16_t)((int32_t)a[k] * a[k] >> 16);
  return a;
#endif
}

/* Bit k is set where lane k of a is larger than that of b; bits from NARROW_LANES on are rubbish. */
WIDE_INLINE unsigned narrow_larger(Narrow a, Narrow b) {
#if defined(__AVX2__)
  __m256i mask = _mm256_cmpgt_epi16((__m256i)a, (__m256i)b);
  unsigned bytes = (unsigned)_mm256_movemask_epi8(_mm256_packs_epi16(mask, _mm256_setzero_si256()));
  return bytes | bytes >> 8;
#elif defined(__SSE2__)
  union {
    Narrow whole;
    __m128i half[2];
  } left = {a}, right = {b};
  return (unsigned)_mm_movemask_epi8(
      _mm_packs_epi16(_mm_cmpgt_epi16(left.half[0], right.half[0]), _mm_cmpgt_epi16(left.half[1], right.half[1])));
#elif defined(__wasm_simd128__)
  union {
    Narrow whole;
    v128_t half[2];
  } left = {a}, right = {b};
  return wasm_i8x16_bitmask(
      wasm_i8x16_narrow_i16x8(wasm_i16x8_gt(left.half[0], right.half[0]), wasm_i16x8_gt(left.half[1], right.half[1])));
#else
  unsigned bits = 0;
  for (int k = 0; k < NARROW_LANES; k++) bits |= (unsigned)(a[k] > b[k]) << k;
  return bits;
#endif
}

/* The same for two pairs: the bits of the first, then those of the second. */
WIDE_INLINE uint32_t narrow_larger_two(Narrow a, Narrow b, Narrow c, Narrow d) {
#if defined(__AVX2__)
  __m256i first = _mm256_cmpgt_epi16((__m256i)a, (__m256i)b), second = _mm256_cmpgt_epi16((__m256i)c, (__m256i)d);
  __m256i halves = _mm256_packs_epi16(first, second); /* of the first, of the second, and once more */
  return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(halves, 0xd8));
#else
  return (narrow_larger(a, b) & 0xffff) | (uint32_t)narrow_larger(c, d) << NARROW_LANES;
#endif
}

#endif
