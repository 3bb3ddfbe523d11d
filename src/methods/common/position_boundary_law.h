/* A contact with a solid: where the solid and the grain go in the step, the gap, the key, and the wrench on the solid.
 * One text for CPU and devices, in double: once a contact and step, it costs next to nothing on cards whose doubles are
 * slow, and loses nothing however large a solid is and however far from the origin. */
#ifndef METHODS_COMMON_POSITION_BOUNDARY_LAW_H
#define METHODS_COMMON_POSITION_BOUNDARY_LAW_H

#include "core/vec_law.h"

/* Place of a grain in the world. */
VEC_INLINE Vec3 boundary_start(Vec3 origin, Vec3 at, Vec3 low) {
  return vec3(origin.x + at.x + low.x, origin.y + at.y + low.y, origin.z + at.z + low.z);
}

/* Where a solid brings a point in the whole step, without the grains; `from` is given from its centre. */
VEC_INLINE Vec3 boundary_way(Vec3 way, int turns, const Mat3 *turn, Vec3 from) {
  return turns ? vec3_add(way, vec3_sub(mat3_apply(turn, from), from)) : way;
}

/* At the step's start, along the normal: the contact was found where the grain goes by `way` and the solid by `solid`,
 * when neither has moved yet. */
VEC_INLINE float boundary_gap(double distance, Vec3 normal, Vec3 way, Vec3 solid, float radius) {
  double apart = distance - vec3_dot(normal, way);
  apart += vec3_dot(normal, solid);
  return (float)apart - radius;
}

/* Keys of contacts with solids count down from the top, where those of grains are never seen. */
#define BOUNDARY_KEY_TOP 0xfffffffeu
VEC_INLINE unsigned boundary_key(int number) { return BOUNDARY_KEY_TOP - (unsigned)number; }

/* What a contact pushes its solid with: minus what it has pushed the grain with in all substeps, `sum`, kg m. */
typedef struct BoundaryPush {
  Vec3 force, torque;
} BoundaryPush;

/* Grains that do not turn meet a solid at their centres, at `arm` from its centre, those that do where they touch. */
VEC_INLINE BoundaryPush boundary_push(Vec3 sum, double per_square, Vec3 center, Vec3 arm, Vec3 touch) {
  BoundaryPush push;
  push.force = vec3_scale(sum, -per_square);
  const Vec3 point = vec3_add(center, vec3_add(arm, touch));
  push.torque = vec3_cross(vec3_sub(point, center), push.force);
  return push;
}
VEC_INLINE Vec3 boundary_touch_from_center(Vec3 normal, double radius) { return vec3_scale(normal, -radius); }

#endif
