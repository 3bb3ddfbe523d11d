/* One boundary contact: the boundary's part of density, strain and force (Eq. 2, 6, 14, 16), and Coulomb friction. The
 * share of the density and its slope with the distance come from spline.h (by distance) or from samples; -slope times
 * the normal stands in the place of V grad W_ib. */
#ifndef METHODS_SPH_WALL_LAW_H
#define METHODS_SPH_WALL_LAW_H

#include "methods/sph/tensor_law.h"

#define WALL_EDGE_SHARE 0.847f /* (w(sqrt 2) + 2 w(sqrt 3)) / pi over WALL_AT_REST squared */

/* Each wall counts as if nothing but it lay behind its face. Where two meet in an edge, what lies behind both counts
 * twice: 2 % of a parcel's density, to which the sand in the edge responds with pressure. Behind two faces at right
 * angles lies about the product of their shares, times WALL_EDGE_SHARE to be what a lattice has there; behind two that
 * face each other, nothing. Returns the factor of that product. */
LANE_INLINE Real wall_common(LaneVec3 m, LaneVec3 n) {
  Real common = real(1) + m.x * n.x + m.y * n.y + m.z * n.z;
  return real(WALL_EDGE_SHARE) * real_min(common, real(1));
}

/* Eq. 6 at a wall, which resists along its normal only. `rate` is the speed of leaving it times its slope. As in
 * gradient_term, the two parts off the diagonal are added. */
LANE_INLINE LaneSym wall_gradient(LaneVec3 normal, Real rate) {
  Real twice = rate * real(2);
  return sym_make(rate * normal.x * normal.x, rate * normal.y * normal.y, rate * normal.z * normal.z,
                  twice * normal.x * normal.y, twice * normal.x * normal.z, twice * normal.y * normal.z);
}

/* Eq. 14 and 16: the force along the normal under the stress there, N. A wall does not pull. */
LANE_INLINE Real wall_normal_force(Real normal_stress, Real slope, float volume) {
  return real(volume) * slope * real_max(normal_stress, real(0));
}

/* Friction that stops the slip, at most the coefficient times the normal force. `gain` is the force that a pass adds
 * per slip, kg/s; `velocity` that of the parcel against the wall. */
LANE_INLINE LaneVec3 wall_friction(LaneVec3 before, LaneVec3 velocity, LaneVec3 normal, Real gain, Real limit) {
  LaneVec3 force = vec_sub(before, vec_mul(vec_tangential(velocity, normal), gain));
  force = vec_tangential(force, normal);
  Real square = vec_dot(force, force);
  return vec_mul(force, real_select(real_less(limit * limit, square), limit / real_sqrt(square), real(1)));
}

#endif
