#ifndef METHODS_DEM_CONTACT_KERNELS_H
#define METHODS_DEM_CONTACT_KERNELS_H

#include "methods/dem/contacts.h"

/* The grains' rows; ranges are grains, from multiples of DEM_CHUNK. */
KERNEL_DECLARE(void, dem_row_pass, (void *work, int64_t b, int64_t e, int thread));
/* Forces of contacts [b, e), whole groups, of the slab that begins with grain `base`, added to the sums of its grains;
 * what outer pairs exert on their second grains goes to the outbox; what solids exert is also stored, from the first of
 * these contacts on. Answers the largest squared frequency. */
KERNEL_DECLARE(float, dem_pair_forces,
               (const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM]));
KERNEL_DECLARE(float, dem_outer_forces,
               (const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM]));
KERNEL_DECLARE(float, dem_solid_forces,
               (const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM],
                float (*results)[DEM_SUM]));
/* Kicks of the grains [b, e), one slab. */
KERNEL_DECLARE(void, dem_kick_slab, (const DemStep *work, int64_t b, int64_t e, const float (*sums)[DEM_SUM]));
/* What was missing for the grains that had to wait; ranges are places in the list of them. */
KERNEL_DECLARE(void, dem_late_pass, (void *work, int64_t b, int64_t e, int thread));

#endif
