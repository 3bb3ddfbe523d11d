#include "sampling/radii.h"

#include "core/rng.h"
#include "core/vec.h"
#include "scree/definitions.h"

enum { NORMAL_TERMS = 12 };
#define NORMAL_REACH 2.5 /* draws farther out than this many sigma are pulled in */

/* exp by its series after halving: libm's differs between machines in the last bit. */
static double exponential(double x) {
  double small = x / 64, sum = 1, term = 1;
  for (int k = 1; k < 12; k++) {
    term *= small / k;
    sum += term;
  }
  for (int k = 0; k < 6; k++) sum *= sum;
  return sum;
}

/* Sum of uniforms (Irwin and Hall): close to normal, and bounded. */
static double normal(uint64_t bits) {
  double sum = -NORMAL_TERMS / 2.0;
  for (int k = 0; k < NORMAL_TERMS; k++) {
    bits = rng_mix(bits);
    sum += rng_unit(bits);
  }
  return sum > NORMAL_REACH ? NORMAL_REACH : sum < -NORMAL_REACH ? -NORMAL_REACH : sum;
}

static double lognormal(double radius, double sigma, double z) {
  return radius * exponential(sigma * z - 0.5 * sigma * sigma);
}

double radii_draw(double radius, double spread, int distribution, uint64_t bits) {
  if (!(spread > 0)) return radius;
  if (distribution == SCREE_RADII_LOGNORMAL) return lognormal(radius, spread, normal(bits));
  return radius * (1 + spread * (2 * rng_unit(bits) - 1));
}

double radii_smallest(double radius, double spread, int distribution) {
  return distribution == SCREE_RADII_LOGNORMAL ? lognormal(radius, spread, -NORMAL_REACH) : radius * (1 - spread);
}

double radii_largest(double radius, double spread, int distribution) {
  return distribution == SCREE_RADII_LOGNORMAL ? lognormal(radius, spread, NORMAL_REACH) : radius * (1 + spread);
}

double radii_mean_volume(double radius, double spread, int distribution) {
  double cube = distribution == SCREE_RADII_LOGNORMAL ? exponential(3 * spread * spread) : 1 + spread * spread;
  return 4.0 / 3 * M_PI * radius * radius * radius * cube;
}
