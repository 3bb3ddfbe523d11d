#include "sampling/sizes.h"

#include <math.h>
#include <stdlib.h>

#include "core/rng.h"
#include "sampling/radii.h"

static int ascending(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

Status sizes_create(Core *core, double radius, double spread, int distribution, Sizes *sizes) {
  if (!(radius > 0) || !isfinite(radius)) return fail(core, SCREE_BAD_ARGUMENT, "the radius of samples is %g", radius);
  if (!(spread >= 0 && spread < 1)) return fail(core, SCREE_BAD_ARGUMENT, "the spread of radii is %g", spread);
  *sizes = (Sizes){.nominal = radius, .smallest = radius, .largest = radius};
  sizes->mean_volume = 4.0 / 3.0 * M_PI * radius * radius * radius;
  if (spread == 0) return SCREE_OK;
  sizes->smallest = radii_smallest(radius, spread, distribution);
  sizes->largest = radii_largest(radius, spread, distribution);
  TRY(memory_new(core, &sizes->quantile, SIZE_QUANTILES, "distribution of radii"));
  double sum = 0, cubes = 0;
  for (int k = 0; k < SIZE_QUANTILES; k++) {
    sizes->quantile[k] = radii_draw(radius, spread, distribution, rng_bits(0, (uint64_t)k, 0, RNG_RADIUS));
    sum += sizes->quantile[k];
  }
  qsort(sizes->quantile, SIZE_QUANTILES, sizeof *sizes->quantile, ascending);
  /* So many draws have the right mean to half a percent; make it exact. */
  for (int k = 0; k < SIZE_QUANTILES; k++) {
    double r = sizes->quantile[k] * (radius * SIZE_QUANTILES / sum);
    r = fmin(fmax(r, sizes->smallest), sizes->largest);
    sizes->quantile[k] = r;
    cubes += r * r * r;
  }
  sizes->mean_volume = 4.0 / 3.0 * M_PI * cubes / SIZE_QUANTILES;
  return SCREE_OK;
}

void sizes_destroy(Core *core, Sizes *sizes) { memory_drop(core, &sizes->quantile); }

double sizes_at(const Sizes *sizes, double u) {
  if (!sizes->quantile) return sizes->nominal;
  int k = (int)(u * SIZE_QUANTILES);
  return sizes->quantile[k < 0 ? 0 : k >= SIZE_QUANTILES ? SIZE_QUANTILES - 1 : k];
}
