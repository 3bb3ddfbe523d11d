/* How far particles move in a step. */
#ifndef METHODS_FLIP_TRANSFER_ADVECTION_KERNELS_H
#define METHODS_FLIP_TRANSFER_ADVECTION_KERNELS_H

#include "methods/flip/transfer/gather_kernels.h"

/* Bits of a particle: moves farther than the root of `long_displacement`; may end in a solid. */
enum { DISPLACEMENT_IS_LONG = 1, DISPLACEMENT_INTO_SOLID = 2 };
/* The particles of one strip. */
typedef struct Displacements {
  const float *x, *y, *z;          /* in cells */
  float place[3];                  /* of the strip */
  float longest[STRIP];            /* displacement from each cell, m */
  float share[STRIP];              /* what squares of speeds count there */
  float long_displacement;         /* square of it, m^2 */
  float cell;                      /* m */
  const float *distance;           /* of solids, at the corners of the cells, in cells; NULL: none are near */
  float slack[STRIP];              /* what lies nearer to one than this may come to lie in it */
  float pressed[STRIP];            /* 1: the cell has pressure; 0 */
  float *displacement[3], *square; /* of the speed */
  uint8_t *bits;                   /* of the particles */
} Displacements;
/* Limits the displacements of `count` particles. Returns all bits together; `fastest` gets what the largest
 * squares of speeds count: in cells without pressure, and in those with it. */
KERNEL_DECLARE(uint32_t, flip_limit_displacements,
               (const Displacements *displacements, int32_t count, float fastest[2]));
/* Lanes whose faces stopped something along any axis, for strips [b, e). */
KERNEL_DECLARE(void, flip_stopped_lanes, (float *const stop[3], int64_t b, int64_t e, uint8_t *lanes));

#endif
