/* Particles to nodes: trilinear weights.
 *
 * What a node gets lies side by side, eight sums in one register: two for its centre, two for its lower face along each
 * axis. The particles of a cell reach three nodes along an axis where these are centres, two where they are faces, so
 * each gives to 27 nodes. Sums over the particles of a cell are kept in registers, plane by plane; cells add to a tile
 * of the nodes round their strip, strips to the nodes. Rows of strips that could meet at a node take turns (GridRows),
 * so that each node gets its sums in the same order whatever the number of threads. */
#ifndef METHODS_FLIP_TRANSFER_SPLAT_KERNELS_H
#define METHODS_FLIP_TRANSFER_SPLAT_KERNELS_H

#include "methods/flip/fields.h"

/* Sums of a node: at its centre, at its lower faces twice, at its centre again. */
enum { AT_CENTRE, AT_X, AT_X_TOO, AT_Y, AT_Y_TOO, AT_Z, AT_Z_TOO, AT_CENTRE_TOO, NODE_SUMS };

typedef struct Splat {
  const FlipGrid *grid;
  /* particles in the order of their cells */
  const int32_t *start;
  const float *x, *y, *z;   /* in cells */
  const float *centre[2];   /* what each gives to the centres; NULL: nothing */
  const float *face;        /* and to the faces */
  const float *velocity[3]; /* of the particles, which the second sums at the faces are weighted with; NULL: none */
  const float *const *norm; /* times this, for centres and faces, ... */
  const uint8_t *normed;    /* ... in these strips */
  /* Once restricted particles are known (bearing_faces.c): these give to bearing faces alone. NULL: not known. */
  const uint8_t *restricted;       /* per particle, a bit an axis */
  const uint8_t *restricted_lanes; /* per strip, a bit a lane: some particle of the cell is */
  const uint8_t *bearing[3];       /* per strip, a bit a lane */
  const uint8_t *taken;            /* strips whose nodes are wanted; NULL: all */
  float (*sums)[NODE_SUMS];        /* per node; what was there is added to */
} Splat;

KERNEL_DECLARE(void, flip_splat, (const Splat *splat, int32_t first, int32_t last));

/* 1 / the sum of the weights of valid nodes for particles [b, e) of a cell, for centres (0) and faces (1 + axis); 0
 * where hardly anything is valid: such a particle is inside a solid. */
typedef struct CellNorms {
  const uint32_t (*bits)[9]; /* valid nodes round the strip, rows y, z; bit 0 is the last lane of the strip before */
  int lane;
  float place[3];         /* of the strip */
  const float *x, *y, *z; /* read in whole registers */
  float *norm[4];
} CellNorms;

KERNEL_DECLARE(void, flip_cell_norms, (const CellNorms *cell, int32_t b, int32_t e));

/* Which particles [b, e) of a cell have some, but not all of their weight on bearing faces: a bit an axis. */
typedef struct CellBearing {
  const uint32_t (*bits)[9]; /* bearing faces round the strip, per axis, as above */
  int lane;
  float place[3];
  const float *x, *y, *z;
  const float *norm[3]; /* of the weights of valid faces; NULL: 1 */
  float least;          /* of what is on valid faces, on bearing ones */
  float *sum[3];        /* of the weights of bearing faces, from particle b on */
  uint8_t *some;        /* the bits, from particle b on */
} CellBearing;

KERNEL_DECLARE(void, flip_cell_bearing, (const CellBearing *cell, int32_t b, int32_t e));

/* What the octants of a strip's cells lack of being full and free, splatted like particles in their middles. */
typedef struct Octants {
  const uint32_t (*bits)[9];   /* valid nodes round the strip, as above */
  const float (*share)[STRIP]; /* free, of the octants */
  const FlipGrid *grid;
  float *sums[4]; /* per node: centres, faces; what was there is added to */
} Octants;

KERNEL_DECLARE(void, flip_splat_octants, (const Octants *octants, int32_t strip));

#endif
