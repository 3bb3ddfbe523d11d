#include "methods/flip/grid_kernels.h"

void KERNEL(flip_place)(const Places *places, int64_t b, int64_t e) {
  for (int a = 0; a < 3; a++) {
    const float *restrict at = places->at[a], *restrict low = places->low[a];
    float *restrict out = places->out[a];
    double inverse = places->inverse, shift = places->shift[a];
    for (int64_t i = b; i < e; i++) out[i] = (float)(((double)at[i] + (double)low[i]) * inverse + shift);
  }
}
