/* The cell of a coarse grain, in double: one text for the CPU and for devices that have doubles. */
#ifndef UPSAMPLE_COARSE_CELL_LAW_H
#define UPSAMPLE_COARSE_CELL_LAW_H

#include "core/vec_law.h"

/* On one axis, held within half a billion; a NaN is low. */
VEC_INLINE int coarse_cell(float x, double inverse) {
  const double limit = 5e8;
  double at = (double)x * inverse;
  at = at > -limit ? at : -limit;
  at = at < limit ? at : limit;
  int cut = (int)at;
  return cut - (at < (double)cut);
}

#endif
