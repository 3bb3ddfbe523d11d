/* Matrices in double, in the common subset of C and OpenCL C: as core/vec_law.h, with loops. */
#ifndef CORE_MAT3_SHARED_H
#define CORE_MAT3_SHARED_H

#include "core/vec_law.h"

VEC_INLINE Mat3 mat3_identity(void) {
  const Mat3 one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  return one;
}

VEC_INLINE Mat3 mat3_add(Mat3 a, Mat3 b) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a.m[i][j] += b.m[i][j];
  return a;
}

VEC_INLINE Mat3 mat3_scale(Mat3 a, double s) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a.m[i][j] *= s;
  return a;
}

VEC_INLINE Mat3 mat3_outer(Vec3 a, Vec3 b) {
  const Mat3 outer = {
      {{a.x * b.x, a.x * b.y, a.x * b.z}, {a.y * b.x, a.y * b.y, a.y * b.z}, {a.z * b.x, a.z * b.y, a.z * b.z}}};
  return outer;
}

VEC_INLINE double mat3_determinant(Mat3 a) {
  return a.m[0][0] * (a.m[1][1] * a.m[2][2] - a.m[1][2] * a.m[2][1]) -
         a.m[0][1] * (a.m[1][0] * a.m[2][2] - a.m[1][2] * a.m[2][0]) +
         a.m[0][2] * (a.m[1][0] * a.m[2][1] - a.m[1][1] * a.m[2][0]);
}

/* false when singular to working precision. */
VEC_INLINE bool mat3_invert(Mat3 a, Mat3 *inverse) {
  double largest = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) largest = fmax(largest, fabs(a.m[i][j]));
  double d = mat3_determinant(a);
  if (!(fabs(d) > 1e-14 * largest * largest * largest)) return false;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int r0 = (j + 1) % 3, r1 = (j + 2) % 3, c0 = (i + 1) % 3, c1 = (i + 2) % 3;
      inverse->m[i][j] = (a.m[r0][c0] * a.m[r1][c1] - a.m[r0][c1] * a.m[r1][c0]) / d;
    }
  return true;
}

#endif
