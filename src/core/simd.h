/* Wide floats and the choice between the builds of a kernel.
 *
 * Files named *_kernels.c are compiled twice, with SIMD_LEVEL 0 (the plain target) and 1 (-march=x86-64-v3). They
 * define their functions as `void KERNEL(name)(...)`; KERNEL_DECLARE in a header declares both versions, and
 * KERNEL_CALL(core, name) picks one at run time. Both use the same eight logical lanes, FMA contraction is off, and
 * only +, -, *, / and sqrt (all exactly rounded) appear, so both give the same bits: a test compares them.
 *
 * Files named *_kernels16.c, for the inner loops that are worth it, are compiled a third time, with SIMD_LEVEL 2
 * (-march=x86-64-v4) and sixteen lanes. They are written over the lanes of core/lane.h and core/lane_memory.h, whatever
 * LANE_WIDTH is; KERNEL16_DECLARE and KERNEL16_CALL declare and pick. */
#ifndef CORE_SIMD_H
#define CORE_SIMD_H

#include "core/core.h"

/* Only where it is used: reading all that GCC has of it takes longer than compiling most files. */
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#ifdef SIMD_LEVEL
#if SIMD_LEVEL == 2
#define KERNEL(name) name##_v4
#elif SIMD_LEVEL == 1
#define KERNEL(name) name##_v3
#else
#define KERNEL(name) name##_base
#endif
#endif

#ifdef SCREE_HAVE_V3
#define KERNEL_DECLARE(result, name, arguments)                                                                        \
  result name##_base arguments;                                                                                        \
  result name##_v3 arguments
#define KERNEL_CALL(core, name) (simd_wide(core) ? name##_v3 : name##_base)
#else
#define KERNEL_DECLARE(result, name, arguments) result name##_base arguments
#define KERNEL_CALL(core, name) ((void)(core), name##_base)
#endif

#ifdef SCREE_HAVE_V4
#define KERNEL16_DECLARE(result, name, arguments)                                                                      \
  KERNEL_DECLARE(result, name, arguments);                                                                             \
  result name##_v4 arguments
#define KERNEL16_CALL(core, name) (simd_sixteen(core) ? name##_v4 : KERNEL_CALL(core, name))
#else
#define KERNEL16_DECLARE(result, name, arguments) KERNEL_DECLARE(result, name, arguments)
#define KERNEL16_CALL(core, name) KERNEL_CALL(core, name)
#endif

/* Whether the x86-64-v3 kernels run. */
static inline bool simd_wide(const Core *core) {
#ifdef SCREE_HAVE_V3
  /* What of x86-64-v3 both compilers can ask for; processors that have these have the rest of it. */
  return !core->baseline_simd && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma");
#else
  (void)core;
  return false;
#endif
}
/* Whether the x86-64-v4 kernels run, where there are such. */
static inline bool simd_sixteen(const Core *core) {
#ifdef SCREE_HAVE_V4
  return simd_wide(core) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
#else
  (void)core;
  return false;
#endif
}
static inline const char *simd_name(const Core *core) {
#ifdef __wasm_simd128__
  (void)core;
  return "wasm";
#else
  return simd_wide(core) ? "avx2" : "baseline";
#endif
}

/* Eight logical lanes. The compiler turns them into one AVX or two SSE registers. Use inside one function or in
 * always_inline helpers only: the calling convention of wide vectors differs between targets. */
enum { LANES = 8, LANES_MOST = 16 }; /* of KERNEL16 */

#define WIDE_INLINE static inline __attribute__((always_inline, unused))

/* A file whose loops want more registers than there are defines SIMD_HALVES: the lanes are four then. */
#ifdef SIMD_HALVES
#include "core/simd_half.h"
#else

typedef float Wide __attribute__((vector_size(32), aligned(32)));
typedef int32_t WideInt __attribute__((vector_size(32), aligned(32)));
typedef float WideUnaligned __attribute__((vector_size(32), aligned(4)));
typedef int32_t WideIntUnaligned __attribute__((vector_size(32), aligned(4)));

#ifdef __wasm_simd128__
/* The two registers of eight lanes, and back. */
#define WASM_LOW(v) ((v128_t)__builtin_shufflevector(v, v, 0, 1, 2, 3))
#define WASM_HIGH(v) ((v128_t)__builtin_shufflevector(v, v, 4, 5, 6, 7))
typedef float WasmReals __attribute__((vector_size(16)));
typedef int32_t WasmInts __attribute__((vector_size(16)));
#define WASM_JOIN(Type, low, high) __builtin_shufflevector((Type)(low), (Type)(high), 0, 1, 2, 3, 4, 5, 6, 7)
#endif

WIDE_INLINE Wide wide_load(const float *p) { return *(const WideUnaligned *)p; }
WIDE_INLINE void wide_store(float *p, Wide v) { *(WideUnaligned *)p = v; }
WIDE_INLINE Wide wide_set(float v) { return (Wide){v, v, v, v, v, v, v, v}; }
WIDE_INLINE WideInt wide_load_int(const int32_t *p) { return *(const WideIntUnaligned *)p; }
WIDE_INLINE Wide wide_gather(const float *base, WideInt i) {
  return (Wide){base[i[0]], base[i[1]], base[i[2]], base[i[3]], base[i[4]], base[i[5]], base[i[6]], base[i[7]]};
}
/* mask lanes are 0 or -1, as comparisons give them. */
WIDE_INLINE Wide wide_select(WideInt mask, Wide yes, Wide no) {
#if defined(__AVX__)
  return (Wide)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)mask); /* which the compiler does not find itself */
#elif defined(__wasm_simd128__)
  return WASM_JOIN(WasmReals, wasm_v128_bitselect(WASM_LOW(yes), WASM_LOW(no), WASM_LOW(mask)),
                   wasm_v128_bitselect(WASM_HIGH(yes), WASM_HIGH(no), WASM_HIGH(mask)));
#else
  return (Wide)((mask & (WideInt)yes) | (~mask & (WideInt)no));
#endif
}
/* Comparisons, lane by lane. Without 32-byte registers GCC takes a comparison of 32-byte vectors apart into scalars, so
 * there it is made of two halves. Prefer these to the bare operators in hot loops. */
#if defined(__AVX2__)
#define WIDE_COMPARE(name, operator, Type, HalfType)                                                                   \
  WIDE_INLINE WideInt name(Type a, Type b) { return a operator b; }
#else
typedef float HalfWide __attribute__((vector_size(16)));
typedef int32_t HalfWideInt __attribute__((vector_size(16)));
#define WIDE_COMPARE(name, operator, Type, HalfType)                                                                   \
  WIDE_INLINE WideInt name(Type a, Type b) {                                                                           \
    union {                                                                                                            \
      Type whole;                                                                                                      \
      HalfType half[2];                                                                                                \
    } left = {a}, right = {b};                                                                                         \
    union {                                                                                                            \
      HalfWideInt half[2];                                                                                             \
      WideInt whole;                                                                                                   \
    } result = {{left.half[0] operator right.half[0], left.half[1] operator right.half[1] } };                         \
    return result.whole;                                                                                               \
  }
#endif
WIDE_COMPARE(wide_less, <, Wide, HalfWide)
WIDE_COMPARE(wide_less_equal, <=, Wide, HalfWide)
WIDE_COMPARE(wide_int_less, <, WideInt, HalfWideInt)
WIDE_COMPARE(wide_int_equal, ==, WideInt, HalfWideInt)
#undef WIDE_COMPARE

/* The second where the two are equal or one is NaN, on every target. */
#if defined(__AVX__)
WIDE_INLINE Wide wide_max(Wide a, Wide b) { return (Wide)_mm256_max_ps((__m256)a, (__m256)b); }
WIDE_INLINE Wide wide_min(Wide a, Wide b) { return (Wide)_mm256_min_ps((__m256)a, (__m256)b); }
#elif defined(__wasm_simd128__)
/* pmax(b, a) is b < a ? a : b. */
WIDE_INLINE Wide wide_max(Wide a, Wide b) {
  return WASM_JOIN(WasmReals, wasm_f32x4_pmax(WASM_LOW(b), WASM_LOW(a)), wasm_f32x4_pmax(WASM_HIGH(b), WASM_HIGH(a)));
}
WIDE_INLINE Wide wide_min(Wide a, Wide b) {
  return WASM_JOIN(WasmReals, wasm_f32x4_pmin(WASM_LOW(b), WASM_LOW(a)), wasm_f32x4_pmin(WASM_HIGH(b), WASM_HIGH(a)));
}
#else
WIDE_INLINE Wide wide_max(Wide a, Wide b) { return wide_select(wide_less(b, a), a, b); }
WIDE_INLINE Wide wide_min(Wide a, Wide b) { return wide_select(wide_less(a, b), a, b); }
#endif
/* Exactly rounded on every target. */
WIDE_INLINE Wide wide_sqrt(Wide a) {
#if defined(__AVX__)
  return (Wide)__builtin_ia32_sqrtps256((__attribute__((vector_size(32))) float)a);
#elif defined(__SSE2__)
  typedef float Quad __attribute__((vector_size(16)));
  Quad low = __builtin_shufflevector(a, a, 0, 1, 2, 3), high = __builtin_shufflevector(a, a, 4, 5, 6, 7);
  low = __builtin_ia32_sqrtps(low);
  high = __builtin_ia32_sqrtps(high);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#elif defined(__wasm_simd128__)
  return WASM_JOIN(WasmReals, wasm_f32x4_sqrt(WASM_LOW(a)), wasm_f32x4_sqrt(WASM_HIGH(a)));
#else
  for (int k = 0; k < LANES; k++) a[k] = __builtin_sqrtf(a[k]);
  return a;
#endif
}
/* base[i] and base[i + 1] for eight indices: half the loads of two gathers. (The gather instruction itself is slower
 * than loads on processors that guard it against leaks.) */
WIDE_INLINE void wide_gather2(const float *base, const int32_t *i, Wide *first, Wide *second) {
  typedef double Pair __attribute__((aligned(4), may_alias)); /* two floats that move together */
  typedef double Pairs __attribute__((vector_size(32)));
#define WIDE_TWO(k) (*(const Pair *)(base + i[k]))
  Wide a = (Wide)(Pairs){WIDE_TWO(0), WIDE_TWO(1), WIDE_TWO(4), WIDE_TWO(5)};
  Wide b = (Wide)(Pairs){WIDE_TWO(2), WIDE_TWO(3), WIDE_TWO(6), WIDE_TWO(7)};
#undef WIDE_TWO
  *first = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
  *second = __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
}
/* Eight rows of four floats, rows k and k + 4 side by side, as four wide values of one component each. */
typedef float WideQuad __attribute__((vector_size(16), aligned(16), may_alias));
WIDE_INLINE Wide wide_rows(const float *low, const float *high) {
#if defined(__AVX__)
  /* The second is then loaded where it goes, and no shuffle. */
  return (Wide)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(low)), _mm_load_ps(high), 1);
#else
  return __builtin_shufflevector(*(const WideQuad *)low, *(const WideQuad *)high, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}
WIDE_INLINE void wide_turn4(Wide r0, Wide r1, Wide r2, Wide r3, Wide *x, Wide *y, Wide *z, Wide *w) {
  Wide t0 = __builtin_shufflevector(r0, r1, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide t1 = __builtin_shufflevector(r0, r1, 2, 10, 3, 11, 6, 14, 7, 15);
  Wide t2 = __builtin_shufflevector(r2, r3, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide t3 = __builtin_shufflevector(r2, r3, 2, 10, 3, 11, 6, 14, 7, 15);
  *x = __builtin_shufflevector(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13);
  *y = __builtin_shufflevector(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15);
  *z = __builtin_shufflevector(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13);
  *w = __builtin_shufflevector(t1, t3, 2, 3, 10, 11, 6, 7, 14, 15);
}
/* Rows of four floats, fetched for eight indices and turned into four wide values. Eight loads and twelve shuffles:
 * cheaper than four gathers. */
WIDE_INLINE void wide_gather4(const float (*rows)[4], const int32_t *i, Wide *x, Wide *y, Wide *z, Wide *w) {
  wide_turn4(wide_rows(rows[i[0]], rows[i[4]]), wide_rows(rows[i[1]], rows[i[5]]), wide_rows(rows[i[2]], rows[i[6]]),
             wide_rows(rows[i[3]], rows[i[7]]), x, y, z, w);
}
/* The way back: eight rows of four floats from four wide values. */
WIDE_INLINE void wide_scatter4(float (*rows)[4], const int32_t *i, Wide x, Wide y, Wide z, Wide w) {
  typedef float Quad __attribute__((vector_size(16), aligned(16)));
  Wide t0 = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide t1 = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15);
  Wide t2 = __builtin_shufflevector(z, w, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide t3 = __builtin_shufflevector(z, w, 2, 10, 3, 11, 6, 14, 7, 15);
  Wide r0 = __builtin_shufflevector(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13);
  Wide r1 = __builtin_shufflevector(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15);
  Wide r2 = __builtin_shufflevector(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13);
  Wide r3 = __builtin_shufflevector(t1, t3, 2, 3, 10, 11, 6, 7, 14, 15);
#define WIDE_ROW(k, from, a, b, c, d) *(Quad *)rows[i[k]] = __builtin_shufflevector(from, from, a, b, c, d)
  WIDE_ROW(0, r0, 0, 1, 2, 3);
  WIDE_ROW(1, r1, 0, 1, 2, 3);
  WIDE_ROW(2, r2, 0, 1, 2, 3);
  WIDE_ROW(3, r3, 0, 1, 2, 3);
  WIDE_ROW(4, r0, 4, 5, 6, 7);
  WIDE_ROW(5, r1, 4, 5, 6, 7);
  WIDE_ROW(6, r2, 4, 5, 6, 7);
  WIDE_ROW(7, r3, 4, 5, 6, 7);
#undef WIDE_ROW
}
/* Bit k is set where lane k of a comparison holds. */
WIDE_INLINE unsigned wide_bits(WideInt mask) {
#if defined(__AVX__)
  return (unsigned)_mm256_movemask_ps((__m256)mask);
#elif defined(__SSE2__)
  typedef float Half __attribute__((vector_size(16)));
  union {
    WideInt whole;
    Half half[2];
  } parts = {mask};
  return (unsigned)_mm_movemask_ps((__m128)parts.half[0]) | (unsigned)_mm_movemask_ps((__m128)parts.half[1]) << 4;
#elif defined(__wasm_simd128__)
  return wasm_i32x4_bitmask(WASM_LOW(mask)) | wasm_i32x4_bitmask(WASM_HIGH(mask)) << 4;
#else
  unsigned bits = 0;
  for (int k = 0; k < LANES; k++) bits |= (unsigned)(mask[k] != 0) << k;
  return bits;
#endif
}
/* For each set of lanes their numbers, one a byte, lowest first: what wide_pack needs. */
enum { PACK_TABLE = 1 << LANES };
extern const uint64_t pack_lanes[PACK_TABLE];
#ifdef __wasm_simd128__
/* The same for the bytes of four lanes, as a swizzle wants them. */
extern const uint8_t wasm_pack_bytes[16][16];
#endif
/* Stores the values of the set lanes one behind the other, and rubbish behind them. By a table of 2 KiB: the
 * alternative, pdep and pext, takes a hundred cycles on some processors that have it. */
WIDE_INLINE void wide_pack(int32_t *out, unsigned bits, const int32_t *values, const uint64_t *table) {
#if defined(__AVX2__)
  __m256i lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(table + bits)));
  __m256i all = _mm256_loadu_si256((const __m256i *)values);
  _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(all, lanes));
#elif defined(__wasm_simd128__)
  (void)table;
  for (int half = 0; half < 2; half++, bits >>= 4, values += 4) {
    wasm_v128_store(out, wasm_i8x16_swizzle(wasm_v128_load(values), wasm_v128_load(wasm_pack_bytes[bits & 15])));
    out += __builtin_popcount(bits & 15);
  }
#else
  (void)table;
  for (; bits; bits &= bits - 1) *out++ = values[__builtin_ctz(bits)];
#endif
}
/* The largest and the smallest lane. */
WIDE_INLINE float wide_most(Wide v) {
  v = wide_max(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = wide_max(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  return wide_max(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6))[0];
}
WIDE_INLINE float wide_least(Wide v) {
  v = wide_min(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = wide_min(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  return wide_min(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6))[0];
}
/* Loads the lanes of a mask alone; the others are zero. */
WIDE_INLINE WideInt wide_load_some(const int32_t *from, WideInt mask) {
#if defined(__AVX2__)
  return (WideInt)_mm256_maskload_epi32(from, (__m256i)mask);
#elif defined(__wasm_simd128__)
  /* All of them, and then those: nothing that is allocated ends at the memory's end, where the allocator keeps a record
   * of its own that is larger than eight lanes. */
  return mask & WASM_JOIN(WasmInts, wasm_v128_load(from), wasm_v128_load(from + 4));
#else
  WideInt values = {0};
  for (int k = 0; k < LANES; k++)
    if (mask[k]) values[k] = from[k];
  return values;
#endif
}
/* Stores the lanes of a mask alone. */
WIDE_INLINE void wide_store_some(int32_t *out, WideInt mask, WideInt values) {
#if defined(__AVX2__)
  _mm256_maskstore_epi32(out, (__m256i)mask, (__m256i)values);
#elif defined(__wasm_simd128__)
  unsigned bits = wide_bits(mask);
#define WASM_STORE_PAIR(v, from, pair)                                                                                 \
  if ((bits >> (from)&3) == 3) wasm_v128_store64_lane(out + (from), v, pair);                                          \
  else if (bits >> (from)&1) wasm_v128_store32_lane(out + (from), v, 2 * (pair));                                      \
  else if (bits >> (from)&2) wasm_v128_store32_lane(out + (from) + 1, v, 2 * (pair) + 1);
  WASM_STORE_PAIR(WASM_LOW(values), 0, 0)
  WASM_STORE_PAIR(WASM_LOW(values), 2, 1)
  WASM_STORE_PAIR(WASM_HIGH(values), 4, 0)
  WASM_STORE_PAIR(WASM_HIGH(values), 6, 1)
#undef WASM_STORE_PAIR
#else
  for (int k = 0; k < LANES; k++)
    if (mask[k]) out[k] = values[k];
#endif
}
/* Pairwise, so that the order is the same everywhere. */
WIDE_INLINE float wide_sum(Wide v) {
  float a = v[0] + v[4], b = v[1] + v[5], c = v[2] + v[6], d = v[3] + v[7];
  return (a + c) + (b + d);
}

#endif /* SIMD_HALVES */

#endif
