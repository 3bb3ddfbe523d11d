#include "neighbors/grid.h"

#include <float.h>

bool KERNEL(cells_of)(const float *restrict x, int64_t count, double inverse, int32_t *restrict cell) {
  int32_t bad = 0;
  for (int64_t i = 0; i < count; i++) {
    bad |= !(__builtin_fabsf(x[i]) <= FLT_MAX);
    /* In double: near 1e6 cells a float product would be wrong by more than the margin in the cell size. */
    double t = (double)x[i] * inverse;
    t = t > -COORDINATE_LIMIT ? t : -COORDINATE_LIMIT; /* a NaN ends here, defined if meaningless */
    t = t < COORDINATE_LIMIT ? t : COORDINATE_LIMIT;
    int32_t whole = (int32_t)t;
    cell[i] = whole - ((double)whole > t);
  }
  return !bad;
}
