#include "methods/flip/stress/warm_start_kernels.h"

float KERNEL(flip_strip_displacement)(const StripMotion *motion, float most[STRIP], float displacement[3][STRIP]) {
  const StripMotion m = *motion;
  float weight[STRIP], here[3][STRIP];
  for (int lane = 0; lane < STRIP; lane++) {
    double x = m.x + lane * m.cell, far = __builtin_sqrt(x * x + m.across) - m.extent;
    weight[lane] = far < 0 ? 1 : (float)(1 - far / m.reach);
  }
  for (int a = 0; a < 3; a++)
    for (int lane = 0; lane < STRIP; lane++)
      here[a][lane] = weight[lane] * (float)(m.displacement[a] + lane * m.more[a]);
  Wide before = wide_load(most), now = wide_load(weight);
  WideInt larger = wide_less(before, now);
  wide_store(most, wide_select(larger, now, before));
  Wide longest = wide_set(0);
  for (int a = 0; a < 3; a++) {
    Wide to = wide_select(larger, wide_load(here[a]), wide_load(displacement[a]));
    wide_store(displacement[a], to);
    longest = wide_max(longest, wide_max(to, -to));
  }
  float length = 0;
  for (int lane = 0; lane < STRIP; lane++) length = longest[lane] > length ? longest[lane] : length;
  return length;
}

void KERNEL(flip_advect_stress)(const StripSource *source, float *const from[STRESSES], float *const to[STRESSES],
                                int64_t at) {
  const Wide one = wide_set(1);
  Wide upper[3], weight[4][2];
  for (int a = 0; a < 3; a++) upper[a] = wide_load(source->upper[a]);
  for (int row = 0; row < 4; row++) {
    Wide both = (row & 1 ? upper[1] : one - upper[1]) * (row & 2 ? upper[2] : one - upper[2]);
    weight[row][0] = both * (one - upper[0]);
    weight[row][1] = both * upper[0];
  }
  for (int k = 0; k < STRESSES; k++) {
    Wide sum = wide_set(0);
    for (int row = 0; row < 4; row++) {
      Wide own = wide_load(from[k] + (int64_t)source->at[row] * STRIP);
      Wide next = wide_load(from[k] + (int64_t)source->beside[row] * STRIP);
      Wide low = source->behind ? own : __builtin_shufflevector(next, own, 7, 8, 9, 10, 11, 12, 13, 14);
      Wide high = source->behind ? __builtin_shufflevector(own, next, 1, 2, 3, 4, 5, 6, 7, 8) : own;
      sum += weight[row][0] * low;
      sum += weight[row][1] * high;
    }
    wide_store(to[k] + at, sum);
  }
}
