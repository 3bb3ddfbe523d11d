/* Four lanes in the place of the eight of core/simd.h, which includes this: one register of 16 bytes a value. Eight
 * lanes are two of them, and what a loop keeps then is more than sixteen registers hold. Each lane does what it does
 * among eight, so the bits are the same. */
#ifndef CORE_SIMD_HALF_H
#define CORE_SIMD_HALF_H

typedef float Wide __attribute__((vector_size(16), aligned(16)));
typedef int32_t WideInt __attribute__((vector_size(16), aligned(16)));
typedef float WideUnaligned __attribute__((vector_size(16), aligned(4)));
typedef int32_t WideIntUnaligned __attribute__((vector_size(16), aligned(4)));

WIDE_INLINE Wide wide_load(const float *p) { return *(const WideUnaligned *)p; }
WIDE_INLINE void wide_store(float *p, Wide v) { *(WideUnaligned *)p = v; }
WIDE_INLINE Wide wide_set(float v) { return (Wide){v, v, v, v}; }
WIDE_INLINE WideInt wide_load_int(const int32_t *p) { return *(const WideIntUnaligned *)p; }
WIDE_INLINE Wide wide_gather(const float *base, WideInt i) {
  return (Wide){base[i[0]], base[i[1]], base[i[2]], base[i[3]]};
}
/* base[i] and base[i + 1]. */
WIDE_INLINE void wide_gather2(const float *base, const int32_t *i, Wide *first, Wide *second) {
  *first = (Wide){base[i[0]], base[i[1]], base[i[2]], base[i[3]]};
  *second = (Wide){base[i[0] + 1], base[i[1] + 1], base[i[2] + 1], base[i[3] + 1]};
}
WIDE_INLINE Wide wide_select(WideInt mask, Wide yes, Wide no) {
#ifdef __wasm_simd128__
  return (Wide)wasm_v128_bitselect((v128_t)yes, (v128_t)no, (v128_t)mask);
#else
  return (Wide)((mask & (WideInt)yes) | (~mask & (WideInt)no));
#endif
}
WIDE_INLINE WideInt wide_less(Wide a, Wide b) { return (WideInt)(a < b); }
WIDE_INLINE WideInt wide_less_equal(Wide a, Wide b) { return (WideInt)(a <= b); }
WIDE_INLINE WideInt wide_int_less(WideInt a, WideInt b) { return (WideInt)(a < b); }
WIDE_INLINE WideInt wide_int_equal(WideInt a, WideInt b) { return (WideInt)(a == b); }
/* The second where the two are equal or one is NaN. */
WIDE_INLINE Wide wide_max(Wide a, Wide b) {
#ifdef __wasm_simd128__
  return (Wide)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
#else
  return wide_select(wide_less(b, a), a, b);
#endif
}
WIDE_INLINE Wide wide_min(Wide a, Wide b) {
#ifdef __wasm_simd128__
  return (Wide)wasm_f32x4_pmin((v128_t)b, (v128_t)a);
#else
  return wide_select(wide_less(a, b), a, b);
#endif
}
WIDE_INLINE Wide wide_sqrt(Wide a) {
#if defined(__SSE2__)
  return (Wide)_mm_sqrt_ps((__m128)a);
#elif defined(__wasm_simd128__)
  return (Wide)wasm_f32x4_sqrt((v128_t)a);
#else
  for (int k = 0; k < 4; k++) a[k] = __builtin_sqrtf(a[k]);
  return a;
#endif
}
WIDE_INLINE unsigned wide_bits(WideInt mask) {
#if defined(__SSE2__)
  return (unsigned)_mm_movemask_ps((__m128)mask);
#elif defined(__wasm_simd128__)
  return wasm_i32x4_bitmask((v128_t)mask);
#else
  unsigned bits = 0;
  for (int k = 0; k < 4; k++) bits |= (unsigned)(mask[k] != 0) << k;
  return bits;
#endif
}
/* Rows of four floats as four values of one component each, and back. */
WIDE_INLINE void wide_turn4(Wide r0, Wide r1, Wide r2, Wide r3, Wide *x, Wide *y, Wide *z, Wide *w) {
  Wide t0 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5), t1 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  Wide t2 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5), t3 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  *x = __builtin_shufflevector(t0, t2, 0, 1, 4, 5);
  *y = __builtin_shufflevector(t0, t2, 2, 3, 6, 7);
  *z = __builtin_shufflevector(t1, t3, 0, 1, 4, 5);
  *w = __builtin_shufflevector(t1, t3, 2, 3, 6, 7);
}
WIDE_INLINE void wide_gather4(const float (*rows)[4], const int32_t *i, Wide *x, Wide *y, Wide *z, Wide *w) {
  wide_turn4(*(const Wide *)rows[i[0]], *(const Wide *)rows[i[1]], *(const Wide *)rows[i[2]], *(const Wide *)rows[i[3]],
             x, y, z, w);
}
WIDE_INLINE void wide_scatter4(float (*rows)[4], const int32_t *i, Wide x, Wide y, Wide z, Wide w) {
  Wide r[4];
  wide_turn4(x, y, z, w, &r[0], &r[1], &r[2], &r[3]);
  for (int k = 0; k < 4; k++) *(Wide *)rows[i[k]] = r[k];
}

#endif
