/* The point of a mesh that is nearest to a point in space: one text for the tree of the CPU and for lists of devices.
 */
#ifndef GEOMETRY_MESH_NEAREST_SHARED_H
#define GEOMETRY_MESH_NEAREST_SHARED_H

#include "geometry/touch_shared.h"
#include "geometry/triangle_law.h"

/* Of the triangles looked at so far; `place` of the nearest, -1: none is within reach. */
typedef struct NearestPoint {
  Vec3 point;
  double square;
  int place;
} NearestPoint;

VEC_INLINE NearestPoint nearest_none(double square) {
  NearestPoint nearest = {{0, 0, 0}, square, -1};
  return nearest;
}

/* Of two that are as near the one with the lower place: in which order they are looked at changes nothing. */
VEC_INLINE NearestPoint nearest_look(NearestPoint before, const BvhTriangle *triangle, int place, Vec3 p) {
  NearestPoint here;
  here.point = triangle_closest(triangle, p);
  const Vec3 from = vec3_sub(p, here.point);
  here.square = vec3_dot(from, from);
  here.place = place;
  const bool nearer =
      here.square < before.square || (here.square == before.square && (before.place < 0 || place < before.place));
  return nearer ? here : before;
}

/* A point at this distance from its nearest point, `sign` -1 in the mesh, of a mesh whose bounds have this diagonal. So
 * close to the surface that the difference is rounding the triangle's own normal, `flat`, is better. */
VEC_INLINE ShapePoint mesh_point_beside(Vec3 p, Vec3 nearest, double distance, double sign, double diagonal,
                                        Vec3 flat) {
  const Vec3 outward = vec3_sub(p, nearest);
  const double length = vec3_length(outward), tiny = 1e-12 * (diagonal + vec3_length(p));
  ShapePoint point;
  point.distance = sign * distance;
  point.normal = length > tiny ? vec3_scale(outward, sign / length) : flat;
  point.face = 0;
  return point;
}

/* The mesh is not within reach. */
VEC_INLINE ShapePoint mesh_point_beyond(double reach, double sign) {
  ShapePoint point;
  point.distance = sign * (reach * (1 + 1e-9) + 1e-300);
  point.normal = vec3(0, 0, 1);
  point.face = 0;
  return point;
}

VEC_INLINE ShapePoint shape_point_turned(ShapePoint point) {
  point.distance = -point.distance;
  point.normal = vec3_scale(point.normal, -1);
  return point;
}

#endif
