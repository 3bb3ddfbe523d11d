/* Forces of the stress, and collisions. */
#ifndef METHODS_SPH_FORCE_LAW_H
#define METHODS_SPH_FORCE_LAW_H

#include "methods/sph/tensor_law.h"

/* Eq. 13 and 15, one neighbour, over V: (s_j - p_j) grad W_ij, with the sign of the divergence of a stress. Pairs add
 * their stresses without their densities: the force is then the exact transpose of the velocity gradient. */
LANE_INLINE LaneVec3 force_term(LaneSym stress, LaneVec3 gradient) { return sym_apply(stress, gradient); }
/* The neighbours' terms, in steps of the gradient, and the parcel's own stress times the sum of its gradients. */
LANE_INLINE LaneVec3 force_total(LaneVec3 neighbors, float step, LaneSym stress, LaneVec3 sum) {
  return vec_add(vec_mul(neighbors, real(step)), sym_apply(stress, sum));
}
/* Eq. 18 and 25 together: velocity at the end of the step under the stress at hand. `walls` is what Eq. 14 and 16
 * add. */
LANE_INLINE LaneVec3 force_velocity(LaneVec3 start, Real mobility, LaneVec3 force, LaneVec3 walls) {
  return vec_add(vec_add(start, vec_mul(force, mobility)), walls);
}

/* Inelastic collision of a pair: the approach along its gradient, shared by mass. Times the gradient it is what the
 * parcel loses. */
LANE_INLINE LaneVec3 collision_term(LaneVec3 own, Real own_mass, LaneVec3 other, Real other_mass, LaneVec3 gradient) {
  Real tiny = real(1e-20f);
  Real rate = vec_dot(vec_sub(other, own), gradient);
  rate = real_min(rate, real(0)) / real_sqrt(vec_dot(gradient, gradient) + tiny);
  rate = rate * (other_mass / (own_mass + other_mass + tiny));
  return vec_mul(gradient, rate);
}

#endif
