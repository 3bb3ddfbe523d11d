/* Bonds of cohesive grains: two are bonded from when they touch until they are farther apart than a bond reaches.
 * Touching grains are pulled with T = tension R^2, R being their effective radius (common/cohesion.h says why); over
 * the reach the pull falls to zero (dem), or stays and ends with it (pbd, p2). */
#ifndef METHODS_COMMON_BOND_LAW_H
#define METHODS_COMMON_BOND_LAW_H

#include "core/lane.h"

/* How far a bond reaches, in effective radii. */
#define BOND_REACH 0.1f

LANE_INLINE Real bond_radius(Real radius, Real other) { return radius * other / (radius + other); }
LANE_INLINE Real bond_reach(Real reduced) { return real(BOND_REACH) * reduced; }
/* How fast the pull falls with the gap, N/m. */
LANE_INLINE Real bond_slope(Real tension, Real reduced) { return tension * reduced * real(1 / BOND_REACH); }
/* The pull at a gap within the reach, or below zero. */
LANE_INLINE Real bond_pull(Real slope, Real reduced, Real gap) {
  return slope * (bond_reach(reduced) - real_max(gap, real(0)));
}

#endif
