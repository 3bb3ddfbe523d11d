/* The ellipsoid of a particle (Section 3.1). */
#ifndef METHODS_FLIP_TRANSFER_SHAPE_LAW_H
#define METHODS_FLIP_TRANSFER_SHAPE_LAW_H

#include "core/lane.h"

/* A of (x - x_i)^T A^-1 (x - x_i) <= 1, in squares of the nominal radius. */
typedef struct ShapeTensor {
  Real xx, yy, zz, xy, yz, xz;
} ShapeTensor;

/* Rows of a matrix. */
typedef struct Rows3 {
  LaneVec3 x, y, z;
} Rows3;

LANE_INLINE LaneVec3 times_shape(LaneVec3 row, ShapeTensor a) {
  return vec_make(vec_dot(row, vec_make(a.xx, a.xy, a.xz)), vec_dot(row, vec_make(a.xy, a.yy, a.yz)),
                  vec_dot(row, vec_make(a.xz, a.yz, a.zz)));
}

/* dt J of the velocity's Jacobian, whose entries are at most a half in a step: F = 1 + this. */
LANE_INLINE Real deformation(Real jacobian, Real dt) {
  return real_min(real_max(dt * jacobian, real(-0.5f)), real(0.5f));
}

/* A' = F A F^T: Eq. 28 to first order, and positive whatever the step. */
LANE_INLINE ShapeTensor shape_advanced(ShapeTensor a, Rows3 f) {
  LaneVec3 x = times_shape(f.x, a), y = times_shape(f.y, a), z = times_shape(f.z, a);
  ShapeTensor to = {vec_dot(x, f.x), vec_dot(y, f.y), vec_dot(z, f.z),
                    vec_dot(x, f.y), vec_dot(y, f.z), vec_dot(x, f.z)};
  return to;
}

/* Whether all eigenvalues are above the bound (sign 1) or all below it (sign -1): leading minors of A - bound 1. */
LANE_INLINE Mask shape_beyond(ShapeTensor a, Real bound, Real sign) {
  Real x = sign * (a.xx - bound), y = sign * (a.yy - bound), z = sign * (a.zz - bound);
  Real u = sign * a.xy, v = sign * a.yz, w = sign * a.xz;
  Real minor = x * y - u * u;
  Real all = z * minor - x * v * v + real(2) * u * v * w - y * w * w;
  return real_less(real(0), x) & real_less(real(0), minor) & real_less(real(0), all);
}

#endif
