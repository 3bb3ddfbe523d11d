#include "neighbors/bins.h"

#include <float.h>
#include <string.h>

typedef double WideDouble __attribute__((vector_size(64)));

/* Units of eight coordinates; *bad gets lanes set that are not finite. */
WIDE_INLINE WideInt units_eight(Wide x, double scale, float limit, WideInt *bad) {
  const Wide largest = wide_set(FLT_MAX);
  *bad |= ~(wide_less_equal(x, largest) & wide_less_equal(-largest, x));
  x = wide_min(wide_max(x, wide_set(-limit)), wide_set(limit));
  WideDouble t = __builtin_convertvector(x, WideDouble) * scale + (double)BINS_BIAS;
  return (WideInt) __builtin_convertvector(t, WideInt) - BINS_BIAS;
}

/* Eight coordinates, or as many as are left. */
WIDE_INLINE Wide load_left(const float *from, int64_t left) {
  if (__builtin_expect(left >= LANES, 1)) return wide_load(from);
  Wide some = {0};
  memcpy(&some, from, (size_t)left * sizeof *from);
  return some;
}

bool KERNEL(bins_units)(const BinPoints *points, const Bins *bins, int64_t b, int64_t e, int32_t *const units[3]) {
  const float *const at[3] = {points->x, points->y, points->z}, *const way[3] = {points->dx, points->dy, points->dz};
  WideInt bad = {0};
  for (int axis = 0; axis < 3; axis++)
    for (int64_t i = b; i < e; i += LANES) {
      Wide x = load_left(at[axis] + i, e - i);
      if (way[axis]) x = x + load_left(way[axis] + i, e - i);
      WideInt unit = units_eight(x, bins->scale, bins->far, &bad);
      if (__builtin_expect(e - i < LANES, 0)) memcpy(units[axis] + i - b, &unit, (size_t)(e - i) * sizeof *units[axis]);
      else *(WideIntUnaligned *)(units[axis] + i - b) = unit;
    }
  return wide_bits(bad) == 0;
}
