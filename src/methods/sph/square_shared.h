/* A few half spaces whose faces are at right angles, or face each other: what they add to the density is known, and
 * where rays see no more than such ones, the error of the rays goes. One text for CPU and devices, one ray at a time
 * (LANE_SCALAR). Lengths are in spacings. */
#ifndef METHODS_SPH_SQUARE_SHARED_H
#define METHODS_SPH_SQUARE_SHARED_H

#include "methods/sph/view_law.h"

enum { SQUARE_MOST = 4 };
typedef struct SphSquare {
  int count;
  float normal[SQUARE_MOST][3], distance[SQUARE_MOST];
  float share[SQUARE_MOST], slope[SQUARE_MOST]; /* square_weigh: each one's part, as a lattice has it there */
} SphSquare;

LANE_INLINE LaneVec3 square_normal(const SphSquare *square, int k) {
  return vec_make(square->normal[k][0], square->normal[k][1], square->normal[k][2]);
}

LANE_INLINE void square_put(SphSquare *square, int k, LaneVec3 normal, float distance) {
  square->normal[k][0] = normal.x, square->normal[k][1] = normal.y, square->normal[k][2] = normal.z;
  square->distance[k] = distance;
}

/* false: their faces are at other angles. */
LANE_INLINE bool square_weigh(SphSquare *square) {
  WallShare wall[SQUARE_MOST];
  for (int a = 0; a < square->count; a++) wall[a] = wall_flat(square->distance[a]);
  for (int a = 0; a < square->count; a++) {
    float hidden = 0;
    for (int b = 0; b < square->count; b++) {
      if (b == a) continue;
      const LaneVec3 n = square_normal(square, a), m = square_normal(square, b);
      const float dot = vec_dot(n, m);
      if ((dot > 0.05f || dot < -0.05f) && dot > -0.95f) return false;
      hidden += wall_common(n, m) * real_min(wall[b].share, 1);
    }
    square->share[a] = wall[a].share - 0.5f * hidden * real_min(wall[a].share, 1);
    square->slope[a] = wall[a].slope * real_max(1 - hidden, 0);
  }
  return true;
}

/* ---- planes that rays see ---- */

/* More planes are not looked at, nor such that fewer rays see. */
enum { PLANES_MOST = 16, PLANE_RAYS = 5 };

/* How far off the plane is that a ray sees at t. */
LANE_INLINE float plane_distance(LaneVec3 normal, LaneVec3 ray, float t) { return -t * vec_dot(normal, ray); }

LANE_INLINE bool plane_same(LaneVec3 plane, float plane_at, LaneVec3 normal, float distance) {
  const float apart = plane_at - distance, most = 0.01f;
  return vec_dot(plane, normal) > 0.999f && apart < most && apart > -most;
}

/* Whether a ray ends at the first of the planes, and at which; -1: at none of them. A stray is one whose own plane is
 * not among them: cached distances of a mesh round its inner edges off, and a few rays may end a little too early,
 * where planes meet. */
typedef struct PlaneSeen {
  bool ends;
  int at;
} PlaneSeen;

LANE_INLINE PlaneSeen plane_seen(const SphSquare *square, LaneVec3 ray, float t, bool stray) {
  float first = WALL_SUPPORT, apart;
  PlaneSeen seen = {false, -1};
  for (int a = 0; a < square->count; a++) {
    const float cosine = -vec_dot(square_normal(square, a), ray);
    if (cosine * first > square->distance[a]) first = square->distance[a] / cosine, seen.at = a;
  }
  apart = first - t;
  seen.ends = !(real_max(apart, -apart) > (stray ? 0.15f : 0.03f) * first);
  return seen;
}

/* Whether so few of the rays that see anything stray. */
LANE_INLINE bool planes_suffice(int strays, int seen) { return 4 * strays <= seen; }

#endif
