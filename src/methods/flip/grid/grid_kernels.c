#include "methods/flip/grid/grid_kernels.h"

typedef uint64_t WideKey __attribute__((vector_size(64)));

/* Downwards. */
WIDE_INLINE WideInt whole(Wide x) {
  WideInt below = __builtin_convertvector(x, WideInt);
  return below + wide_less(x, __builtin_convertvector(below, Wide)); /* comparisons give -1 */
}

WIDE_INLINE WideKey key_part(WideInt cell, int shift) {
  return __builtin_convertvector(cell + GRID_HALF, WideKey) << shift;
}

void KERNEL(flip_place)(const Places *places, int64_t b, int64_t e, uint64_t *key, uint8_t *lane) {
  for (int a = 0; a < 3; a++) {
    const float *restrict at = places->at[a], *restrict low = places->low[a];
    float *restrict out = places->out[a];
    double inverse = places->inverse, shift = places->shift[a];
    for (int64_t i = b; i < e; i++) out[i] = (float)(((double)at[i] + (double)low[i]) * inverse + shift);
  }
  const Wide limit = wide_set((float)GRID_LIMIT), zero = wide_set(0);
  for (int64_t i = b; i < e; i += LANES) {
    Wide at[3];
    WideInt on_grid = wide_less(-limit, limit);
    for (int a = 0; a < 3; a++) {
      at[a] = wide_load(places->out[a] + i);
      on_grid &= wide_less(at[a], limit) & wide_less(-limit, at[a]);
    }
    WideInt cell[3];
    for (int a = 0; a < 3; a++) cell[a] = whole(wide_select(on_grid, at[a], zero));
    WideKey strip = key_part(cell[2], 2 * GRID_BITS) | key_part(cell[1], GRID_BITS) | key_part(cell[0] >> 3, 0);
    strip |= __builtin_convertvector(on_grid, WideKey) ^ NOWHERE;
    for (int l = 0; l < LANES; l++) {
      key[i - b + l] = strip[l];
      lane[i - b + l] = (uint8_t)(cell[0][l] & (STRIP - 1));
    }
  }
}
