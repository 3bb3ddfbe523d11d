/* Moving apart grains that overlap at the start, before any force acts. This is no part of the paper. */
#ifndef METHODS_DEM_RELAX_LAW_H
#define METHODS_DEM_RELAX_LAW_H

#include "core/lane.h"

#define RELAX_FACTOR 1.2f /* over-relaxation of the mean shift */

typedef struct RelaxOverlap {
  LaneVec3 normal;  /* towards the first grain */
  Real penetration; /* m; below zero they are apart */
} RelaxOverlap;

/* `offset` leads from the second centre to the first. Of two coincident grains one must `go_up`, the other not. */
LANE_INLINE RelaxOverlap relax_overlap(LaneVec3 offset, Real radius, Real other_radius, Mask goes_up) {
  RelaxOverlap overlap;
  Real distance = real_sqrt(vec_dot(offset, offset));
  Mask apart = real_less(real(0), distance);
  Real divisor = real_select(apart, distance, real(1));
  LaneVec3 along = vec_make(offset.x / divisor, offset.y / divisor, offset.z / divisor);
  LaneVec3 upright = vec_make(real(0), real(0), real_select(goes_up, real(1), real(-1)));
  overlap.normal = vec_select(apart, along, upright);
  overlap.penetration = radius + other_radius - distance;
  return overlap;
}

/* Penetration as a share of the mean radius. */
LANE_INLINE Real relax_share(RelaxOverlap overlap, Real radius, Real other_radius) {
  return real(2) * overlap.penetration / (radius + other_radius);
}

/* A grain takes half of each overlap with another. */
LANE_INLINE LaneVec3 relax_half(RelaxOverlap overlap) {
  return vec_mul(overlap.normal, real(0.5f) * overlap.penetration);
}

/* The next shift of a grain: its shift so far and the mean of what its `touching` overlaps ask for, `sum` in total. It
 * ends no farther than `farthest` from where the grain started. */
LANE_INLINE LaneVec3 relax_shift(LaneVec3 shift, LaneVec3 sum, Real touching, Real farthest) {
  Mask any = real_less(real(0), touching);
  Real count = real_select(any, touching, real(1));
  LaneVec3 scaled = vec_mul(sum, real(RELAX_FACTOR));
  LaneVec3 mean = vec_make(scaled.x / count, scaled.y / count, scaled.z / count);
  LaneVec3 next = vec_add(shift, vec_mask(any, mean));
  Real length = real_sqrt(vec_dot(next, next));
  Mask far = real_less(farthest, length);
  Real cut = farthest / real_select(far, length, real(1));
  return vec_select(far, vec_mul(next, cut), next);
}

#endif
