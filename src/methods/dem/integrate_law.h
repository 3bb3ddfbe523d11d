/* Motion of a grain: Papadimitriou 2012, Section 6.2, a = F / m, with the time step that the print leaves out.
 *
 * Semi-implicit Euler (6.2.1): v += a dt, x += v dt.
 * Velocity Verlet (for 6.2.2): v += a dt / 2, x += v dt, forces at the new place, v += a dt / 2. */
#ifndef METHODS_DEM_INTEGRATE_LAW_H
#define METHODS_DEM_INTEGRATE_LAW_H

#include "core/lane.h"

/* Velocity after a kick of duration dt by the contacts' acceleration and by gravity. */
LANE_INLINE LaneVec3 integrate_velocity(LaneVec3 velocity, LaneVec3 acceleration, LaneVec3 gravity, Real dt) {
  return vec_add(velocity, vec_mul(vec_add(acceleration, gravity), dt));
}
LANE_INLINE LaneVec3 integrate_spin(LaneVec3 spin, LaneVec3 angular_acceleration, Real dt) {
  return vec_add(spin, vec_mul(angular_acceleration, dt));
}

/* Of a sphere, whose inertia is 2/5 m r^2. lever and moment: sums over its contacts, as ContactForces has them. */
LANE_INLINE LaneVec3 integrate_angular_acceleration(LaneVec3 lever, LaneVec3 moment, Real radius, Real inverse_mass) {
  Real inverse_inertia = real(2.5f) * inverse_mass / (radius * radius);
  return vec_mul(vec_sub(moment, vec_mul(lever, radius)), inverse_inertia);
}

#endif
