/* Particles to nodes: trilinear weights.
 *
 * The particles of a cell reach three nodes along an axis where these are centres, two where they are faces. Sums over
 * the particles of a cell are kept in registers, row by row, all that a row has of one particle side by side; cells add
 * to a tile of the nodes round their strip, strips to the nodes. Rows of strips that could meet at a node take turns
 * (GridRows), so that each node gets its sums in the same order whatever the number of threads. */
#ifndef METHODS_FLIP_SPLAT_KERNELS_H
#define METHODS_FLIP_SPLAT_KERNELS_H

#include "methods/flip/fields.h"

typedef struct Splat {
  const FlipGrid *grid;
  /* particles in the order of their cells */
  const int32_t *start;
  const float *x, *y, *z;   /* in cells */
  const float *centre;      /* what each gives to the centres; NULL: nothing */
  const float *face;        /* and to the faces; NULL: nothing */
  const float *velocity[3]; /* of the particles, which a second sum at the faces is weighted with; NULL: no such sum */
  const float *const *norm; /* times this, for centres and faces, ... */
  const uint8_t *normed;    /* ... in these strips; NULL: in all */
  /* Faces, when who rides is known (surface.c): a particle that rides gives to strong faces alone. NULL: not known. */
  const uint8_t *rides;     /* per particle, a bit an axis */
  const uint8_t *riders;    /* per strip: lanes where somebody does */
  const uint8_t *strong[3]; /* per strip, a bit a lane */
  const uint8_t *taken;     /* strips whose nodes are wanted; NULL: all */
  /* sums, per node; what was there is added to */
  float *centres, *faces[3], *momenta[3];
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

/* What the octants of a strip's cells lack of being full and free, splatted like particles in their middles. */
typedef struct Octants {
  const uint32_t (*bits)[9];   /* valid nodes round the strip, as above */
  const float (*share)[STRIP]; /* free, of the octants */
  const FlipGrid *grid;
  float *sums[4]; /* per node: centres, faces; what was there is added to */
} Octants;

KERNEL_DECLARE(void, flip_octants, (const Octants *octants, int32_t strip));

/* What the sums of nodes mean. */
typedef struct NodeSums {
  const float *centres, *mass[3], *momentum[3]; /* centres: mass, or volume where there is more than one material */
  const float *strength, *cohesion, *bulk[3];   /* weighted with the volume; volume at faces. NULL: one material, ... */
  float one_strength, one_cohesion, one_specific; /* ... which has these */
  float volume;                                   /* of a cell */
  float least;                                    /* fill of a face from which on it moves */
  float gain[3];                                  /* g dt */
  FlipFields fields;
} NodeSums;

/* Fill of the faces of a strip. */
KERNEL_DECLARE(void, flip_face_fill, (const NodeSums *sums, int64_t strip, float fill[3][STRIP]));
/* Fields of strips [b, e), when it is known which of their faces are strong. */
KERNEL_DECLARE(void, flip_node_fields, (const NodeSums *sums, int64_t b, int64_t e));

#endif
