#include "methods/flip/transfer/shapes_kernels.h"

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

/* Whether A - shift 1 (sign +1) or shift 1 - A (sign -1) is positive: leading minors. */
WIDE_INLINE WideInt wide_beyond(const Wide a[STRESSES], float shift, float sign) {
  const Wide by = wide_set(shift), s = wide_set(sign), zero = wide_set(0);
  Wide x = s * (a[S_XX] - by), y = s * (a[S_YY] - by), z = s * (a[S_ZZ] - by);
  Wide u = s * a[S_XY], v = s * a[S_YZ], w = s * a[S_XZ];
  Wide minor = x * y - u * u;
  Wide all = z * minor - x * v * v + wide_set(2) * u * v * w - y * w * w;
  return wide_less(zero, x) & wide_less(zero, minor) & wide_less(zero, all);
}

void KERNEL(flip_stretch)(const Stretch *stretch, int64_t count) {
  static const int component[3][3] = {{S_XX, S_XY, S_XZ}, {S_XY, S_YY, S_YZ}, {S_XZ, S_YZ, S_ZZ}};
  const Wide half = wide_set(0.5f), one = wide_set(1), zero = wide_set(0);
  for (int64_t k = 0; k < count; k += LANES) {
    Wide a[STRESSES], f[3][3], t[3][3];
    for (int c = 0; c < STRESSES; c++) a[c] = wide_load(stretch->shape[c] + k);
    /* one that is not known yet is a sphere */
    WideInt known = wide_less(zero, a[S_XX] + a[S_YY] + a[S_ZZ]);
    for (int c = 0; c < 3; c++) a[c] = wide_select(known, a[c], one);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) {
        Wide step = wide_set(stretch->dt) * wide_load(stretch->gradient[3 * r + c] + k);
        f[r][c] = wide_min(wide_max(step, -half), half);
        if (r == c) f[r][c] += one;
        wide_store(stretch->gradient[3 * r + c] + k, f[r][c]);
      }
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        t[r][c] = f[r][0] * a[component[0][c]] + f[r][1] * a[component[1][c]] + f[r][2] * a[component[2][c]];
    for (int r = 0; r < 3; r++)
      for (int c = r; c < 3; c++) a[component[r][c]] = t[r][0] * f[c][0] + t[r][1] * f[c][1] + t[r][2] * f[c][2];
    for (int c = 0; c < STRESSES; c++) wide_store(stretch->shape[c] + k, a[c]);
    unsigned fits = wide_bits(wide_beyond(a, stretch->most, -1)), thick = wide_bits(wide_beyond(a, stretch->least, 1));
    static const uint8_t kinds[4] = {IS_STUCK, IS_THIN, IS_LONG, IS_VALID};
    for (int lane = 0; lane < LANES; lane++)
      stretch->kind[k + lane] = kinds[(fits >> lane & 1) + 2 * (thick >> lane & 1)];
  }
}
