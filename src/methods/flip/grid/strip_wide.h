/* Fields in the numbers of the grid, eight cells at a time. For kernels. */
#ifndef METHODS_FLIP_GRID_STRIP_WIDE_H
#define METHODS_FLIP_GRID_STRIP_WIDE_H

#include "methods/flip/grid/grid.h"

/* The strip's values, and those of the cells one below or above. */
WIDE_INLINE Wide own(const float *f, int32_t s) { return wide_load(f + (int64_t)s * STRIP); }
WIDE_INLINE Wide below(const FlipGrid *grid, const float *f, int32_t s, int axis) {
  Wide low = own(f, grid->near[s][2 * axis]);
  return axis == 0 ? wide_shift_up(low, own(f, s)) : low;
}
WIDE_INLINE Wide above(const FlipGrid *grid, const float *f, int32_t s, int axis) {
  Wide high = own(f, grid->near[s][2 * axis + 1]);
  return axis == 0 ? wide_shift_down(own(f, s), high) : high;
}
WIDE_INLINE void put(float *f, int32_t s, Wide v) { wide_store(f + (int64_t)s * STRIP, v); }

#endif
