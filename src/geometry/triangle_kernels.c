#include "geometry/triangle_kernels.h"

#define FAR 1e30f

/* Square of the distance between points and triangles, lane by lane. */
WIDE_INLINE Wide triangle_square(const Wide t[TRIANGLE_ROWS], Wide px, Wide py, Wide pz) {
  Wide zero = wide_set(0), one = wide_set(1), best = wide_set(FAR);
  WideInt inside = wide_set(1) > zero;
  for (int k = 0; k < 3; k++) {
    const Wide *a = t + 3 * k, *b = t + 3 * ((k + 1) % 3), *m = t + 13 + 3 * k;
    Wide dx = px - a[0], dy = py - a[1], dz = pz - a[2];
    inside &= m[0] * dx + m[1] * dy + m[2] * dz > zero;
    Wide ex = b[0] - a[0], ey = b[1] - a[1], ez = b[2] - a[2];
    Wide along = wide_min(wide_max((ex * dx + ey * dy + ez * dz) * t[22 + k], zero), one);
    dx -= along * ex, dy -= along * ey, dz -= along * ez;
    best = wide_min(best, dx * dx + dy * dy + dz * dz);
  }
  Wide height = t[9] * px + t[10] * py + t[11] * pz - t[12];
  return wide_select(inside, height * height, best);
}

float KERNEL(triangles_distance)(const TriangleList *list, const float point[3], float most) {
  Wide px = wide_set(point[0]), py = wide_set(point[1]), pz = wide_set(point[2]), best = wide_set(most * most);
  for (int64_t i = 0; i < list->count; i += LANES) {
    Wide t[TRIANGLE_ROWS];
    for (int k = 0; k < TRIANGLE_ROWS; k++) t[k] = wide_load(list->row[k] + i);
    best = wide_min(best, triangle_square(t, px, py, pz));
  }
  float least = best[0];
  for (int k = 1; k < LANES; k++) least = best[k] < least ? best[k] : least;
  return __builtin_sqrtf(least);
}

void KERNEL(triangles_distance_row)(const TriangleList *list, const float x[LANES], float y, float z, float most,
                                    float distance[LANES]) {
  Wide px = wide_load(x), py = wide_set(y), pz = wide_set(z), best = wide_set(most * most);
  for (int64_t i = 0; i < list->count; i++) {
    Wide t[TRIANGLE_ROWS];
    for (int k = 0; k < TRIANGLE_ROWS; k++) t[k] = wide_set(list->row[k][i]);
    best = wide_min(best, triangle_square(t, px, py, pz));
  }
  wide_store(distance, wide_sqrt(best));
}

void KERNEL(triangles_squares)(const TriangleList *list, const float x[LANES], const float y[LANES],
                               const float z[LANES], float (*squares)[LANES], float least[LANES]) {
  Wide px = wide_load(x), py = wide_load(y), pz = wide_load(z), best = wide_set(FAR);
  for (int64_t i = 0; i < list->count; i++) {
    Wide t[TRIANGLE_ROWS];
    for (int k = 0; k < TRIANGLE_ROWS; k++) t[k] = wide_set(list->row[k][i]);
    Wide square = triangle_square(t, px, py, pz);
    best = wide_select(square < best, square, best);
    wide_store(squares[i], square);
  }
  wide_store(least, best);
}

void KERNEL(triangles_nearest)(const TriangleList *list, const int32_t *some, int64_t count, const float x[LANES],
                               const float y[LANES], const float z[LANES], int32_t nearest[LANES]) {
  Wide px = wide_load(x), py = wide_load(y), pz = wide_load(z), best = wide_set(FAR);
  WideInt which = {0};
  for (int64_t i = 0; i < count; i++) {
    Wide t[TRIANGLE_ROWS];
    for (int k = 0; k < TRIANGLE_ROWS; k++) t[k] = wide_set(list->row[k][some[i]]);
    Wide square = triangle_square(t, px, py, pz);
    WideInt nearer = square < best;
    best = wide_select(nearer, square, best);
    which = (nearer & ((WideInt){0} + some[i])) | (~nearer & which);
  }
  for (int k = 0; k < LANES; k++) nearest[k] = which[k];
}
