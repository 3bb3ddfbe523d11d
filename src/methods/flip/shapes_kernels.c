#include "methods/flip/shapes_kernels.h"

uint64_t KERNEL(flip_near)(const FlipOrder *order, int32_t b, int32_t count, const float at[3], float square) {
  const Wide x = wide_set(at[0]), y = wide_set(at[1]), z = wide_set(at[2]), most = wide_set(square);
  uint64_t near = 0;
  for (int32_t k = 0; k < count; k += LANES) {
    Wide dx = wide_load(order->x + b + k) - x, dy = wide_load(order->y + b + k) - y,
         dz = wide_load(order->z + b + k) - z;
    near |= (uint64_t)wide_bits(wide_less_equal(dx * dx + dy * dy + dz * dz, most)) << k;
  }
  return count < NEAR_BATCH ? near & ((1ull << count) - 1) : near;
}
