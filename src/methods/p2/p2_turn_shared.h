/* How sticky lumps of p2 turn: see turn.c. One text for CPU and devices, in double: once a contact and step. */
#ifndef METHODS_P2_P2_TURN_SHARED_H
#define METHODS_P2_P2_TURN_SHARED_H

#include "core/mat3_shared.h"

/* What a solid's turn counts for, in contacts. */
#define P2_TURN_SOLID 2.0
/* Towards no turn, where the contacts do not tell (about the line of a single one). */
#define P2_TURN_STILL 0.01

/* What is solved for the turn. */
typedef struct P2Turning {
  Mat3 system;
  Vec3 seen;
} P2Turning;

VEC_INLINE P2Turning p2_turning_begin(void) {
  P2Turning t;
  t.system = mat3_scale(mat3_identity(), P2_TURN_STILL);
  t.seen = vec3(0, 0, 0);
  return t;
}

VEC_INLINE P2Turning p2_turning_solid(P2Turning t, Vec3 spin) {
  t.system = mat3_add(t.system, mat3_scale(mat3_identity(), P2_TURN_SOLID));
  t.seen = vec3_madd(t.seen, spin, P2_TURN_SOLID);
  return t;
}

/* A partner at `apart` along the normal, against which the grain goes by `velocity`. */
VEC_INLINE P2Turning p2_turning_pair(P2Turning t, Vec3 n, Vec3 velocity, double apart) {
  if (!(apart > 0)) return t;
  t.system = mat3_add(t.system, mat3_add(mat3_identity(), mat3_scale(mat3_outer(n, n), -1)));
  t.seen = vec3_madd(t.seen, vec3_cross(n, velocity), 1 / apart);
  return t;
}

/* In a substep. */
VEC_INLINE Vec3 p2_turning_end(P2Turning t, double h) {
  Mat3 inverse;
  if (!mat3_invert(t.system, &inverse)) return vec3(0, 0, 0);
  return vec3_scale(mat3_apply(&inverse, t.seen), h);
}

/* What the two sides of a contact move against each other by turning alone: (R(theta) - 1) a n up to the square of
 * theta, the mean of the two turns; `both` is their sum. */
VEC_INLINE Vec3 p2_roll(Vec3 both, Vec3 n, double apart) {
  const Vec3 turn = vec3(0.5 * both.x, 0.5 * both.y, 0.5 * both.z), side = vec3_cross(turn, n);
  return vec3_scale(vec3_madd(side, vec3_cross(turn, side), 0.5), apart);
}

#endif
