/* Vectors eight abreast, and the turning of eight quads of floats into four wide values and back. For kernels. */
#ifndef METHODS_DEM_LANES_H
#define METHODS_DEM_LANES_H

#include "core/simd.h"

typedef struct Vec {
  Wide x, y, z;
} Vec;

WIDE_INLINE Vec vec_add(Vec a, Vec b) { return (Vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
WIDE_INLINE Vec vec_sub(Vec a, Vec b) { return (Vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
WIDE_INLINE Vec vec_mul(Vec a, Wide s) { return (Vec){a.x * s, a.y * s, a.z * s}; }
WIDE_INLINE Wide vec_dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
WIDE_INLINE Vec vec_cross(Vec a, Vec b) {
  return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
WIDE_INLINE Vec vec_mask(WideInt mask, Vec a) {
  return (Vec){(Wide)(mask & (WideInt)a.x), (Wide)(mask & (WideInt)a.y), (Wide)(mask & (WideInt)a.z)};
}
WIDE_INLINE Vec vec_select(WideInt mask, Vec yes, Vec no) {
  return (Vec){wide_select(mask, yes.x, no.x), wide_select(mask, yes.y, no.y), wide_select(mask, yes.z, no.z)};
}

typedef float Quad __attribute__((vector_size(16), aligned(16)));

/* x y z and a zero or w of each lane. */
WIDE_INLINE void turn_four(Wide x, Wide y, Wide z, Wide w, Quad q[LANES]) {
  Wide t0 = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13); /* x0 y0 x1 y1, x4 y4 x5 y5 */
  Wide t1 = __builtin_shufflevector(z, w, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide t2 = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15); /* x2 y2 x3 y3, x6 .. */
  Wide t3 = __builtin_shufflevector(z, w, 2, 10, 3, 11, 6, 14, 7, 15);
  Wide pairs[4] = {__builtin_shufflevector(t0, t1, 0, 1, 8, 9, 4, 5, 12, 13),
                   __builtin_shufflevector(t0, t1, 2, 3, 10, 11, 6, 7, 14, 15),
                   __builtin_shufflevector(t2, t3, 0, 1, 8, 9, 4, 5, 12, 13),
                   __builtin_shufflevector(t2, t3, 2, 3, 10, 11, 6, 7, 14, 15)};
  for (int k = 0; k < 4; k++) {
    q[k] = __builtin_shufflevector(pairs[k], pairs[k], 0, 1, 2, 3);
    q[k + 4] = __builtin_shufflevector(pairs[k], pairs[k], 4, 5, 6, 7);
  }
}
WIDE_INLINE void turn_to_quads(Vec v, Quad q[LANES]) { turn_four(v.x, v.y, v.z, wide_set(0), q); }

/* Four floats each to `to`, to + stride and so on, of the first lanes; 16-byte aligned. */
WIDE_INLINE void store_quads(float *to, int64_t stride, int lanes, Wide x, Wide y, Wide z, Wide w) {
  Quad q[LANES];
  turn_four(x, y, z, w, q);
  if (lanes == LANES)
    for (int k = 0; k < LANES; k++) *(Quad *)(to + k * stride) = q[k];
  else
    for (int k = 0; k < lanes; k++) *(Quad *)(to + k * stride) = q[k];
}

/* And back, from all lanes. */
WIDE_INLINE void load_quads(const float *from, int64_t stride, Wide *x, Wide *y, Wide *z) {
#define QUAD_PAIR(a, b)                                                                                                \
  __builtin_shufflevector(*(const Quad *)(from + (a)*stride), *(const Quad *)(from + (b)*stride), 0, 1, 2, 3, 4, 5, 6, \
                          7)
  Wide r0 = QUAD_PAIR(0, 4), r1 = QUAD_PAIR(1, 5), r2 = QUAD_PAIR(2, 6), r3 = QUAD_PAIR(3, 7);
#undef QUAD_PAIR
  Wide t0 = __builtin_shufflevector(r0, r1, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide t1 = __builtin_shufflevector(r0, r1, 2, 10, 3, 11, 6, 14, 7, 15);
  Wide t2 = __builtin_shufflevector(r2, r3, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide t3 = __builtin_shufflevector(r2, r3, 2, 10, 3, 11, 6, 14, 7, 15);
  *x = __builtin_shufflevector(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13);
  *y = __builtin_shufflevector(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15);
  *z = __builtin_shufflevector(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13);
}

#endif
