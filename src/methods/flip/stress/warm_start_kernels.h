#ifndef METHODS_FLIP_STRESS_WARM_START_KERNELS_H
#define METHODS_FLIP_STRESS_WARM_START_KERNELS_H

#include "methods/flip/fields.h"

/* A rigid motion near the cells of a strip; lengths in m. */
typedef struct StripMotion {
  double x, across;           /* from the solid's centre to the middle of the first cell: along x, square across it */
  double cell, extent, reach; /* up to `extent` cells move with the solid, farther away less and less up to `reach` */
  double displacement[3], more[3]; /* of the first cell, and how much more of each that follows, in cells */
} StripMotion;

/* Where no other motion has more weight (`most`), this one's displacement; returns the longest. */
KERNEL_DECLARE(float, flip_strip_displacement,
               (const StripMotion *motion, float most[STRIP], float displacement[3][STRIP]));

/* Where the stress of a strip comes from, if all of its cells come from the same place but for their fractions: rows
 * (y, z) of the last step, strips that may be 0. */
typedef struct StripSource {
  int32_t at[4], beside[4]; /* beside: the strips behind these along x, or before them */
  bool behind;
  float upper[3][STRIP]; /* shares of the upper of two cells */
} StripSource;

KERNEL_DECLARE(void, flip_advect_stress,
               (const StripSource *source, float *const from[STRESSES], float *const to[STRESSES], int64_t at));

#endif
