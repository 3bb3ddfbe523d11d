/* From the sums that particles leave at nodes to the fields of the grid. */
#ifndef METHODS_FLIP_TRANSFER_NODE_FIELDS_KERNELS_H
#define METHODS_FLIP_TRANSFER_NODE_FIELDS_KERNELS_H

#include "methods/flip/transfer/splat_kernels.h"

typedef struct NodeSums {
  const FlipGrid *grid;
  /* Mass at the centres and faces, momenta at the faces. Where there is more than one material: volume at the centres,
   * and alpha weighted with it; ... */
  const float (*sums)[NODE_SUMS];
  const float (*others)[NODE_SUMS]; /* ... volume at the faces, cohesion weighted with it. NULL: one material, ... */
  float one_alpha, one_cohesion, one_specific_volume; /* ... which has these */
  float volume;                                       /* of a cell */
  float least;                                        /* phi of a face above which it moves */
  float bearing, stays_bearing;                       /* and bears stress; the same beside a cell that had pressure */
  float dense;                                        /* phi over free volume of a cell above which grains touch */
  const float *pressure;                              /* of the last step */
  float gained[3];                                    /* g dt */
  const int16_t *body_of_solid;                       /* of SolidStage */
  float settle; /* share of their own velocity that particles in contact give up */
  FlipFields fields;
  uint8_t *bears[3], *closed[3]; /* per strip, a bit a lane: faces that a stress can act on; those of walls */
  uint8_t *touch;                /* and cells where grains touch each other or a wall */
} NodeSums;

/* Which faces of strips [b, e) are bearing. */
KERNEL_DECLARE(void, flip_find_bearing, (const NodeSums *sums, int64_t b, int64_t e));
/* Fields of strips [b, e), when it is known which of their faces are bearing. */
KERNEL_DECLARE(void, flip_node_fields, (const NodeSums *sums, int64_t b, int64_t e));
/* What needs the fields of the cells beside them: which cells are usable, where grains touch. */
KERNEL_DECLARE(void, flip_cell_fields, (const NodeSums *sums, int64_t b, int64_t e));
/* And where they settle. */
KERNEL_DECLARE(void, flip_settle_fields, (const NodeSums *sums, int64_t b, int64_t e));

#endif
