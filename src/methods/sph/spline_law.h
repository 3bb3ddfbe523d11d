/* The cubic spline W(x) = w(q) / (pi d^3), q = |x| / d, of support 2 d, d the spacing. spline.h has it in double
 * precision, with what follows from it for walls and lattices. */
#ifndef METHODS_SPH_SPLINE_LAW_H
#define METHODS_SPH_SPLINE_LAW_H

#include "core/lane.h"

#define SPLINE_INVERSE_PI 0.318309886f

typedef struct SplineValue {
  Real shape; /* w(q) */
  Real slope; /* w'(q) / q, below zero: times x / d it is the gradient in units of 1 / d */
} SplineValue;

LANE_INLINE Mask spline_within(Real q) { return real_less(q, real(2)); }

LANE_INLINE SplineValue spline_at(Real q) {
  Real u = real_max(real(2) - q, real(0));
  Mask inner = real_less(q, real(1));
  SplineValue value = {real_select(inner, real(1) + q * q * (real(0.75f) * q - real(1.5f)), real(0.25f) * u * u * u),
                       real_select(inner, real(2.25f) * q - real(3), real(-0.75f) * u * u / real_max(q, real(1)))};
  return value;
}

#endif
