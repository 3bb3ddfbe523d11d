/* Lanes: the types in which laws are written.
 *
 * A law (`*_law.h`) is the mathematics of one pair, contact, cell or fine grain: inline functions over Real, Int, Mask
 * and LaneVec3, without pointers, loops or the C library. The same text compiles to eight or sixteen lanes on the CPU
 * (SIMD; LANE_WIDTH says how many), to one lane in plain C (LANE_SCALAR: tests compare it with the eight) and to one
 * work item in OpenCL C. Every target does the same operations in the same order, all of them exactly rounded, so every
 * target gives the same bits. core/lane_memory.h loads and stores lanes.
 *
 * Rules for a law:
 * - Arithmetic is + - * / and the functions below. A constant next to a Real is written real(0.5f).
 * - Comparisons are real_less and the like; they give a Mask. Masks combine with & | ~ and with nothing else.
 * - A choice is real_select(mask, yes, no): both sides are computed. `if (mask_any(mask))` may skip work whose result
 *   no lane selects.
 * - What is uniform over the lanes (a setting, a flag) may be a plain bool or float argument.
 * - Several results are returned as a struct. */
#ifndef CORE_LANE_H
#define CORE_LANE_H

#if defined(__OPENCL_C_VERSION__) || defined(LANE_SCALAR)
#define LANE_WIDTH 1
#elif defined(SIMD_LEVEL) && SIMD_LEVEL == 2
#define LANE_WIDTH 16
#elif defined(SIMD_HALVES)
#define LANE_WIDTH 4
#else
#define LANE_WIDTH 8
#endif

#if LANE_WIDTH == 1

#ifdef __OPENCL_C_VERSION__
#define LANE_INLINE static inline __attribute__((unused)) /* compilers of devices inline what they should */
#else
#include <stdbool.h>
#define LANE_INLINE static inline __attribute__((always_inline, unused))
#endif
typedef float Real;
typedef int Int;
typedef int Mask;

LANE_INLINE Real real(float v) { return v; }
LANE_INLINE Mask real_less(Real a, Real b) { return -(a < b); }
LANE_INLINE Mask real_less_equal(Real a, Real b) { return -(a <= b); }
LANE_INLINE Mask int_less(Int a, Int b) { return -(a < b); }
LANE_INLINE Mask int_equal(Int a, Int b) { return -(a == b); }
LANE_INLINE Real real_select(Mask mask, Real yes, Real no) { return mask ? yes : no; }
/* The second where the two are equal or one is NaN, on every target. */
LANE_INLINE Real real_max(Real a, Real b) { return a > b ? a : b; }
LANE_INLINE Real real_min(Real a, Real b) { return a < b ? a : b; }
#ifdef __OPENCL_C_VERSION__
LANE_INLINE Real real_sqrt(Real a) { return sqrt(a); }
LANE_INLINE Int real_bits(Real a) { return as_int(a); }
LANE_INLINE Real real_from_bits(Int a) { return as_float(a); }
#else
LANE_INLINE Real real_sqrt(Real a) { return __builtin_sqrtf(a); }
LANE_INLINE Int real_bits(Real a) {
  union {
    float real;
    int bits;
  } both = {a};
  return both.bits;
}
LANE_INLINE Real real_from_bits(Int a) {
  union {
    int bits;
    float real;
  } both = {a};
  return both.real;
}
#endif
LANE_INLINE Real real_from_int(Int a) { return (float)a; }
/* Towards zero. */
LANE_INLINE Int int_from_real(Real a) { return (int)a; }
/* a - b modulo 2^32. */
LANE_INLINE Int int_wrapping_sub(Int a, Int b) { return (int)((unsigned)a - (unsigned)b); }
LANE_INLINE int mask_any(Mask mask) { return mask != 0; }
/* a where the mask holds, +0 elsewhere. */
LANE_INLINE Real real_mask(Mask mask, Real a) { return real_from_bits(mask & real_bits(a)); }
LANE_INLINE Int int_mask(Mask mask, Int a) { return mask & a; }
/* Towards minus infinity; the size of a is below 2^31. */
LANE_INLINE Int int_floor(Real a) {
  Int cut = int_from_real(a);
  return cut + real_less(a, real_from_int(cut));
}

#elif LANE_WIDTH < 16

#include "core/simd.h"

#define LANE_INLINE WIDE_INLINE
typedef Wide Real;
typedef WideInt Int;
typedef WideInt Mask;

LANE_INLINE Real real(float v) { return wide_set(v); }
LANE_INLINE Mask real_less(Real a, Real b) { return wide_less(a, b); }
LANE_INLINE Mask real_less_equal(Real a, Real b) { return wide_less_equal(a, b); }
LANE_INLINE Mask int_less(Int a, Int b) { return wide_int_less(a, b); }
LANE_INLINE Mask int_equal(Int a, Int b) { return wide_int_equal(a, b); }
LANE_INLINE Real real_select(Mask mask, Real yes, Real no) { return wide_select(mask, yes, no); }
LANE_INLINE Real real_max(Real a, Real b) { return wide_max(a, b); }
LANE_INLINE Real real_min(Real a, Real b) { return wide_min(a, b); }
LANE_INLINE Real real_sqrt(Real a) { return wide_sqrt(a); }
LANE_INLINE Int real_bits(Real a) { return (Int)a; }
LANE_INLINE Real real_from_bits(Int a) { return (Real)a; }
LANE_INLINE Real real_from_int(Int a) { return __builtin_convertvector(a, Wide); }
LANE_INLINE Int int_from_real(Real a) { return __builtin_convertvector(a, WideInt); }
LANE_INLINE Int int_wrapping_sub(Int a, Int b) { return a - b; }
LANE_INLINE int mask_any(Mask mask) { return wide_bits(mask) != 0; }
LANE_INLINE Real real_mask(Mask mask, Real a) { return real_from_bits(mask & real_bits(a)); }
LANE_INLINE Int int_mask(Mask mask, Int a) { return mask & a; }
LANE_INLINE Int int_floor(Real a) {
  Int cut = int_from_real(a);
  return cut + real_less(a, real_from_int(cut));
}

#else

#include "core/simd.h"

#define LANE_INLINE WIDE_INLINE
typedef float Real __attribute__((vector_size(64), aligned(64)));
typedef int32_t Int __attribute__((vector_size(64), aligned(64)));
typedef unsigned Mask; /* a bit a lane in the lower sixteen; what ~ leaves in the upper ones is not looked at */

LANE_INLINE Real real(float v) { return (Real)_mm512_set1_ps(v); }
LANE_INLINE Mask real_less(Real a, Real b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OS); }
LANE_INLINE Mask real_less_equal(Real a, Real b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OS); }
LANE_INLINE Mask int_less(Int a, Int b) { return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b); }
LANE_INLINE Mask int_equal(Int a, Int b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
LANE_INLINE Real real_select(Mask mask, Real yes, Real no) {
  return (Real)_mm512_mask_blend_ps((__mmask16)mask, (__m512)no, (__m512)yes);
}
LANE_INLINE Real real_max(Real a, Real b) { return (Real)_mm512_max_ps((__m512)a, (__m512)b); }
LANE_INLINE Real real_min(Real a, Real b) { return (Real)_mm512_min_ps((__m512)a, (__m512)b); }
LANE_INLINE Real real_sqrt(Real a) { return (Real)_mm512_sqrt_ps((__m512)a); }
LANE_INLINE Int real_bits(Real a) { return (Int)a; }
LANE_INLINE Real real_from_bits(Int a) { return (Real)a; }
LANE_INLINE Real real_from_int(Int a) { return __builtin_convertvector(a, Real); }
LANE_INLINE Int int_from_real(Real a) { return __builtin_convertvector(a, Int); }
LANE_INLINE Int int_wrapping_sub(Int a, Int b) { return a - b; }
LANE_INLINE int mask_any(Mask mask) { return (mask & 0xffff) != 0; }
LANE_INLINE Real real_mask(Mask mask, Real a) { return (Real)_mm512_maskz_mov_ps((__mmask16)mask, (__m512)a); }
LANE_INLINE Int int_mask(Mask mask, Int a) { return (Int)_mm512_maskz_mov_epi32((__mmask16)mask, (__m512i)a); }
LANE_INLINE Int int_floor(Real a) {
  Int cut = int_from_real(a);
  __mmask16 above = (__mmask16)real_less(a, real_from_int(cut));
  return (Int)_mm512_mask_sub_epi32((__m512i)cut, above, (__m512i)cut, _mm512_set1_epi32(1));
}

#endif

typedef struct LaneVec3 {
  Real x, y, z;
} LaneVec3;

LANE_INLINE LaneVec3 vec_make(Real x, Real y, Real z) {
  LaneVec3 v = {x, y, z};
  return v;
}
LANE_INLINE LaneVec3 vec_zero(void) { return vec_make(real(0), real(0), real(0)); }
LANE_INLINE LaneVec3 vec_add(LaneVec3 a, LaneVec3 b) { return vec_make(a.x + b.x, a.y + b.y, a.z + b.z); }
LANE_INLINE LaneVec3 vec_sub(LaneVec3 a, LaneVec3 b) { return vec_make(a.x - b.x, a.y - b.y, a.z - b.z); }
LANE_INLINE LaneVec3 vec_mul(LaneVec3 a, Real s) { return vec_make(a.x * s, a.y * s, a.z * s); }
LANE_INLINE Real vec_dot(LaneVec3 a, LaneVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
LANE_INLINE LaneVec3 vec_cross(LaneVec3 a, LaneVec3 b) {
  return vec_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
LANE_INLINE LaneVec3 vec_mask(Mask mask, LaneVec3 a) {
  return vec_make(real_mask(mask, a.x), real_mask(mask, a.y), real_mask(mask, a.z));
}
LANE_INLINE LaneVec3 vec_select(Mask mask, LaneVec3 yes, LaneVec3 no) {
  return vec_make(real_select(mask, yes.x, no.x), real_select(mask, yes.y, no.y), real_select(mask, yes.z, no.z));
}
/* The part of v in the plane of the unit normal. */
LANE_INLINE LaneVec3 vec_tangential(LaneVec3 v, LaneVec3 normal) {
  return vec_sub(v, vec_mul(normal, vec_dot(v, normal)));
}

#endif
