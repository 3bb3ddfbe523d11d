/* Loops over all particles that every step has; see world_kernels.c. */
#ifndef WORLD_WORLD_KERNELS_H
#define WORLD_WORLD_KERNELS_H

#include "core/simd.h"
#include "state/particles.h"

/* Marks those of [b, e), the first in moved[0], that are about to be farther than `allowed` from where the lists know
 * them, or are no numbers; returns how many. */
KERNEL_DECLARE(int64_t, world_leaving, (const Particles *p, int64_t b, int64_t e, float allowed, uint8_t *moved));
/* Moves [b, e) by its displacements; returns the largest squared speed, NaN when something is not a number. */
KERNEL_DECLARE(double, world_move, (void *particles, int64_t b, int64_t e));

#endif
