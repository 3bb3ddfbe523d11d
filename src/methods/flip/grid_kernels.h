/* Where particles lie on the grid. */
#ifndef METHODS_FLIP_GRID_KERNELS_H
#define METHODS_FLIP_GRID_KERNELS_H

#include "methods/flip/grid.h"

typedef struct Places {
  const float *at[3], *low[3]; /* positions and what they lack */
  double inverse, shift[3];    /* cells of a metre, of the origin */
  float *out[3];               /* in cells */
} Places;

KERNEL_DECLARE(void, flip_place, (const Places *places, int64_t b, int64_t e));

#endif
