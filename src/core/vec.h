/* Vectors, quaternions and 3x3 matrices in double, for geometry, bodies and set-up. Hot particle kernels use plain
 * floats instead. Matrices are row-major: m[row][column]. */
#ifndef CORE_VEC_H
#define CORE_VEC_H

#include <math.h>

#include "scree/types.h"

typedef ScreeVec3 Vec3;
typedef ScreeQuat Quat;
typedef struct Mat3 {
  double m[3][3];
} Mat3;

#include "core/mat3_shared.h"
#include "core/vec_law.h"

/* The zero vector stays what it is. */
static inline Vec3 vec3_normalize(Vec3 a) {
  double length = vec3_length(a);
  return length > 0 ? vec3_scale(a, 1 / length) : a;
}
static inline Vec3 vec3_min(Vec3 a, Vec3 b) {
  return vec3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}
static inline Vec3 vec3_max(Vec3 a, Vec3 b) {
  return vec3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}
static inline bool vec3_finite(Vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
/* Two unit vectors that make a right-handed frame with the unit vector n. */
void vec3_frame(Vec3 n, Vec3 *t1, Vec3 *t2);

/* Finite, and long enough to be normalised. */
static inline bool quat_usable(Quat q) {
  double square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  return isfinite(square) && square > 1e-12;
}
Quat quat_normalize(Quat q);          /* a zero quaternion becomes the identity */
Quat quat_from_vector(Vec3 rotation); /* rotation vector: axis times angle */
Vec3 quat_to_vector(Quat q);          /* the shorter way round */
Quat quat_slerp(Quat a, Quat b, double t);
Mat3 mat3_from_quat(Quat q);
Quat quat_from_mat3(Mat3 m);

Mat3 mat3_mul(Mat3 a, Mat3 b);
Mat3 mat3_transpose(Mat3 a);

/* Eigenvalues in ascending order and their unit eigenvectors as columns, of a symmetric matrix (cyclic Jacobi). */
void mat3_eigen_symmetric(Mat3 a, double values[3], Mat3 *vectors);

/* The rotation nearest to `a` in the sense of the polar decomposition, found by turning `start` step by step towards
 * it (Mueller et al. 2016; by Newton's method where it can). Unlike an SVD it survives flat and inverted matrices: it
 * then stays close to the start. The start itself where the matrix is zero or not finite. */
Quat mat3_polar_rotation(Mat3 a, Quat start);

#endif
