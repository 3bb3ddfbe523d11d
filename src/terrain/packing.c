/* A settled arrangement of grains that repeats in space: where columns give grains back, the grains stand as in this.
 *
 * Random centres in a periodic cube are moved apart until none overlap. The cube is as large as its grains need at the
 * material's bulk density, well below the density at which nothing could be moved any more, so that it takes a few
 * hundred rounds. */
#include "core/rng.h"
#include "terrain/parts.h"

enum { ROUNDS_MAX = 3000 };
#define OVERLAP_LEFT 1e-3f  /* of a radius */
#define DENSEST_START 0.605 /* solid fraction: closer, and it would take too long */

static inline float wrap(float x, float side) { return x - side * floorf(x / side); }
static inline float nearest_image(float d, float side) {
  return d > 0.5f * side ? d - side : d < -0.5f * side ? d + side : d;
}

/* Moves overlapping pairs apart; returns the deepest overlap, in radii. */
static float part_pairs(Packing *p, float gain) {
  float deepest = 0, side = (float)p->side;
  for (int i = 0; i < PACKING_GRAINS; i++)
    for (int j = 0; j < i; j++) {
      float x = nearest_image(p->x[i] - p->x[j], side), y = nearest_image(p->y[i] - p->y[j], side),
            z = nearest_image(p->z[i] - p->z[j], side);
      float reach = p->radius[i] + p->radius[j], square = x * x + y * y + z * z;
      if (square >= reach * reach) continue;
      float apart = sqrtf(square), depth = reach - apart;
      deepest = fmaxf(deepest, 2 * depth / reach);
      float push = 0.5f * gain * (depth + 1e-4f * reach) / fmaxf(apart, 1e-6f * reach);
      p->x[i] += push * x, p->y[i] += push * y, p->z[i] += push * z;
      p->x[j] -= push * x, p->y[j] -= push * y, p->z[j] -= push * z;
    }
  for (int i = 0; i < PACKING_GRAINS; i++) {
    p->x[i] = wrap(p->x[i], side);
    p->y[i] = wrap(p->y[i], side);
    p->z[i] = wrap(p->z[i], side);
  }
  return deepest;
}

void packing_create(Packing *p, const float *radii, double bulk, double grain_density, uint64_t seed) {
  double volume = 0;
  for (int i = 0; i < PACKING_GRAINS; i++) {
    double r = (double)radii[i], each = 4.0 / 3 * M_PI * r * r * r;
    p->radius[i] = radii[i];
    p->mass[i] = (float)(each * grain_density);
    volume += each;
  }
  p->side = cbrt(volume / fmin(DENSEST_START, fmax(0.1, bulk / grain_density)));
  for (int i = 0; i < PACKING_GRAINS; i++) {
    p->x[i] = (float)(p->side * rng_unit(rng_bits(seed, (uint64_t)i, 0, RNG_EXCHANGE)));
    p->y[i] = (float)(p->side * rng_unit(rng_bits(seed, (uint64_t)i, 1, RNG_EXCHANGE)));
    p->z[i] = (float)(p->side * rng_unit(rng_bits(seed, (uint64_t)i, 2, RNG_EXCHANGE)));
  }
  for (int round = 0; round < ROUNDS_MAX; round++)
    if (part_pairs(p, round < 100 ? 0.8f : 1.0f) < OVERLAP_LEFT) break;
}
