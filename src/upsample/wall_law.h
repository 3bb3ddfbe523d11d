/* Solids and a fine grain: axes, the nearest solid, what may touch, and the contact. */
#ifndef UPSAMPLE_WALL_LAW_H
#define UPSAMPLE_WALL_LAW_H

#include "core/lane.h"

/* Axes of a solid: a point p of the world is turn (p + shift) in its frame. */
typedef struct FineAxes {
  int turned; /* `turn` is not the identity; no bool, which devices have otherwise */
  float turn[3][3];
  float shift[3];
} FineAxes;

LANE_INLINE LaneVec3 axes_to_local(FineAxes axes, LaneVec3 point) {
  LaneVec3 at = vec_add(point, vec_make(real(axes.shift[0]), real(axes.shift[1]), real(axes.shift[2])));
  if (!axes.turned) return at;
  return vec_make(real(axes.turn[0][0]) * at.x + real(axes.turn[0][1]) * at.y + real(axes.turn[0][2]) * at.z,
                  real(axes.turn[1][0]) * at.x + real(axes.turn[1][1]) * at.y + real(axes.turn[1][2]) * at.z,
                  real(axes.turn[2][0]) * at.x + real(axes.turn[2][1]) * at.y + real(axes.turn[2][2]) * at.z);
}

/* A direction of the solid's frame in the world. */
LANE_INLINE LaneVec3 axes_to_world(FineAxes axes, LaneVec3 v) {
  if (!axes.turned) return v;
  return vec_make(real(axes.turn[0][0]) * v.x + real(axes.turn[1][0]) * v.y + real(axes.turn[2][0]) * v.z,
                  real(axes.turn[0][1]) * v.x + real(axes.turn[1][1]) * v.y + real(axes.turn[2][1]) * v.z,
                  real(axes.turn[0][2]) * v.x + real(axes.turn[1][2]) * v.y + real(axes.turn[2][2]) * v.z);
}

/* Displacement of a point of a solid in the frame; the point is in the axes of the solid, `drift` is that of its
 * origin. */
LANE_INLINE LaneVec3 axes_displacement(FineAxes before, FineAxes after, LaneVec3 drift, LaneVec3 point) {
  return vec_add(vec_sub(axes_to_world(after, point), axes_to_world(before, point)), drift);
}

/* Whether a solid is in reach and nearer than what was found before. Distances beyond `known` have only a sign. */
LANE_INLINE Mask wall_is_nearer(Real distance, Real known, Real reach, Real gap) {
  return real_less(distance, real_min(gap, reach)) & real_less(distance, known) & real_less(-known, distance);
}

/* So deep in a solid that the side to leave it by is not known. */
LANE_INLINE Mask wall_is_deep(Real distance, Real known) { return real_less_equal(distance, -known); }

/* What a grain can go at least, to its centre, before it meets the solid, or less if that was found before. `lag`: how
 * far the solid may move, and the doubt about its distance. Solids beyond `reach` are left to the caller. */
#define WALL_NO_CLEARANCE -3e38f
LANE_INLINE Real wall_clearance(Real clearance, Real distance, Real known, Real reach, Real lag) {
  Real here = real_select(wall_is_deep(distance, known), real(WALL_NO_CLEARANCE), distance - lag);
  return real_select(real_less(distance, reach), real_min(here, clearance), clearance);
}

/* Whether a grain with this displacement may come nearer to a solid than its radius. `clearance` is what it can go at
 * least, to the centre, before it meets one. */
LANE_INLINE Mask wall_may_touch(Real radius, Real clearance, LaneVec3 displacement) {
  return ~real_less(radius, clearance - real_sqrt(vec_dot(displacement, displacement)));
}

typedef struct StoppedGrain {
  Mask stops; /* it does not leave the solid by itself */
  LaneVec3 velocity;
} StoppedGrain;

/* A grain has come to a solid whose velocity there is `wall`: it keeps no speed into the solid, and Coulomb friction
 * takes what it may of the speed along it. `rubs`: friction acts; a grain that goes with the coarse ones has had its
 * friction there. */
LANE_INLINE StoppedGrain stop_at_wall(LaneVec3 velocity, LaneVec3 wall, LaneVec3 normal, Real friction_static,
                                      Real friction_kinetic, Mask rubs) {
  LaneVec3 slip = vec_sub(velocity, wall);
  Real speed = vec_dot(slip, normal); /* away from the solid */
  slip = vec_sub(slip, vec_mul(normal, speed));
  Real size = real_sqrt(vec_dot(slip, slip)), press = real_select(rubs, -speed, real(0));
  Real slides = real(1) - real_min(friction_kinetic * press / size, real(1));
  Real keep = real_select(real_less(real(0), size), slides, real(1));
  keep = real_select(real_less_equal(size, friction_static * press), real(0), keep);
  StoppedGrain grain;
  grain.stops = ~real_less(real(0), speed);
  grain.velocity = vec_select(grain.stops, vec_add(wall, vec_mul(slip, keep)), velocity);
  return grain;
}

#endif
