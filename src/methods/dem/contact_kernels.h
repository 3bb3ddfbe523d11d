#ifndef METHODS_DEM_CONTACT_KERNELS_H
#define METHODS_DEM_CONTACT_KERNELS_H

#include "methods/dem/contacts.h"

typedef struct DemPass {
  const DemStep *work;
  DemPairs *pairs;
  int64_t chunk;   /* groups */
  float *stiffest; /* per chunk */
} DemPass;

/* The grains' rows; ranges are grains, from multiples of LANES. */
KERNEL_DECLARE(void, dem_row_pass, (void *work, int64_t b, int64_t e, int thread));
/* Ranges are groups of LANES pairs. */
KERNEL_DECLARE(void, dem_force_pass, (void *pass, int64_t b, int64_t e, int thread));
/* Ranges are grains. */
KERNEL_DECLARE(void, dem_gather_pass, (void *work, int64_t b, int64_t e, int thread));

#endif
