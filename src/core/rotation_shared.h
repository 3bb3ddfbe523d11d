/* Rotations by vectors, in the common subset of C and OpenCL C: core/vec.c has them for the host. */
#ifndef CORE_ROTATION_SHARED_H
#define CORE_ROTATION_SHARED_H

#ifdef __OPENCL_C_VERSION__
#include "core/portable_turn_shared.h"
#define ROTATION_FUNCTION VEC_INLINE
#else
#include "core/portable.h"
#include "core/vec.h"
#define ROTATION_FUNCTION /* declared in core/vec.h */
#endif

ROTATION_FUNCTION Quat quat_normalize(Quat q) {
  const double length = VEC_SQRT(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(length > 0)) return quat_identity();
  const Quat unit = {q.w / length, q.x / length, q.y / length, q.z / length};
  return unit;
}

ROTATION_FUNCTION Quat quat_from_vector(Vec3 rotation) {
  const double angle = vec3_length(rotation);
  /* sin(angle / 2) / angle, by its series where the quotient loses digits */
  const double s = angle > 1e-4 ? portable_sin(angle / 2) / angle : 0.5 - angle * angle / 48;
  const Quat turned = {portable_cos(angle / 2), rotation.x * s, rotation.y * s, rotation.z * s};
  return quat_normalize(turned);
}

ROTATION_FUNCTION Mat3 mat3_from_quat(Quat q) {
  const double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  const double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  const double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  const Mat3 turn = {{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                      {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                      {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
  return turn;
}

#endif
