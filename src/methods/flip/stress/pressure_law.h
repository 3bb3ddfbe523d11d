/* The pressure of a cell (Section 2.2) and what stresses do at a face. */
#ifndef METHODS_FLIP_STRESS_PRESSURE_LAW_H
#define METHODS_FLIP_STRESS_PRESSURE_LAW_H

#include "core/lane.h"

/* What the two faces of a cell along one axis add to A1 p (Eq. 10; with several materials Eq. 30), over dt^2 / cell^2:
 * the mobility of the flux at a face times the difference of pressure. */
LANE_INLINE Real pressure_row(Real p, Real p_below, Real p_above, Real mobility_below, Real mobility_above) {
  return mobility_below * (p - p_below) + mobility_above * (p - p_above);
}

/* D2 s at a face (Eq. 5), times the cell's side: the normal stress of the cells beside it, and the two shears that act
 * along the face's axis at the edges round it. */
LANE_INLINE Real stress_force(Real normal, Real normal_below, Real shear_0, Real shear_0_above, Real shear_1,
                              Real shear_1_above) {
  Real force = normal - normal_below;
  force += shear_0_above - shear_0;
  force += shear_1_above - shear_1;
  return force;
}

#endif
