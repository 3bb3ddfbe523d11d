/* Boxes round fine grains, cells of coarse ones, and whether something moved. */
#include "upsample/coarse_cell_law.h"
#include "upsample/upsample_kernels.h"

/* Lowest and highest of one coordinate; the rest that fills no eight is taken again from the end. */
WIDE_INLINE void range_of(const float *v, int64_t count, float *low, float *high) {
  if (count < LANES) {
    *low = *high = v[0];
    for (int64_t i = 1; i < count; i++) *low = v[i] < *low ? v[i] : *low, *high = v[i] > *high ? v[i] : *high;
    return;
  }
  Wide least = wide_load(v + count - LANES), most = least;
  for (int64_t i = 0; i + LANES <= count; i += LANES) {
    Wide here = wide_load(v + i);
    least = wide_min(here, least);
    most = wide_max(here, most);
  }
  *low = wide_least(least);
  *high = wide_most(most);
}

void KERNEL(fine_bounds)(const float *x, const float *y, const float *z, int64_t count, float bounds[6]) {
  range_of(x, count, &bounds[0], &bounds[3]);
  range_of(y, count, &bounds[1], &bounds[4]);
  range_of(z, count, &bounds[2], &bounds[5]);
}

/* The smallest and the largest lane of each of eight vectors: lanes of two vectors at a time are compared while they
 * are brought together, and what is brought together first serves both. */
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
WIDE_INLINE void lanes_range(const Wide v[8], Wide *low, Wide *high) {
  Wide least[4], most[4];
  for (int k = 0; k < 4; k++) {
    Wide one = PICK(v[2 * k], v[2 * k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    Wide two = PICK(v[2 * k], v[2 * k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    least[k] = wide_min(one, two), most[k] = wide_max(one, two);
  }
  for (int side = 0; side < 2; side++) {
    const Wide *from = side ? most : least;
    Wide quad[2][2];
    for (int k = 0; k < 2; k++) {
      quad[0][k] = PICK(from[2 * k], from[2 * k + 1], 0, 1, 8, 9, 4, 5, 12, 13);
      quad[1][k] = PICK(from[2 * k], from[2 * k + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    Wide half[2];
    for (int k = 0; k < 2; k++) half[k] = side ? wide_max(quad[0][k], quad[1][k]) : wide_min(quad[0][k], quad[1][k]);
    Wide lower = PICK(half[0], half[1], 0, 1, 2, 3, 8, 9, 10, 11);
    Wide upper = PICK(half[0], half[1], 4, 5, 6, 7, 12, 13, 14, 15);
    if (side) *high = wide_max(lower, upper);
    else *low = wide_min(lower, upper);
  }
}
#undef PICK

void KERNEL(fine_boxes)(const float *x, const float *y, const float *z, int64_t count, FineBoxes *boxes,
                        float bounds[6]) {
  _Alignas(32) float few[LANES];
  for (int axis = 0; axis < 3; axis++) {
    const float *at = axis == 0 ? x : axis == 1 ? y : z;
    int64_t end = count;
    if (count < LANES) {
      for (int64_t i = 0; i < LANES; i++) few[i] = at[i < count ? i : count - 1];
      at = few, end = LANES;
    }
    Wide least, most;
    for (int64_t first = 0; first < FINE_GROUPS; first += LANES) {
      Wide v[LANES], low, high;
      for (int64_t k = 0; k < LANES; k++) { /* the last group is filled up with those before it */
        int64_t i = (first + k) * LANES;
        v[k] = wide_load(at + (i + LANES <= end ? i : end - LANES));
      }
      lanes_range(v, &low, &high);
      wide_store(boxes->low[axis] + first, low);
      wide_store(boxes->high[axis] + first, high);
      least = first ? wide_min(low, least) : low, most = first ? wide_max(high, most) : high;
    }
    bounds[axis] = wide_least(least), bounds[3 + axis] = wide_most(most);
  }
}

bool KERNEL(coarse_cells)(const float *x, int64_t count, double inverse, int32_t *cell) {
  const int32_t usual = 1000000;
  int32_t odd = 0;
  for (int64_t i = 0; i < count; i++) {
    cell[i] = coarse_cell(x[i], inverse);
    odd |= (cell[i] < -usual) | (cell[i] >= usual);
  }
  return !odd;
}

bool KERNEL(fine_zero)(const float *v, int64_t count) {
  int32_t differs = 0;
  for (int64_t i = 0; i < count; i++) differs |= v[i] != 0;
  return !differs;
}

bool KERNEL(fine_equal)(const float *a, const float *b, int64_t count) {
  int32_t differs = 0;
  for (int64_t i = 0; i < count; i++) differs |= a[i] != b[i];
  return !differs;
}

void KERNEL(fine_groups)(const FineBoxes *boxes, FineGroups *groups) {
  float *middle[3] = {groups->x, groups->y, groups->z};
  for (int64_t g = 0; g < FINE_GROUPS; g += LANES) {
    Wide square = wide_set(0);
    for (int axis = 0; axis < 3; axis++) {
      Wide low = wide_load(boxes->low[axis] + g), half = wide_set(0.5f) * (wide_load(boxes->high[axis] + g) - low);
      wide_store(middle[axis] + g, low + half);
      square += half * half;
    }
    wide_store(groups->half + g, wide_sqrt(square));
  }
}
