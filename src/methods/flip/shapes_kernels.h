/* Who lies near a particle. */
#ifndef METHODS_FLIP_SHAPES_KERNELS_H
#define METHODS_FLIP_SHAPES_KERNELS_H

#include "methods/flip/grid.h"

enum { NEAR_BATCH = 64 };
/* Particles from b on, `count` of them and at most NEAR_BATCH, that are no farther from a point than the root of
 * `square`, all in cells: a bit each. Reads whole registers. */
KERNEL_DECLARE(uint64_t, flip_near,
               (const FlipOrder *order, int32_t b, int32_t count, const float at[3], float square));

#endif
