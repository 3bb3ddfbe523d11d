/* A settled arrangement of grains that repeats in space: where columns give grains back, the grains stand as in this.
 *
 * Random centres in a periodic cube are moved apart until none overlap. The cube is as large as its grains need at the
 * material's bulk density, well below the density at which nothing could be moved any more, so that it takes a few
 * hundred rounds. */
#include "core/portable.h"
#include "core/rng.h"
#include "terrain/parts.h"

enum { ROUNDS_MAX = 3000 };
#define OVERLAP_LEFT 1e-3f  /* of a radius */
#define DENSEST_START 0.605 /* solid fraction: closer, and it would take too long */

static inline float wrap(float x, float side) { return x - side * floorf(x / side); }
static inline float nearest_image(float d, float side) {
  return d > 0.5f * side ? d - side : d < -0.5f * side ? d + side : d;
}

/* Pairs that may come to overlap before some grain has moved by half of SKIN, in the order in which all would be gone
 * through: `of` and `with`, of > with. */
#define SKIN 0.5f /* of the largest radius */
enum { PAIRS_MAX = PACKING_GRAINS * (PACKING_GRAINS - 1) / 2 };
typedef struct Pairs {
  int count;
  uint16_t of[PAIRS_MAX], with[PAIRS_MAX];
  float x[PACKING_GRAINS], y[PACKING_GRAINS], z[PACKING_GRAINS]; /* where the grains were */
  float skin;
} Pairs;

static void list_pairs(const Packing *p, Pairs *pairs) {
  float side = (float)p->side;
  pairs->count = 0;
  for (int i = 0; i < PACKING_GRAINS; i++) {
    pairs->x[i] = p->x[i], pairs->y[i] = p->y[i], pairs->z[i] = p->z[i];
    for (int j = 0; j < i; j++) {
      float x = nearest_image(p->x[i] - p->x[j], side), y = nearest_image(p->y[i] - p->y[j], side),
            z = nearest_image(p->z[i] - p->z[j], side), reach = p->radius[i] + p->radius[j] + pairs->skin;
      if (x * x + y * y + z * z >= reach * reach) continue;
      pairs->of[pairs->count] = (uint16_t)i, pairs->with[pairs->count++] = (uint16_t)j;
    }
  }
}

static bool list_holds(const Packing *p, const Pairs *pairs) {
  float side = (float)p->side, most = 0;
  for (int i = 0; i < PACKING_GRAINS; i++) {
    float x = nearest_image(p->x[i] - pairs->x[i], side), y = nearest_image(p->y[i] - pairs->y[i], side),
          z = nearest_image(p->z[i] - pairs->z[i], side);
    most = fmaxf(most, x * x + y * y + z * z);
  }
  return most < 0.16f * pairs->skin * pairs->skin;
}

/* Moves a pair apart if it overlaps; its overlap in radii. */
static float part_pair(Packing *p, int i, int j, float gain) {
  float side = (float)p->side;
  float x = nearest_image(p->x[i] - p->x[j], side), y = nearest_image(p->y[i] - p->y[j], side),
        z = nearest_image(p->z[i] - p->z[j], side);
  float reach = p->radius[i] + p->radius[j], square = x * x + y * y + z * z;
  if (square >= reach * reach) return 0;
  float apart = sqrtf(square), depth = reach - apart;
  float push = 0.5f * gain * (depth + 1e-4f * reach) / fmaxf(apart, 1e-6f * reach);
  p->x[i] += push * x, p->y[i] += push * y, p->z[i] += push * z;
  p->x[j] -= push * x, p->y[j] -= push * y, p->z[j] -= push * z;
  return 2 * depth / reach;
}

/* Moves overlapping pairs apart; returns the deepest overlap, in radii. */
static float part_pairs(Packing *p, const Pairs *pairs, float gain) {
  float deepest = 0, side = (float)p->side;
  for (int k = 0; k < pairs->count; k++) deepest = fmaxf(deepest, part_pair(p, pairs->of[k], pairs->with[k], gain));
  for (int i = 0; i < PACKING_GRAINS; i++) {
    p->x[i] = wrap(p->x[i], side);
    p->y[i] = wrap(p->y[i], side);
    p->z[i] = wrap(p->z[i], side);
  }
  return deepest;
}

Status packing_create(Core *core, Packing *p, const float *radii, double bulk, double grain_density, uint64_t seed) {
  Pairs *pairs = NULL;
  double volume = 0;
  TRY(memory_new(core, &pairs, 1, "packing"));
  for (int i = 0; i < PACKING_GRAINS; i++) {
    double r = (double)radii[i], each = 4.0 / 3 * M_PI * r * r * r;
    p->radius[i] = radii[i];
    pairs->skin = fmaxf(pairs->skin, SKIN * radii[i]);
    p->mass[i] = (float)(each * grain_density);
    volume += each;
  }
  p->side = portable_cbrt(volume / fmin(DENSEST_START, fmax(0.1, bulk / grain_density)));
  for (int i = 0; i < PACKING_GRAINS; i++) {
    p->x[i] = (float)(p->side * rng_unit(rng_bits(seed, (uint64_t)i, 0, RNG_EXCHANGE)));
    p->y[i] = (float)(p->side * rng_unit(rng_bits(seed, (uint64_t)i, 1, RNG_EXCHANGE)));
    p->z[i] = (float)(p->side * rng_unit(rng_bits(seed, (uint64_t)i, 2, RNG_EXCHANGE)));
  }
  list_pairs(p, pairs);
  for (int round = 0; round < ROUNDS_MAX; round++) {
    if (part_pairs(p, pairs, round < 100 ? 0.8f : 1.0f) < OVERLAP_LEFT) break;
    if (!list_holds(p, pairs)) list_pairs(p, pairs);
  }
  memory_drop(core, &pairs);
  return SCREE_OK;
}
