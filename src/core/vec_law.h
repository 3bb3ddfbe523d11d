/* Vectors and rotations in double, in the common subset of C and OpenCL C: one text for core/vec.h and for devices that
 * have doubles. */
#ifndef CORE_VEC_LAW_H
#define CORE_VEC_LAW_H

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define VEC_INLINE static inline __attribute__((unused))
#define VEC_SQRT sqrt
#else
#define VEC_INLINE static inline
#define VEC_SQRT __builtin_sqrt
#endif

#ifndef CORE_VEC_H /* which has types of its own */
typedef struct Vec3 {
  double x, y, z;
} Vec3;
typedef struct Quat {
  double w, x, y, z;
} Quat;
typedef struct Mat3 {
  double m[3][3];
} Mat3;
#endif

VEC_INLINE Vec3 vec3(double x, double y, double z) {
  Vec3 v = {x, y, z};
  return v;
}
VEC_INLINE Vec3 vec3_add(Vec3 a, Vec3 b) { return vec3(a.x + b.x, a.y + b.y, a.z + b.z); }
VEC_INLINE Vec3 vec3_sub(Vec3 a, Vec3 b) { return vec3(a.x - b.x, a.y - b.y, a.z - b.z); }
VEC_INLINE Vec3 vec3_scale(Vec3 a, double s) { return vec3(a.x * s, a.y * s, a.z * s); }
VEC_INLINE Vec3 vec3_madd(Vec3 a, Vec3 b, double s) { return vec3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s); }
VEC_INLINE double vec3_dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
VEC_INLINE Vec3 vec3_cross(Vec3 a, Vec3 b) {
  return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
VEC_INLINE double vec3_length(Vec3 a) { return VEC_SQRT(vec3_dot(a, a)); }
VEC_INLINE double vec3_get(Vec3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }

VEC_INLINE Quat quat_identity(void) {
  const Quat one = {1, 0, 0, 0};
  return one;
}
VEC_INLINE Quat quat_mul(Quat a, Quat b) {
  const Quat both = {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
  return both;
}
VEC_INLINE Quat quat_conjugate(Quat q) {
  Quat c = {q.w, -q.x, -q.y, -q.z};
  return c;
}
VEC_INLINE Vec3 quat_rotate(Quat q, Vec3 v) {
  Vec3 u = vec3(q.x, q.y, q.z);
  Vec3 t = vec3_scale(vec3_cross(u, v), 2);
  return vec3_add(vec3_madd(v, t, q.w), vec3_cross(u, t));
}
VEC_INLINE Vec3 mat3_apply(const Mat3 *a, Vec3 v) {
  return vec3(a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
              a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
              a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z);
}

#endif
