/* Spring and damper as averaged iterations apply them (Holz 2014, Eq. 21 and 28). One text for CPU and devices, in
 * double. */
#ifndef METHODS_P2_P2_FACTOR_SHARED_H
#define METHODS_P2_P2_FACTOR_SHARED_H

#include "methods/p2/p2_slot_law.h"

/* The n-th root of x in [0, 1], the same bits on every machine. */
VEC_INLINE double p2_root(double x, int n) {
  if (!(x > 0) || n <= 1) return x > 0 ? x : 0;
  if (x >= 1) return 1;
  /* Newton from above falls monotonically: about -log x linear steps, then a few quadratic ones. */
  double y = 1;
  for (int k = 0; k < 1000; k++) {
    double power = 1, base = y;
    for (int rest = n - 1; rest > 0; rest >>= 1, base *= base)
      if (rest & 1) power *= base;
    double next = power > 0 ? y - (y - x / power) / n : y * (1 - 1.0 / n);
    if (!(next < y)) break;
    y = next;
  }
  return y;
}

/* What one of n iterations applies of spring and damper. */
typedef struct P2Factors {
  double spring, damper;
} P2Factors;

/* stiffness may be infinite; both zero: no contact. mass is the reduced mass. */
VEC_INLINE P2Factors p2_factors(double stiffness, double damping, double mass, double dt, int iterations) {
  P2Factors factors = {1, 0};
  if (p2_is_rigid(stiffness)) return factors;
  double spring = dt * dt * stiffness / mass, damper = dt * damping / mass;
  factors.spring = 0;
  if (!(spring + damper > 0)) return factors;
  factors.damper = 1;
  if (p2_is_rigid(damper)) return factors;
  double whole = 1 + spring + damper; /* Eq. 21 */
  double c = damper / whole, alpha = 1 / whole;
  double root = p2_root(alpha, iterations);
  double part = (1 - root) / (1 - alpha); /* Eq. 28 */
  factors.spring = 1 - c * part - root;
  factors.damper = c * part;
  return factors;
}

VEC_INLINE P2Made p2_average_spring(P2Made made, P2Factors factors) {
  made.spring = (float)factors.spring;
  made.damper = (float)factors.damper;
  if (!(factors.spring + factors.damper > 0)) made.within = -P2_EVER;
  return made;
}

#endif
