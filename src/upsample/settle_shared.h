/* A fine grain that may have gone through a solid, and one that touches a mesh with sharp edges: in double, one text
 * for the CPU (walls.c) and for devices (settle.cl).
 *
 * Whoever includes it says before what a shape is and how far it is from a place in its frame, as far as it knows:
 *   ExactShape, double exact_distance(shape, place, reach). */
#ifndef UPSAMPLE_SETTLE_SHARED_H
#define UPSAMPLE_SETTLE_SHARED_H

#include "core/vec_law.h"

enum { MARCH_STEPS = 64 };

VEC_INLINE double settle_less(double a, double b) { return a < b ? a : b; }
VEC_INLINE double settle_more(double a, double b) { return a > b ? a : b; }

/* How far from the end of a path its distance must be known. */
VEC_INLINE double march_reach(double length, double radius) { return settle_more(2 * radius, length + radius); }

/* On a path of this length between distances `begin` and `end` no point is nearer than half of what is left of them:
 * only where that may be less than half a radius is it followed. */
VEC_INLINE bool march_is_clear(double length, double radius, double doubt, double begin, double end) {
  return length + doubt <= begin + end - radius;
}

/* Follows a path in the solid's frame and leaves the grain where it first touches, or where all steps took it.
 * `distance` is that of the end; beyond `band`, where it is not 0, none is known. After the first look a grain that
 * begins in the solid is let go: it is coming out. */
VEC_INLINE bool march_path(ExactShape shape, const float from[3], const float to[3], double radius, double doubt,
                           double band, double distance, bool first, float hit[3]) {
  double length2 = 0;
  for (int k = 0; k < 3; k++) length2 += (double)(to[k] - from[k]) * (double)(to[k] - from[k]);
  const double length = VEC_SQRT(length2), far = band > 0 ? band : length + radius;
  double at = 0;
  for (int step = 0; at < length; step++) {
    const Vec3 p = vec3((double)from[0] + (double)(to[0] - from[0]) * at / length,
                        (double)from[1] + (double)(to[1] - from[1]) * at / length,
                        (double)from[2] + (double)(to[2] - from[2]) * at / length);
    const double d = settle_less(exact_distance(shape, p, far), far);
    if (d < 0.5 * radius || step == MARCH_STEPS) {
      hit[0] = (float)p.x;
      hit[1] = (float)p.y;
      hit[2] = (float)p.z;
      return first || at > 0;
    }
    if (march_is_clear(length - at, radius, doubt, d, distance)) return false;
    at += settle_more(d - 0.5 * radius, 0.25 * radius);
  }
  return false;
}

/* Whether a cached distance that may be off by `doubt` leaves open where a grain touches. */
VEC_INLINE bool asks_mesh(double cached, double radius, double doubt) {
  return !(cached > radius + doubt || cached < -4 * radius);
}
VEC_INLINE double asked_reach(double radius, double doubt) { return radius + 3 * doubt; }
/* Too far from the surface to be on the other side of it. */
VEC_INLINE bool is_sided(double cached, double doubt) { return cached > 1.5 * doubt || cached < -1.5 * doubt; }

#endif
