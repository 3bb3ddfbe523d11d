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

/* ---- samples: spheres as grains are, on the surface of a solid ---- */

/* A solid as its samples go in the step, without the grains. */
typedef struct SampleBody {
  Vec3 center, way; /* of its mass, as the samples have their places; its displacement */
  Mat3 turn;
  Quat turned; /* the same */
  int movable, turns;
} SampleBody;

/* A sample at the step's start: from the solid's centre, and where that brings it in the step. Solids on paths have the
 * pose of the step's end, `back` from where it is at its start; those that grains can move that of its start. */
typedef struct SampleWay {
  float arm[3];
  Vec3 at, way, back;
} SampleWay;

VEC_INLINE SampleWay boundary_sample_way(SampleBody body, Vec3 at) {
  SampleWay to;
  Vec3 arm = vec3_sub(at, body.center);
  if (!body.movable && body.turns) arm = quat_rotate(quat_conjugate(body.turned), arm);
  to.arm[0] = (float)arm.x, to.arm[1] = (float)arm.y, to.arm[2] = (float)arm.z;
  to.at = at;
  to.way = boundary_way(body.way, body.turns, &body.turn, arm);
  to.back = body.movable ? vec3(0, 0, 0) : to.way;
  return to;
}

typedef struct SampleGrain {
  Vec3 at, low, way;
  float radius;
} SampleGrain;

typedef struct SampleContact {
  float normal[3], gap; /* at the step's start */
  int touches;          /* it may, in the step */
} SampleContact;

VEC_INLINE SampleContact boundary_sample(SampleGrain grain, SampleWay sample, float sample_radius, float margin) {
  SampleContact contact;
  const Vec3 offset = vec3_add(vec3_add(vec3_sub(grain.at, sample.at), grain.low), sample.back);
  const Vec3 ahead = vec3_sub(vec3_add(offset, grain.way), sample.way);
  const double length = vec3_length(offset), distance = (double)(grain.radius + sample_radius);
  const double reach = distance + (double)margin;
  const Vec3 normal = length > 0 ? vec3_scale(offset, 1 / length) : vec3(0, 0, 1);
  contact.normal[0] = (float)normal.x, contact.normal[1] = (float)normal.y, contact.normal[2] = (float)normal.z;
  contact.gap = (float)(length - distance);
  contact.touches = vec3_dot(ahead, ahead) < reach * reach;
  return contact;
}

/* ---- what is remembered, and forces ---- */

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
