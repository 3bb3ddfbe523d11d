/* What rays from a parcel see: the first surface of each, and what it adds to the density (wall_law.h). */
#ifndef METHODS_SPH_VIEW_LAW_H
#define METHODS_SPH_VIEW_LAW_H

#include "methods/sph/wall_law.h"

/* Whether the plane of a face, at a distance in spacings, is before what a ray has met so far, and where. */
typedef struct ViewHit {
  Real t;
  Mask first;
} ViewHit;

LANE_INLINE ViewHit view_face(LaneVec3 normal, LaneVec3 ray, float distance, Real before) {
  Real cosine = real(0) - vec_dot(normal, ray);
  ViewHit hit;
  hit.t = real(distance) / real_max(cosine, real(1e-6f));
  hit.first = real_less(hit.t, before);
  return hit;
}

/* Of a flat wall, by a ray. */
LANE_INLINE WallShare view_flat(LaneVec3 normal, LaneVec3 ray, float distance) {
  Real cosine = real_max(real(0) - vec_dot(normal, ray), real(1e-6f));
  return wall_seen(real(distance) / cosine, cosine);
}

/* Of what a ray has met. */
LANE_INLINE WallShare view_seen(LaneVec3 normal, LaneVec3 ray, Real t) {
  return wall_seen(t, real(0) - vec_dot(normal, ray));
}

/* So that the flat wall at the nearest face is exact; `usual` for rays that cover a sphere evenly. A few rays that say
 * nothing about a wall do not scale the others.
 */
LANE_INLINE float view_scale(float exact, float sum, float usual) {
  const float least = 0.8f * usual, most = 1.25f * usual;
  float scale;
  if (!(exact > 0) || !(sum > 0)) return usual;
  scale = exact / sum;
  return scale < least ? least : scale > most ? most : scale;
}

#endif
