/* The cubic spline and what follows from it, in units of the spacing d = 2 radius of the parcels.
 *
 * W(x) = w(q) / (pi d^3), q = |x| / d, support 2 d. On a cubic lattice of spacing d its sum times d^3 is 0.9998, so
 * that a fill begins at rest density.
 *
 * A wall is a stack of such layers, smeared along the wall: the first lies half a spacing below the surface. A layer at
 * distance z then counts d w1(z), w1 being W integrated over a plane; that is what a lattice layer counts (0.1497
 * against 0.15 at z = d), so that a parcel rests half a spacing above a wall as it rests a spacing above another. */
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

/* What a wall adds to a parcel that rests on it. */
#define WALL_AT_REST 0.15

/* A wall has no pressure of its own. With the pressure of the parcel (mirroring) its force doubles but not its part in
 * the density: such a force is no gradient of the density, does work, and keeps settled sand moving. Instead the wall's
 * share grows about twice as fast near where a parcel rests, and is the same there: the same force, and no work.
 * Farther off it goes to zero smoothly. */
#define WALL_STIFFER 2.1
#define WALL_BEND 0.7 /* below this share of that at rest */
static inline void spline_wall_stiffen(double *share, double *slope) {
  double bend = WALL_BEND * WALL_AT_REST, at_bend = WALL_AT_REST + WALL_STIFFER * (bend - WALL_AT_REST);
  double none = bend - 2 * at_bend / WALL_STIFFER, x = (*share - none) / (bend - none);
  if (x > 1) {
    *share = WALL_AT_REST + WALL_STIFFER * (*share - WALL_AT_REST);
    *slope *= WALL_STIFFER;
  } else {
    *share = x > 0 ? at_bend * x * x : 0;
    *slope *= x > 0 ? WALL_STIFFER * x : 0;
  }
}

/* Nearer to a wall's first layer than this its pull would fade; there the wall goes on as a straight line, so that
 * what is inside is pushed out, the harder the deeper. */
#define WALL_STEEPEST 0.65

/* What a flat wall adds to the relative density of a parcel whose centre is `distance` (in spacings, signed) above its
 * surface, and how fast that falls with the distance. */
static inline void spline_wall(double distance, double *share, double *slope) {
  double q = distance + 0.5, at = q > WALL_STEEPEST ? q : WALL_STEEPEST;
  *share = spline_plane(at) + spline_plane(at + 1);
  *slope = spline_plane_slope(at) + spline_plane_slope(at + 1);
  *share += (at - q) * *slope;
  spline_wall_stiffen(share, slope);
}
/* Farthest at which a wall counts. */
#define WALL_SUPPORT 1.5

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
