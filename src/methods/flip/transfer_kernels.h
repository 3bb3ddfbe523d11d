/* Between particles and grid: weights are trilinear, nodes gather. */
#ifndef METHODS_FLIP_TRANSFER_KERNELS_H
#define METHODS_FLIP_TRANSFER_KERNELS_H

#include "methods/flip/fields.h"

/* Particles in the order of their cells, as the grid sees them. */
typedef struct Parcels {
  const FlipGrid *grid;
  const int32_t *start;
  const float *x, *y, *z; /* in cells */
  const float *volume;    /* for the centres, m^3 at rest density; norm included */
  const float *mass[3];   /* for the faces; norm included */
  const float *velocity[3];
  const float *specific; /* 1 / rest density; NULL: all the same */
  /* Bits of the faces' strips: those that are strong take `mass`, others `loose`; NULL: all are. See surface.c. */
  const uint8_t *strong[3];
  const float *loose[3];
  const float *strength, *cohesion;
} Parcels;

typedef struct Splat {
  Parcels parcels;
  /* sums, per node */
  float *volume, *strength, *cohesion;
  float *mass[3], *momentum[3], *bulk[3]; /* bulk: volume at faces; NULL when all parcels are of one material. No
                                           * momentum: NULL, then the parcels need no velocity */
} Splat;

KERNEL_DECLARE(void, flip_splat, (const Splat *splat, int64_t b, int64_t e));

/* What particles take from the grid. Nodes that are not valid hold zeros. Those that do not count for a particle (not
 * valid; not strong, where it rides on strong ones alone) have its gradient from the mean of the others. */
typedef struct Gather {
  const FlipGrid *grid;
  const int32_t *start;
  const float *x, *y, *z; /* in cells */
  const float *norm[3];   /* per particle: 1 / sum of the weights of valid faces */
  const float *velocity[3], *change[3], *moved[3], *settle[3];
  const uint8_t *near;                 /* per strip: some nodes round it may not be valid */
  const uint8_t *riders;               /* per strip: some of its particles ride; NULL: none does */
  const uint8_t *rides;                /* per particle, a bit an axis */
  const uint8_t *valid[3], *strong[3]; /* per strip, a bit a lane */
  const float *before[3];              /* velocity of the particles */
  float gain[3];                       /* of it by gravity */
  float dt;
  float inverse_cell;
  /* per particle, in the order of cells */
  float *out_velocity[3], *out_way[3];
  float *out_square;  /* of the speed that it moves with */
  float *gradient[9]; /* of the velocity, 1/s: row = component; NULL: not wanted */
} Gather;

KERNEL_DECLARE(void, flip_gather, (const Gather *gather, int64_t b, int64_t e));

#endif
