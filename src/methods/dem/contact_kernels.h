#ifndef METHODS_DEM_CONTACT_KERNELS_H
#define METHODS_DEM_CONTACT_KERNELS_H

#include "methods/dem/contacts.h"

/* Rows of the grains [b, e), alone or after the first half kick. b is a multiple of DEM_CHUNK. */
KERNEL_DECLARE(void, dem_row_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, dem_kick_and_row_pass, (void *work, int64_t b, int64_t e, int thread));
/* Forces of the contacts [b, e), whole groups. Those of pairs and boundary contacts are added to `sums`, those of a
 * window whose first grain is `base`. Those of boundary contacts are also stored in `exerted`, from contact b on; those
 * of outer pairs in work->forces.outer. Returns the largest squared frequency. */
KERNEL_DECLARE(float, dem_pair_forces,
               (const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM]));
KERNEL_DECLARE(float, dem_outer_forces, (const DemStep *work, int64_t b, int64_t e));
KERNEL_DECLARE(float, dem_boundary_forces,
               (const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM],
                float (*exerted)[DEM_SUM]));
/* Adds what outer pairs exert to the sums of the grains [b, e), one window. */
KERNEL_DECLARE(void, dem_sum_outer, (const DemStep *work, int64_t b, int64_t e, float (*sums)[DEM_SUM]));
/* Kicks the grains [b, e), one window. */
KERNEL_DECLARE(void, dem_kick_window, (const DemStep *work, int64_t b, int64_t e, const float (*sums)[DEM_SUM]));

#endif
