#include "upsample/order_kernels.h"

/* Two places to eight lanes; the lanes of indices are not looked at. */
void KERNEL(order_range)(const FinePlace *places, int64_t count, float bounds[6]) {
  const float *v = (const float *)places;
  Wide low = {v[0], v[1], v[2], 0, v[0], v[1], v[2], 0}, high = low;
  for (int64_t i = 0; i + 2 <= count; i += 2) {
    Wide here = wide_load(v + 4 * i);
    low = wide_min(here, low);
    high = wide_max(here, high);
  }
  const float *last = v + 4 * (count - 1);
  for (int k = 0; k < 3; k++) {
    float least = low[k] < low[4 + k] ? low[k] : low[4 + k], most = high[k] > high[4 + k] ? high[k] : high[4 + k];
    bounds[k] = last[k] < least ? last[k] : least;
    bounds[3 + k] = last[k] > most ? last[k] : most;
  }
}

/* By counting how many come before each: no branches to mispredict, and few enough that all pairs are cheap. */
void KERNEL(order_split_few)(FinePlace *places, int64_t count, int64_t left, int axis) {
  _Alignas(32) float value[ORDER_FEW];
  FinePlace copy[ORDER_FEW];
  int64_t padded = (count + LANES - 1) / LANES * LANES, next[2] = {0, left};
  for (int64_t i = 0; i < count; i++) copy[i] = places[i], value[i] = places[i].at[axis];
  for (int64_t i = count; i < padded; i++) value[i] = __builtin_inff();
  for (int64_t i = 0; i < count; i++) {
    const Wide own = wide_set(value[i]);
    WideInt before = {0};
    for (int64_t j = 0; j < padded; j += LANES) before -= wide_less(wide_load(value + j), own);
    before += __builtin_shufflevector(before, before, 4, 5, 6, 7, 0, 1, 2, 3);
    before += __builtin_shufflevector(before, before, 2, 3, 0, 1, 6, 7, 4, 5);
    int64_t rank = before[0] + before[1];
    /* Of equals at the border the first stay. */
    places[next[rank >= left || next[0] == left]++] = copy[i];
  }
}
