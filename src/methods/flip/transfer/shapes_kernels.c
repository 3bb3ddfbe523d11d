#include "methods/flip/transfer/shapes_kernels.h"
#include "methods/flip/transfer/shape_law.h"

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

WIDE_INLINE ShapeTensor load_shape(float *const shape[STRESSES], int64_t k) {
  return (ShapeTensor){wide_load(shape[S_XX] + k), wide_load(shape[S_YY] + k), wide_load(shape[S_ZZ] + k),
                       wide_load(shape[S_XY] + k), wide_load(shape[S_YZ] + k), wide_load(shape[S_XZ] + k)};
}

WIDE_INLINE void store_shape(float *const shape[STRESSES], int64_t k, ShapeTensor a) {
  wide_store(shape[S_XX] + k, a.xx), wide_store(shape[S_YY] + k, a.yy), wide_store(shape[S_ZZ] + k, a.zz);
  wide_store(shape[S_XY] + k, a.xy), wide_store(shape[S_YZ] + k, a.yz), wide_store(shape[S_XZ] + k, a.xz);
}

void KERNEL(flip_stretch)(const Stretch *stretch, int64_t count) {
  const Wide one = wide_set(1), zero = wide_set(0);
  for (int64_t k = 0; k < count; k += LANES) {
    Wide f[3][3];
    ShapeTensor a = load_shape(stretch->shape, k);
    /* one that is not known yet is a sphere */
    WideInt known = wide_less(zero, a.xx + a.yy + a.zz);
    a.xx = wide_select(known, a.xx, one), a.yy = wide_select(known, a.yy, one), a.zz = wide_select(known, a.zz, one);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) {
        f[r][c] = deformation(wide_load(stretch->jacobian[3 * r + c] + k), wide_set(stretch->dt));
        if (r == c) f[r][c] += one;
        wide_store(stretch->deformation[3 * r + c] + k, f[r][c]);
      }
    a = shape_advanced(a, (Rows3){vec_make(f[0][0], f[0][1], f[0][2]), vec_make(f[1][0], f[1][1], f[1][2]),
                                  vec_make(f[2][0], f[2][1], f[2][2])});
    store_shape(stretch->shape, k, a);
    unsigned fits = wide_bits(shape_beyond(a, wide_set(stretch->most), wide_set(-1))),
             thick = wide_bits(shape_beyond(a, wide_set(stretch->least), one));
    static const uint8_t kinds[4] = {IS_STUCK, IS_THIN, IS_LONG, IS_VALID};
    for (int lane = 0; lane < LANES; lane++)
      stretch->kind[k + lane] = kinds[(fits >> lane & 1) + 2 * (thick >> lane & 1)];
  }
}
