/* A distribution of radii as a table of quantiles, so that spheres can be placed from the largest to the smallest and
 * still have the distribution that drawing them one by one would give. */
#ifndef SAMPLING_SIZES_H
#define SAMPLING_SIZES_H

#include "core/core.h"

enum { SIZE_QUANTILES = 8192 };

typedef struct Sizes {
  double nominal; /* the mean */
  double smallest, largest;
  double mean_volume;
  double *quantile; /* SIZE_QUANTILES, ascending; NULL when all are equal */
} Sizes;

/* spread and distribution as in radii_draw. */
Status sizes_create(Core *core, double radius, double spread, int distribution, Sizes *sizes);
void sizes_destroy(Core *core, Sizes *sizes);
/* The radius below which a share u in [0, 1] of the spheres lies. */
double sizes_at(const Sizes *sizes, double u);

#endif
