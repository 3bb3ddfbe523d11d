/* Closest point of one triangle, for every way of asking. */
#ifndef GEOMETRY_TRIANGLE_H
#define GEOMETRY_TRIANGLE_H

#include "geometry/bvh_nodes.h"

/* Closest point of a triangle as a + s ab + t ac: by the regions of the plane in which the projection falls. */
static inline Vec3 triangle_closest(const BvhTriangle *triangle, Vec3 p) {
  Vec3 ab = triangle->ab, ac = triangle->ac, ap = vec3_sub(p, triangle->a);
  double d1 = vec3_dot(ab, ap), d2 = vec3_dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return triangle->a;
  Vec3 bp = vec3_sub(ap, ab);
  double d3 = vec3_dot(ab, bp), d4 = vec3_dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return vec3_add(triangle->a, ab);
  double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return vec3_madd(triangle->a, ab, d1 - d3 > 0 ? d1 / (d1 - d3) : 0);
  Vec3 cp = vec3_sub(ap, ac);
  double d5 = vec3_dot(ab, cp), d6 = vec3_dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return vec3_add(triangle->a, ac);
  double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return vec3_madd(triangle->a, ac, d2 - d6 > 0 ? d2 / (d2 - d6) : 0);
  double va = d3 * d6 - d5 * d4;
  double on_b = d4 - d3, on_c = d5 - d6;
  if (va <= 0 && on_b >= 0 && on_c >= 0) {
    double t = on_b + on_c > 0 ? on_b / (on_b + on_c) : 0;
    return vec3_madd(vec3_add(triangle->a, ab), vec3_sub(ac, ab), t);
  }
  double scale = va + vb + vc > 0 ? 1 / (va + vb + vc) : 0;
  return vec3_madd(vec3_madd(triangle->a, ab, vb * scale), ac, vc * scale);
}

#endif
