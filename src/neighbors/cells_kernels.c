#include "neighbors/grid.h"

#include <float.h>
#include <string.h>

typedef double WideDouble __attribute__((vector_size(64)));
typedef int32_t WideIntLanes __attribute__((vector_size(32)));

/* Cells of eight coordinates; *bad gets lanes set that are not finite. */
WIDE_INLINE WideIntLanes cells_eight(Wide x, double inverse, float limit, WideInt *bad) {
  const Wide largest = wide_set(FLT_MAX);
  *bad |= ~(wide_less_equal(x, largest) & wide_less_equal(-largest, x));
  x = wide_min(wide_max(x, wide_set(-limit)), wide_set(limit)); /* a NaN becomes -limit: defined, if meaningless */
  /* In double: near 1e6 cells a float product would be wrong by more than the margin in the cell size. The bias makes
   * everything positive, so that cutting off the fraction rounds down. */
  WideDouble t = __builtin_convertvector(x, WideDouble) * inverse + (double)COORDINATE_BIAS;
  return __builtin_convertvector(t, WideIntLanes) - COORDINATE_BIAS;
}

bool KERNEL(cells_of)(const float *restrict x, int64_t count, double inverse, int32_t *restrict cell) {
  const float limit = cell_limit(inverse);
  WideInt bad = {0};
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    WideIntLanes cells = cells_eight(wide_load(x + i), inverse, limit, &bad);
    memcpy(cell + i, &cells, sizeof cells);
  }
  if (i < count) {
    Wide rest = {0};
    memcpy(&rest, x + i, (size_t)(count - i) * sizeof *x);
    WideIntLanes cells = cells_eight(rest, inverse, limit, &bad);
    memcpy(cell + i, &cells, (size_t)(count - i) * sizeof *cell);
  }
  int32_t any = 0;
  for (int k = 0; k < LANES; k++) any |= bad[k];
  return !any;
}
