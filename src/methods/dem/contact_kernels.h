#ifndef METHODS_DEM_CONTACT_KERNELS_H
#define METHODS_DEM_CONTACT_KERNELS_H

#include "methods/dem/contacts.h"

/* The grains' rows, alone or behind the first half kick; ranges are grains, from multiples of DEM_CHUNK. */
KERNEL_DECLARE(void, dem_row_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, dem_kick_and_row_pass, (void *work, int64_t b, int64_t e, int thread));
/* Forces of contacts [b, e), whole groups, of the slab that begins with grain `base`, added to the sums of its grains;
 * what solids exert is also stored, from the first of these contacts on; what outer pairs exert goes to the outbox.
 * Answers the largest squared frequency. */
KERNEL_DECLARE(float, dem_pair_forces,
               (const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM]));
KERNEL_DECLARE(float, dem_outer_forces, (const DemStep *work, int64_t b, int64_t e));
KERNEL_DECLARE(float, dem_solid_forces,
               (const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM],
                float (*results)[DEM_SUM]));
/* Sums of the grains [b, e), one slab, of what outer pairs exert on them. */
KERNEL_DECLARE(void, dem_sum_outer, (const DemStep *work, int64_t b, int64_t e, float (*sums)[DEM_SUM]));
/* Kicks of the grains [b, e), one slab. */
KERNEL_DECLARE(void, dem_kick_slab, (const DemStep *work, int64_t b, int64_t e, const float (*sums)[DEM_SUM]));

#endif
