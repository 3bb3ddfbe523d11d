/* Symmetric tensors over lanes. */
#ifndef METHODS_SPH_TENSOR_LAW_H
#define METHODS_SPH_TENSOR_LAW_H

#include "core/lane.h"

typedef struct LaneSym {
  Real xx, yy, zz, xy, xz, yz;
} LaneSym;

LANE_INLINE LaneSym sym_make(Real xx, Real yy, Real zz, Real xy, Real xz, Real yz) {
  LaneSym s = {xx, yy, zz, xy, xz, yz};
  return s;
}
LANE_INLINE LaneSym sym_zero(void) { return sym_make(real(0), real(0), real(0), real(0), real(0), real(0)); }
LANE_INLINE LaneSym sym_add(LaneSym a, LaneSym b) {
  return sym_make(a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz);
}
LANE_INLINE LaneSym sym_sub(LaneSym a, LaneSym b) {
  return sym_make(a.xx - b.xx, a.yy - b.yy, a.zz - b.zz, a.xy - b.xy, a.xz - b.xz, a.yz - b.yz);
}
LANE_INLINE LaneSym sym_mul(LaneSym a, Real s) {
  return sym_make(a.xx * s, a.yy * s, a.zz * s, a.xy * s, a.xz * s, a.yz * s);
}
/* a minus p times the unit tensor. */
LANE_INLINE LaneSym sym_minus_unit(LaneSym a, Real p) {
  return sym_make(a.xx - p, a.yy - p, a.zz - p, a.xy, a.xz, a.yz);
}
LANE_INLINE Real sym_trace(LaneSym a) { return a.xx + a.yy + a.zz; }
/* a : a, the square of the Frobenius norm. */
LANE_INLINE Real sym_square(LaneSym a) {
  return a.xx * a.xx + a.yy * a.yy + a.zz * a.zz + real(2) * (a.xy * a.xy + a.xz * a.xz + a.yz * a.yz);
}
LANE_INLINE LaneVec3 sym_apply(LaneSym a, LaneVec3 v) {
  return vec_make(a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
                  a.xz * v.x + a.yz * v.y + a.zz * v.z);
}
/* n . a n */
LANE_INLINE Real sym_along(LaneSym a, LaneVec3 n) {
  return a.xx * n.x * n.x + a.yy * n.y * n.y + a.zz * n.z * n.z +
         real(2) * (a.xy * n.x * n.y + a.xz * n.x * n.z + a.yz * n.y * n.z);
}

#endif
