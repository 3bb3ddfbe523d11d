/* Sine and cosine in double, in the common subset of C and OpenCL C: portable.c has them for the host. */
#ifndef CORE_PORTABLE_TURN_SHARED_H
#define CORE_PORTABLE_TURN_SHARED_H

#include "core/vec_law.h"

#ifdef __OPENCL_C_VERSION__
#define PORTABLE_FUNCTION VEC_INLINE
#else
#define PORTABLE_FUNCTION /* declared in a header */
#endif

/* An argument as `quarters` times pi/2 and a rest of at most pi/4 in two parts, the second below half a unit in the
 * last place of the first. */
typedef struct Turned {
  int quarters; /* modulo 4 */
  double rest, tail;
} Turned;

/* pi/2 in three parts; the first two have 33 bits, so that their products with fewer than 2^20 quarters are exact. */
VEC_INLINE Turned quarters_of(double x) {
  const double first = 0x1.921fb544p+0, second = 0x1.0b4611a6p-34, third = 0x1.3198a2e037073p-69;
  const double two_over_pi = 0x1.45f306dc9c883p-1, half_pi = 0x1.921fb54442d18p+0, most = 0x1p+20;
  if (!(fabs(x) < most)) x = fmod(x, 4 * half_pi); /* its error is below half a unit in the last place of x */
  const double quarters = floor(x * two_over_pi + 0.5);
  const double a = x - quarters * first, b = quarters * second, rough = a - b;
  const double low = ((a - rough) - b) - quarters * third, rest = rough + low;
  const Turned turned = {(int)fmod(quarters, 4.0) + 4, rest, (rough - rest) + low};
  return turned;
}

/* Series; what is left out is below 2^-56 of the result for |x| <= pi/4. The first terms are added last, and the tail
 * enters to first order. */
VEC_INLINE double sine_of(Turned t) {
  double x = t.rest, s = x * x;
  double sum = 1.0 / 355687428096000;
  sum = sum * s - 1.0 / 1307674368000;
  sum = sum * s + 1.0 / 6227020800;
  sum = sum * s - 1.0 / 39916800;
  sum = sum * s + 1.0 / 362880;
  sum = sum * s - 1.0 / 5040;
  sum = sum * s + 1.0 / 120;
  sum = sum * s - 1.0 / 6;
  return x + (x * s * sum + t.tail * (1 - 0.5 * s));
}
VEC_INLINE double cosine_of(Turned t) {
  double x = t.rest, s = x * x, half_s = 0.5 * s, whole = 1 - half_s;
  double sum = 1.0 / 20922789888000;
  sum = sum * s - 1.0 / 87178291200;
  sum = sum * s + 1.0 / 479001600;
  sum = sum * s - 1.0 / 3628800;
  sum = sum * s + 1.0 / 40320;
  sum = sum * s - 1.0 / 720;
  sum = sum * s + 1.0 / 24;
  return whole + (((1 - whole) - half_s) + (s * s * sum - x * t.tail));
}

PORTABLE_FUNCTION double portable_sin(double x) {
  if (x == 0 || !isfinite(x)) return x == 0 ? x : NAN;
  const Turned t = quarters_of(x);
  const double size = t.quarters % 2 ? cosine_of(t) : sine_of(t);
  return t.quarters % 4 < 2 ? size : -size;
}
PORTABLE_FUNCTION double portable_cos(double x) {
  if (!isfinite(x)) return NAN;
  const Turned t = quarters_of(x);
  const double size = t.quarters % 2 ? sine_of(t) : cosine_of(t);
  return (t.quarters + 1) % 4 < 2 ? size : -size;
}

#endif
