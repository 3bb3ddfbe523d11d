#include "methods/flip/transfer/advection_kernels.h"

#include <math.h>
#include <string.h>

/* As flip_distance_at. */
WIDE_INLINE Wide distances_at(const float *distance, Wide x, Wide y, Wide z) {
  const Wide one = wide_set(1);
  WideInt lane = __builtin_convertvector(x, WideInt);
  Wide fx = x - __builtin_convertvector(lane, Wide), value = wide_set(0);
  for (int c = 0; c < 8; c++) {
    Wide d = wide_gather(distance + ((c >> 2) * 2 + (c >> 1 & 1)) * (STRIP + 1) + (c & 1), lane);
    value += d * (c & 1 ? fx : one - fx) * (c & 2 ? y : one - y) * (c & 4 ? z : one - z);
  }
  return value;
}

WIDE_INLINE Wide clamped(Wide value, float least, float most) {
  return wide_min(wide_max(value, wide_set(least)), wide_set(most));
}

/* Of the cells of a strip that of each particle. */
WIDE_INLINE Wide of_cells(const float cells[STRIP], WideInt lane) {
#if defined(__AVX2__)
  return (Wide)_mm256_permutevar8x32_ps((__m256)wide_load(cells), (__m256i)lane);
#else
  return wide_gather(cells, lane);
#endif
}

WIDE_INLINE float wide_largest(Wide values) {
  float largest = 0;
  for (int lane = 0; lane < LANES; lane++) largest = values[lane] > largest ? values[lane] : largest;
  return largest;
}

uint32_t KERNEL(flip_limit_displacements)(const Displacements *displacements, int32_t count, float fastest[2]) {
  const float inside[3] = {(float)STRIP - 1e-5f, 1 - 1e-6f, 1 - 1e-6f};
  const float *const position[3] = {displacements->x, displacements->y, displacements->z};
  const WideInt lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  const Wide zero = wide_set(0);
  Wide loose = zero, pressed = zero;
  uint32_t all = 0;
  for (int32_t k = 0; k < count; k += LANES) {
    Wide at[3], displacement[3], to[3], length = zero;
    for (int a = 0; a < 3; a++) at[a] = wide_load(position[a] + k) - wide_set(displacements->place[a]);
    WideInt lane = __builtin_convertvector(clamped(at[0], 0, (float)STRIP - 0.00001f), WideInt);
    Wide most = of_cells(displacements->longest, lane);
    for (int a = 0; a < 3; a++) {
      displacement[a] = wide_min(most, wide_max(-most, wide_load(displacements->displacement[a] + k)));
      wide_store(displacements->displacement[a] + k, displacement[a]);
      length += displacement[a] * displacement[a];
    }
    WideInt here = wide_int_less(lanes, (WideInt){0} + (count - k));
    Wide square = wide_load(displacements->square + k) * of_cells(displacements->share, lane);
    wide_store(displacements->square + k, square);
    WideInt is_pressed = wide_less(zero, of_cells(displacements->pressed, lane));
    loose = wide_max(wide_select(here & ~is_pressed, square, zero), loose);
    pressed = wide_max(wide_select(here & is_pressed & wide_less(square, wide_set(INFINITY)), square, zero), pressed);
    uint32_t far = wide_bits(here & wide_less(wide_set(displacements->long_displacement), length)), into = 0;
    if (displacements->distance) {
      /* the strip knows no more: what leaves it is looked at by itself */
      WideInt leaves = wide_less(zero, zero);
      for (int a = 0; a < 3; a++) {
        Wide end = at[a] + displacement[a] / wide_set(displacements->cell);
        to[a] = clamped(end, 0, inside[a]);
        leaves |= wide_less(end, zero) | wide_less(wide_set(inside[a]), end);
      }
      Wide distance = distances_at(displacements->distance, to[0], to[1], to[2]);
      into = wide_bits(here & (leaves | wide_less(distance, of_cells(displacements->slack, lane))));
    }
    all |= (far ? DISPLACEMENT_IS_LONG : 0u) | (into ? DISPLACEMENT_INTO_SOLID : 0u);
    memset(displacements->bits + k, 0, LANES);
    for (uint32_t some = far | into; some; some &= some - 1) {
      int l = __builtin_ctz(some);
      displacements->bits[k + l] =
          (uint8_t)((far >> l & 1) * DISPLACEMENT_IS_LONG + (into >> l & 1) * DISPLACEMENT_INTO_SOLID);
    }
  }
  fastest[0] = wide_largest(loose);
  fastest[1] = wide_largest(pressed);
  return all;
}

void KERNEL(flip_stopped_lanes)(float *const stop[3], int64_t b, int64_t e, uint8_t *lanes) {
  const Wide zero = wide_set(0);
  for (int64_t strip = b; strip < e; strip++) {
    unsigned none = 255;
    for (int a = 0; a < 3; a++) {
      Wide here = wide_load(stop[a] + strip * STRIP);
      none &= ~wide_bits(wide_less(here, zero)) & ~wide_bits(wide_less(zero, here));
    }
    lanes[strip] = (uint8_t)~none;
  }
}
