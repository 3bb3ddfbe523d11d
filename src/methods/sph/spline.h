/* The cubic spline and what follows from it, in units of the spacing d = 2 radius of the parcels.
 *
 * W(x) = w(q) / (pi d^3), q = |x| / d, support 2 d. On a cubic lattice of spacing d its sum times d^3 is 0.9998, so
 * that a fill begins at rest density. */
#ifndef METHODS_SPH_SPLINE_H
#define METHODS_SPH_SPLINE_H

#include <math.h>

#define SPLINE_SUPPORT 2.0 /* in spacings */

static inline double spline_shape(double q) {
  if (q >= 2) return 0;
  return q < 1 ? 1 - 1.5 * q * q + 0.75 * q * q * q : 0.25 * (2 - q) * (2 - q) * (2 - q);
}
/* dw/dq */
static inline double spline_slope(double q) {
  if (q >= 2) return 0;
  return q < 1 ? -3 * q + 2.25 * q * q : -0.75 * (2 - q) * (2 - q);
}

/* d times W integrated over a plane at distance q d: 2 int_q^2 w t dt. */
static inline double spline_plane(double q) {
  if (q >= 2) return 0;
  double u = 2 - q, q2 = q * q;
  if (q >= 1) return 2 * u * u * u * u * (0.125 - 0.05 * u);
  return 2 * (0.35 - 0.5 * q2 + 0.375 * q2 * q2 - 0.15 * q2 * q2 * q);
}
/* Minus the derivative of that with q. */
static inline double spline_plane_slope(double q) { return 2 * spline_shape(q) * q; }

/* Sum over a full cubic lattice of |d^4 grad W|^2, for the diagonal of the solve. */
static inline double spline_lattice_square(void) {
  double sum = 0;
  for (int x = -2; x <= 2; x++)
    for (int y = -2; y <= 2; y++)
      for (int z = -2; z <= 2; z++) {
        double slope = spline_slope(sqrt((double)(x * x + y * y + z * z))) / M_PI;
        sum += slope * slope;
      }
  return sum;
}

/* Of a layer of a cubic lattice next to a parcel: the lengths of its gradients d^4 grad W added up, and their sum. */
typedef struct SplineLayer {
  double length, sum;
} SplineLayer;
static inline SplineLayer spline_layer(void) {
  SplineLayer layer = {0, 0};
  for (int x = -2; x <= 2; x++)
    for (int y = -2; y <= 2; y++) {
      double q = sqrt((double)(x * x + y * y + 1)), slope = -spline_slope(q) / M_PI;
      layer.length += slope;
      layer.sum += slope / q;
    }
  return layer;
}

#endif
