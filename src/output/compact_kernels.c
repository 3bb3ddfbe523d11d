#include "output/compact_kernels.h"

#include "output/compact.h"

CompactBounds KERNEL(compact_bounds)(const float *x, int64_t count) {
  Wide low = wide_set(x[0]), high = low;
  WideInt odd = {0};
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    Wide here = wide_load(x + i);
    low = wide_min(here, low);
    high = wide_max(here, high);
    odd |= (WideInt)(here != here);
  }
  CompactBounds bounds = {wide_least(low), wide_most(high), wide_bits(odd) == 0};
  for (; i < count; i++) {
    if (x[i] < bounds.low) bounds.low = x[i];
    if (x[i] > bounds.high) bounds.high = x[i];
    bounds.numbers &= x[i] == x[i];
  }
  return bounds;
}

CompactBits KERNEL(compact_bits)(const float *x, int64_t count) {
  uint32_t low = UINT32_MAX, high = 0;
  for (int64_t i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    low = bits < low ? bits : low;
    high = bits > high ? bits : high;
  }
  return (CompactBits){low, high};
}

void KERNEL(compact_steps)(const float *x, int64_t count, double origin, double per_step, double shift,
                           int32_t *steps) {
  for (int64_t i = 0; i < count; i++) steps[i] = (int32_t)compact_place(x[i], origin, per_step, shift);
}

void KERNEL(compact_codes)(const float *radius, int64_t count, uint32_t low, double scale, uint8_t *codes) {
  for (int64_t i = 0; i < count; i++) {
    int32_t bits;
    memcpy(&bits, &radius[i], sizeof bits);
    codes[i] = (uint8_t)(int32_t)((double)(bits - (int32_t)low) * scale + 0.5);
  }
}

void KERNEL(compact_places)(const int32_t *x, const int32_t *y, const int32_t *z, const uint8_t *material,
                            const uint8_t *codes, int64_t count, uint64_t *places) {
  for (int64_t i = 0; i < count; i++) {
    uint32_t lower = ((uint32_t)x[i] & 0xffff) | (uint32_t)y[i] << 16;
    uint32_t upper = ((uint32_t)z[i] & 0xffff) | (uint32_t)material[i] << 16 | (uint32_t)codes[i] << 24;
    places[i] = lower | (uint64_t)upper << 32;
  }
}

bool KERNEL(compact_velocities)(const float *vx, const float *vy, const float *vz, int64_t count,
                                uint32_t *velocities) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; i++) {
    float sum = fabsf(vx[i]) + fabsf(vy[i]) + fabsf(vz[i]);
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits); /* of numbers that are not negative: in their order, NaN last */
    largest = bits > largest ? bits : largest;
    velocities[i] = compact_velocity(vx[i], vy[i], vz[i]);
  }
  return largest < 0x7f800000;
}
