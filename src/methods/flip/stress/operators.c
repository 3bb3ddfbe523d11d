/* Operators on the fields of the grid that both solves use. */
#include <math.h>

#include "core/parallel.h"
#include "methods/flip/stress/operator_kernels.h"
#include "methods/flip/stress/stress.h"

double flip_stress_force(const FlipWork *work, float *const s[STRESSES], int32_t face, int axis) {
  static const int shear[3][2] = {{S_XY, S_XZ}, {S_XY, S_YZ}, {S_XZ, S_YZ}};
  static const int along[3][2] = {{1, 2}, {0, 2}, {0, 1}};
  const FlipGrid *grid = work->grid;
  double sum = (double)s[axis][face] - (double)s[axis][cell_below(grid, face, axis)];
  for (int k = 0; k < 2; k++)
    sum += (double)s[shear[axis][k]][cell_above(grid, face, along[axis][k])] - (double)s[shear[axis][k]][face];
  return sum;
}

typedef struct Largest {
  const FlipWork *work;
  float *const *field;
} Largest;

static double largest_chunk(void *context, int64_t b, int64_t e) {
  const Largest *of = context;
  float largest = 0;
  for (int a = 0; a < 3; a++)
    largest = fmaxf(largest, KERNEL_CALL(of->work->core, flip_largest)(of->field[a] + b * STRIP, (e - b) * STRIP));
  return (double)largest;
}

double flip_largest_of(const FlipWork *work, float *const field[3]) {
  Largest of = {work, field};
  return parallel_max(work->core, 1, work->grid->strips, STRIP_CHUNK, 0, largest_chunk, &of);
}
