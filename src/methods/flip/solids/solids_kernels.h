#ifndef METHODS_FLIP_SOLIDS_SOLIDS_KERNELS_H
#define METHODS_FLIP_SOLIDS_SOLIDS_KERNELS_H

#include "methods/flip/fields.h"

/* What of cells and faces is free, and whose the faces are, for strips b to e; shares below `least` are none. */
KERNEL_DECLARE(void, flip_shares,
               (const StripSolids *const *now, const FlipFields *fields, float least, int64_t b, int64_t e));

#endif
