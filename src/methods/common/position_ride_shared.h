/* How a solid goes through the substeps: one text for CPU and devices. */
#ifndef METHODS_COMMON_POSITION_RIDE_SHARED_H
#define METHODS_COMMON_POSITION_RIDE_SHARED_H

#ifdef __OPENCL_C_VERSION__
#include "core/mat3_shared.h"
#include "core/rotation_shared.h"
#else
#include "core/vec.h"
#endif

/* Linear and angular parts. */
typedef struct PositionTwist {
  double part[6];
} PositionTwist;

#define POSITION_RIDE                                                                                                  \
  PositionTwist gain; /* of a substep's displacement over the one before, without the grains */                        \
  /* of the substep: displacement without the grains, with what pushes it, its rotation */                             \
  PositionTwist alone, moved;                                                                                          \
  Quat turned;                                                                                                         \
  Mat3 turn;                                                                                                           \
  Vec3 last_shift; /* of the substep before, and its rotation */                                                       \
  Mat3 last_turn;                                                                                                      \
  PositionTwist total;        /* displacements of the substeps so far, summed up */                                    \
  PositionTwist push, pushed; /* what pushes it as a whole, about its centre, and the sum: kg m and kg m^2 */          \
  double resistance;          /* to its turning, by grains that turn and that it rolls on: kg m^2 */                   \
  /* since the step's start, to the substep's */                                                                       \
  Quat rotated;                                                                                                        \
  Mat3 rotation;

typedef struct PositionRide {
  POSITION_RIDE
} PositionRide;

VEC_INLINE Vec3 twist_linear(const PositionTwist *twist) {
  return vec3(twist->part[0], twist->part[1], twist->part[2]);
}
VEC_INLINE Vec3 twist_angular(const PositionTwist *twist) {
  return vec3(twist->part[3], twist->part[4], twist->part[5]);
}
VEC_INLINE PositionTwist twist_of(Vec3 linear, Vec3 angular) {
  const PositionTwist twist = {{linear.x, linear.y, linear.z, angular.x, angular.y, angular.z}};
  return twist;
}
VEC_INLINE PositionTwist twist_none(void) { return twist_of(vec3(0, 0, 0), vec3(0, 0, 0)); }
VEC_INLINE PositionTwist twist_madd(PositionTwist a, const PositionTwist *b, double factor) {
  for (int k = 0; k < 6; k++) a.part[k] += factor * b->part[k];
  return a;
}

/* The rotation of a substep. */
VEC_INLINE void ride_turn(PositionRide *ride) {
  ride->turned = quat_from_vector(twist_angular(&ride->moved));
  ride->turn = mat3_from_quat(ride->turned);
}

/* A free body that rolls on grains: rolling resistance takes from the moment of its momentum, or all of it. */
VEC_INLINE void ride_resist_rolling(PositionRide *ride, Quat rotation, const Mat3 *inertia) {
  if (!(ride->resistance > 0)) return;
  const Vec3 turn = twist_angular(&ride->moved), in_shape = quat_rotate(quat_conjugate(rotation), turn);
  const Vec3 whole = quat_rotate(rotation, mat3_apply(inertia, in_shape));
  const double size = vec3_length(whole), share = size > ride->resistance ? ride->resistance / size : 1;
  const PositionTwist taken = twist_of(vec3(0, 0, 0), whole), slowed = twist_of(vec3(0, 0, 0), turn);
  ride->push = twist_madd(ride->push, &taken, -share);
  ride->moved = twist_madd(ride->moved, &slowed, -share);
}

/* A substep is over. `goes_on`: with the next one, in which what pushes it begins with what did so in this one where
 * there is a memory. */
VEC_INLINE void ride_end_substep(PositionRide *ride, bool goes_on, bool memory) {
  ride->last_shift = twist_linear(&ride->moved);
  ride->last_turn = ride->turn;
  ride->total = twist_madd(ride->total, &ride->moved, 1);
  ride->pushed = twist_madd(ride->pushed, &ride->push, 1);
  ride->rotated = quat_normalize(quat_mul(ride->turned, ride->rotated));
  ride->rotation = mat3_from_quat(ride->rotated);
  if (!goes_on) return;
  const PositionTwist pushed = memory ? twist_madd(ride->moved, &ride->alone, -1) : twist_none();
  ride->alone = twist_madd(ride->moved, &ride->gain, 1);
  ride->moved = twist_madd(ride->alone, &pushed, 1);
  ride_turn(ride);
}

#endif
