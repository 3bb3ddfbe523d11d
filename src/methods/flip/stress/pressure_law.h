/* The pressure of a cell (Section 2.2) and what stresses do at a face. */
#ifndef METHODS_FLIP_STRESS_PRESSURE_LAW_H
#define METHODS_FLIP_STRESS_PRESSURE_LAW_H

#include "core/lane.h"

/* What the two faces of a cell along one axis add to A1 p (Eq. 10; with several materials Eq. 30), over dt^2 / cell^2:
 * the mobility of the flux at a face times the difference of pressure. */
LANE_INLINE Real pressure_row(Real p, Real p_below, Real p_above, Real mobility_below, Real mobility_above) {
  return mobility_below * (p - p_below) + mobility_above * (p - p_above);
}

/* ---- thin layers ---- */

/* Share of a centre's kernel that lies below its cell. */
#define KERNEL_BELOW 0.125f

/* Depth, in cells, of sand that lies in a cell and fills everything below it. The kernel of its centre, a tent along
 * the vertical, then holds (depth + 1/2)^2 / 2 of what it can, up to half a cell. `missing` is the share of the kernel
 * that lies in a solid below: phi is that of the rest. */
LANE_INLINE Real layer_depth(Real phi, Real missing) {
  Real depth = real_sqrt(real(2) * (phi * (real(1) - missing) + missing)) - real(0.5f);
  return real_max(real(0), real_min(depth, real(1)));
}

/* Its pressure, mean over the side of the cell; `weight` is that of a full cell over its area. */
LANE_INLINE Real layer_pressure(Real depth, Real weight) { return real(0.5f) * depth * depth * weight; }

/* The pressure that the edges below a thin layer must see in its cell, so that the mean of it and of the pressure below
 * is the weight of the layer. */
LANE_INLINE Real layer_edge_pressure(Real depth, Real weight, Real below) { return real(2) * depth * weight - below; }

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
