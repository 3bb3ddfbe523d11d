/* Loads and stores of eight grains at a time, from arrays and from rows of quads. For kernels. */
#ifndef METHODS_DEM_LANES_H
#define METHODS_DEM_LANES_H

#include "core/lane.h"

/* The quads x y z w of the eight lanes. */
WIDE_INLINE void turn_four(Wide x, Wide y, Wide z, Wide w, WideQuad q[LANES]) {
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
WIDE_INLINE void turn_to_quads(LaneVec3 v, WideQuad q[LANES]) { turn_four(v.x, v.y, v.z, wide_set(0), q); }

/* Stores the quads of the first `lanes` lanes at to, to + stride and so on, aligned to 16 bytes. */
WIDE_INLINE void store_quads(float *to, int64_t stride, int lanes, Wide x, Wide y, Wide z, Wide w) {
  WideQuad q[LANES];
  turn_four(x, y, z, w, q);
  if (lanes == LANES)
    for (int k = 0; k < LANES; k++) *(WideQuad *)(to + k * stride) = q[k];
  else
    for (int k = 0; k < lanes; k++) *(WideQuad *)(to + k * stride) = q[k];
}

/* Loads x y z of eight quads at from, from + stride and so on. */
WIDE_INLINE void load_quads(const float *from, int64_t stride, Wide *x, Wide *y, Wide *z) {
  Wide fourth;
  wide_turn4(wide_rows(from, from + 4 * stride), wide_rows(from + stride, from + 5 * stride),
             wide_rows(from + 2 * stride, from + 6 * stride), wide_rows(from + 3 * stride, from + 7 * stride), x, y, z,
             &fourth);
}

/* Loads `lanes` floats; the others are zero. */
WIDE_INLINE Wide load_some(const float *from, int lanes) {
  if (lanes == LANES) return wide_load(from);
  Wide wide = {0};
  for (int l = 0; l < lanes; l++) wide[l] = from[l];
  return wide;
}

WIDE_INLINE void store_some(float *to, int lanes, Wide value) {
  if (lanes == LANES) {
    wide_store(to, value);
    return;
  }
  for (int l = 0; l < lanes; l++) to[l] = value[l];
}

WIDE_INLINE LaneVec3 load_three(float *const from[3], int64_t i, int lanes) {
  return (LaneVec3){load_some(from[0] + i, lanes), load_some(from[1] + i, lanes), load_some(from[2] + i, lanes)};
}
WIDE_INLINE void store_three(float *const to[3], int64_t i, int lanes, LaneVec3 value) {
  store_some(to[0] + i, lanes, value.x);
  store_some(to[1] + i, lanes, value.y);
  store_some(to[2] + i, lanes, value.z);
}

#endif
