/* Where particles lie on the grid. */
#ifndef METHODS_FLIP_GRID_GRID_KERNELS_H
#define METHODS_FLIP_GRID_GRID_KERNELS_H

#include "methods/flip/grid/grid.h"

typedef struct Places {
  const float *at[3], *low[3]; /* positions and what they lack */
  double inverse, shift[3];    /* cells of a metre, of the origin */
  float *out[3];               /* in cells */
} Places;

/* Of a particle that is on no strip: it lies beyond what the grid can number. */
#define NOWHERE UINT64_MAX

/* Where particles [b, e) lie; `key` and `lane`, from the first of them on, get their strips and the lanes there. Both
 * are written in whole registers. */
KERNEL_DECLARE(void, flip_place, (const Places *places, int64_t b, int64_t e, uint64_t *key, uint8_t *lane));

#endif
