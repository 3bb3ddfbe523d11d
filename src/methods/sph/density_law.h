/* Density (Eq. 1) and the kernel's gradient, one pair at a time. All densities are over rest density, and every parcel
 * has the volume V = d^3, so that Eq. 1 reads phi_i = V sum_j W_ij.
 *
 * The gradient of a pair is kept as V d grad W_ij in whole steps of 1 / SPH_GRADIENT_STEPS: 16 bits a component. It is
 * rounded alike up and down, so that the two parcels of a pair have opposite gradients to the last bit. */
#ifndef METHODS_SPH_DENSITY_LAW_H
#define METHODS_SPH_DENSITY_LAW_H

#include "methods/sph/spline_law.h"

#define SPH_GRADIENT_STEPS 65536.0f /* the steepest gradient, 1 / pi, is 20861 of them */
/* Two parcels nearer than this share of the spacing have no direction of their own. */
#define SPH_COINCIDENT 1e-4f
/* What pushes such a pair apart, as the kernel's slope does at q = 0.15. */
#define SPH_COINCIDENT_GRADIENT 0.13f

/* In its steps. */
typedef struct SphGradient {
  Int x, y, z;
} SphGradient;

typedef struct SphPairTerm {
  Mask within;     /* the support */
  Mask coincident; /* the gradient has no direction */
  Real density;    /* pi V W_ij */
  SphGradient gradient;
} SphPairTerm;

/* Nearest whole number, the same for both signs. */
LANE_INLINE Int gradient_round(Real a) {
  return int_from_real(a + real_select(real_less(a, real(0)), real(-0.5f), real(0.5f)));
}

/* A neighbour at x_i - x_j = apart. */
LANE_INLINE SphPairTerm density_pair(LaneVec3 apart, float inverse_spacing) {
  Real inverse = real(inverse_spacing);
  Real q = real_sqrt(vec_dot(apart, apart)) * inverse;
  SplineValue spline = spline_at(q);
  Real slope = spline.slope * real(SPLINE_INVERSE_PI * SPH_GRADIENT_STEPS) * inverse;
  SphPairTerm term = {
      spline_within(q),
      real_less(q, real(SPH_COINCIDENT)),
      spline.shape,
      {gradient_round(slope * apart.x), gradient_round(slope * apart.y), gradient_round(slope * apart.z)}};
  return term;
}

/* Coincident parcels: some direction, made of three numbers in [0, 1) that belong to the pair; opposite for the two of
 * it. */
LANE_INLINE SphGradient density_coincident(Real x, Real y, Real z, Mask lower) {
  Real two = real(2), one = real(1);
  LaneVec3 direction = vec_make(two * x - one, two * y - one, two * z - one);
  Real size =
      real(SPH_COINCIDENT_GRADIENT * SPH_GRADIENT_STEPS) / real_sqrt(vec_dot(direction, direction) + real(1e-6f));
  size = real_select(lower, real(0) - size, size);
  SphGradient gradient = {int_from_real(size * direction.x), int_from_real(size * direction.y),
                          int_from_real(size * direction.z)};
  return gradient;
}

/* Eq. 1: the parcel's own kernel and those of its neighbours. */
LANE_INLINE Real density_total(Real neighbors) { return (real(1) + neighbors) * real(SPLINE_INVERSE_PI); }

LANE_INLINE Real density_excess(Real density) { return real_max(density - real(1), real(0)); }

#endif
