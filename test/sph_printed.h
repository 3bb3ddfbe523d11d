/* Formulas of Neder 2023 as the draft prints them, where sph differs, to compare the two. Scalar or over lanes, as the
 * laws are. */
#ifndef TEST_SPH_PRINTED_H
#define TEST_SPH_PRINTED_H

#include "methods/sph/pressure_law.h"
#include "methods/sph/stress_law.h"

/* Eq. 10: half of the trace. */
LANE_INLINE LaneSym printed_half_trace(LaneSym gradient) {
  LaneSym strain = sym_mul(gradient, real(0.5f));
  Real part = sym_trace(gradient) * real(0.5f);
  return sym_make(gradient.xx - part, gradient.yy - part, gradient.zz - part, strain.xy, strain.xz, strain.yz);
}

/* Eq. 8 of a parcel in the face of a lattice: D_xx is 2.1 times D_yy, and friction differs by direction. */
LANE_INLINE LaneSym printed_face_d(LaneSym stress, Real gain, LaneSym strain) {
  strain.xx = strain.xx * real(1 / 2.1f);
  return stress_correct(stress, gain, strain);
}

/* The bound without sqrt(2). */
LANE_INLINE Real printed_bound(Real friction, Real confinement, Real cohesion) {
  return stress_bound(friction * real(0.707106781f), confinement, cohesion);
}

/* Eq. 23: expansion counts as an error. */
LANE_INLINE Real printed_absolute(Real error) { return real_max(error, real(0) - error); }

#endif
