/* Vectors of the lanes, eight abreast. For *_kernels.c files only. */
#ifndef CORE_WIDE_VEC_H
#define CORE_WIDE_VEC_H

#include "core/simd.h"

typedef struct Vec {
  Wide x, y, z;
} Vec;

WIDE_INLINE Vec vec_add(Vec a, Vec b) { return (Vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
WIDE_INLINE Vec vec_sub(Vec a, Vec b) { return (Vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
WIDE_INLINE Vec vec_mul(Vec a, Wide s) { return (Vec){a.x * s, a.y * s, a.z * s}; }
WIDE_INLINE Wide vec_dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
WIDE_INLINE Vec vec_zero(void) { return (Vec){wide_set(0), wide_set(0), wide_set(0)}; }
WIDE_INLINE Vec vec_cross(Vec a, Vec b) {
  return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
WIDE_INLINE Vec vec_mask(WideInt mask, Vec a) {
  return (Vec){(Wide)(mask & (WideInt)a.x), (Wide)(mask & (WideInt)a.y), (Wide)(mask & (WideInt)a.z)};
}
WIDE_INLINE Vec vec_select(WideInt mask, Vec yes, Vec no) {
  return (Vec){wide_select(mask, yes.x, no.x), wide_select(mask, yes.y, no.y), wide_select(mask, yes.z, no.z)};
}

#endif
