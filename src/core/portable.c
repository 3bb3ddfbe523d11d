#include "core/portable.h"

#include <math.h>
#include <stdbool.h>

#include "core/portable_turn_shared.h"

static const double HALF_PI = 0x1.921fb54442d18p+0, HALF_PI_REST = 0x1.1a62633145c07p-54;

double portable_tan(double x) {
  if (x == 0 || !isfinite(x)) return x == 0 ? x : NAN;
  Turned t = quarters_of(x);
  return t.quarters % 2 ? -cosine_of(t) / sine_of(t) : sine_of(t) / cosine_of(t);
}

/* For 0 <= x <= 1: the nearest k/8, and the series of what is left, t = (x - k/8) / (1 + x k/8), |t| <= 1/16. */
static double small_arctangent(double x, double *tail) {
  static const double eighths[][2] = {{0, 0},
                                      {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                      {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                      {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                      {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                      {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                      {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                      {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                      {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};
  double k = floor(8 * x + 0.5), c = k / 8, t = (x - c) / (1 + x * c), s = t * t;
  double sum = 1.0 / 13;
  sum = sum * s - 1.0 / 11;
  sum = sum * s + 1.0 / 9;
  sum = sum * s - 1.0 / 7;
  sum = sum * s + 1.0 / 5;
  sum = sum * s - 1.0 / 3;
  double high = eighths[(int)k][0], low = eighths[(int)k][1] + (t + t * s * sum);
  *tail = (high - (high + low)) + low;
  return high + low;
}

/* The angle of a point in the first quadrant, its size in two parts. */
static double quadrant_angle(double y, double x, double *tail) {
  bool steep = y > x;
  double low = steep ? x : y, high = steep ? y : x;
  double ratio = low == high ? high > 0 : low / high; /* also for two infinities; 0 for two zeros */
  double angle = small_arctangent(ratio, tail);
  if (!steep) return angle;
  double other = HALF_PI - angle;
  *tail = ((HALF_PI - other) - angle) + (HALF_PI_REST - *tail);
  return other;
}

double portable_atan(double x) {
  if (x == 0 || isnan(x)) return x;
  double tail, angle = quadrant_angle(fabs(x), 1, &tail);
  return copysign(angle + tail, x);
}
double portable_atan2(double y, double x) {
  if (isnan(x) || isnan(y)) return NAN;
  double tail, angle = quadrant_angle(fabs(y), fabs(x), &tail);
  if (signbit(x)) {
    double other = 2 * HALF_PI - angle;
    tail = ((2 * HALF_PI - other) - angle) + (2 * HALF_PI_REST - tail);
    angle = other;
  }
  return copysign(angle + tail, y);
}

/* ln 2 in two parts: the first has 32 bits, so that its products with exponents are exact. */
static const double LN2 = 0x1.62e42fee00000p-1, LN2_REST = 0x1.a39ef35793c76p-33;

double portable_exp(double x) {
  static const double one_over_ln2 = 0x1.71547652b82fep+0;
  if (isnan(x)) return x;
  if (x > 710) return INFINITY;
  if (x < -746) return 0;
  double k = floor(x * one_over_ln2 + 0.5), a = x - k * LN2, b = k * LN2_REST, r = a - b, tail = (a - r) - b;
  double sum = 1.0 / 6227020800; /* 1/13!; r^14/14! is below 2^-57 for |r| <= ln(2)/2 */
  sum = sum * r + 1.0 / 479001600;
  sum = sum * r + 1.0 / 39916800;
  sum = sum * r + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  double power = 1 + (r + (r * r * sum + tail * (1 + r)));
  return ldexp(power, (int)k);
}

double portable_log(double x) {
  if (isnan(x) || x < 0) return NAN;
  if (x == 0) return -INFINITY;
  if (isinf(x)) return x;
  int exponent;
  double m = frexp(x, &exponent);
  if (m < 0.70710678118654752) m *= 2, exponent--;
  /* With t = f / (2 + f): ln(1 + f) = 2 t + t z, z = 2 t^2 / 3 + 2 t^4 / 5 ..., and 2 t = f - f^2 / 2 + t f^2 / 2,
   * whose first term is exact. |t| < 0.172. */
  double f = m - 1, t = f / (2 + f), s = t * t, half = 0.5 * f * f;
  double sum = 2.0 / 23;
  sum = sum * s + 2.0 / 21;
  sum = sum * s + 2.0 / 19;
  sum = sum * s + 2.0 / 17;
  sum = sum * s + 2.0 / 15;
  sum = sum * s + 2.0 / 13;
  sum = sum * s + 2.0 / 11;
  sum = sum * s + 2.0 / 9;
  sum = sum * s + 2.0 / 7;
  sum = sum * s + 2.0 / 5;
  sum = sum * s + 2.0 / 3;
  return exponent * LN2 - ((half - (t * (half + s * sum) + exponent * LN2_REST)) - f);
}

double portable_cbrt(double x) {
  if (x == 0 || !isfinite(x)) return x;
  int exponent;
  double m = frexp(fabs(x), &exponent);
  while (exponent % 3 != 0) m *= 2, exponent--; /* m from 1/2 to 4 */
  double y = 0.617 + 0.408 * m - 0.042 * m * m; /* within 2.2 % */
  for (int k = 0; k < 4; k++) y -= (y - m / (y * y)) / 3;
  return copysign(ldexp(y, exponent / 3), x);
}
