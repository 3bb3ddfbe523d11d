/* Nodes to particles: trilinear interpolation and the FLIP update. */
#ifndef METHODS_FLIP_TRANSFER_GATHER_KERNELS_H
#define METHODS_FLIP_TRANSFER_GATHER_KERNELS_H

#include "methods/flip/fields.h"

/* What particles take from the grid. Nodes that are not valid hold zeros. Those that do not count for a particle (not
 * valid; not bearing, where it is restricted to those) have its gradient from the mean of the others. */
typedef struct Gather {
  const FlipGrid *grid;
  const int32_t *start;
  const float *x, *y, *z; /* in cells */
  const float *norm[3];   /* per particle: 1 / sum of the weights of the faces that count, where some do not */
  const float *velocity[3], *change[3], *correction[3], *settle[3];
  const uint8_t *near;                  /* per strip: some nodes round it may not be valid */
  const uint8_t *restricted_lanes;      /* per strip, a bit a lane: some particle of the cell is restricted */
  const uint8_t *restricted;            /* per particle, a bit an axis */
  const uint8_t *valid[3], *bearing[3]; /* per strip, a bit a lane */
  const float *before[3];               /* velocity of the particles */
  float gained[3];                      /* what gravity adds to it */
  float dt;
  float inverse_cell;
} Gather;

/* Of the particles of one strip, in whole registers. */
typedef struct Gathered {
  float *velocity[3], *displacement[3];
  float *square;      /* of the speed that it moves with */
  float *gradient[9]; /* of the velocity, 1/s: row = component; NULL: not wanted */
} Gathered;

KERNEL_DECLARE(void, flip_gather, (const Gather *gather, int32_t strip, const Gathered *to));

#endif
