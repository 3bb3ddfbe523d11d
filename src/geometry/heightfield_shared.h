/* The surface of a heightfield: its height over a point, and the distance to it. One text for CPU and devices; whoever
 * includes it has a Heightfield. */
#ifndef GEOMETRY_HEIGHTFIELD_SHARED_H
#define GEOMETRY_HEIGHTFIELD_SHARED_H

#include "geometry/touch_shared.h"
#include "geometry/triangle_law.h"

enum { HEIGHTFIELD_SEARCH = 6 }; /* cells */

VEC_INLINE double heights_size_x(Heightfield field) { return field.nx * field.cell; }
VEC_INLINE double heights_size_y(Heightfield field) { return field.ny * field.cell; }

/* Vertices -1 and n stand on the border, as high as the outermost. */
VEC_INLINE double heights_place(int i, int n, double cell) { return i < 0 ? 0 : i >= n ? n * cell : (i + 0.5) * cell; }

VEC_INLINE Vec3 heights_vertex(Heightfield field, int i, int j) {
  int ci = i < 0 ? 0 : i >= field.nx ? field.nx - 1 : i, cj = j < 0 ? 0 : j >= field.ny ? field.ny - 1 : j;
  return vec3(heights_place(i, field.nx, field.cell), heights_place(j, field.ny, field.cell),
              field.heights[cj * field.nx + ci]);
}

/* The square (by its lowest vertex, -1 .. n - 1) that holds a coordinate. What is not a number is in the first: a grain
 * that has flown off is found where its step ends. */
VEC_INLINE int heights_square(double x, double cell, int n) {
  double at = floor(x / cell - 0.5);
  return at > n - 1 ? n - 1 : at > -1 ? (int)at : -1;
}

/* Height of the surface over a point; points outside take the border's. */
VEC_INLINE double heights_over(Heightfield field, double x, double y) {
  x = fmin(fmax(x, 0.0), heights_size_x(field));
  y = fmin(fmax(y, 0.0), heights_size_y(field));
  int i = heights_square(x, field.cell, field.nx), j = heights_square(y, field.cell, field.ny);
  Vec3 low = heights_vertex(field, i, j), high = heights_vertex(field, i + 1, j + 1);
  double u = (x - low.x) / (high.x - low.x), v = (y - low.y) / (high.y - low.y);
  double corner = u > v ? heights_vertex(field, i + 1, j).z : heights_vertex(field, i, j + 1).z;
  double small = fmin(u, v), large = fmax(u, v);
  return low.z + (corner - low.z) * (large - small) + (high.z - low.z) * small;
}

/* The surface's point nearest to one. */
typedef struct HeightsNearest {
  double square; /* of the distance */
  Vec3 point, normal;
} HeightsNearest;

VEC_INLINE HeightsNearest heights_try_triangle(HeightsNearest nearest, Vec3 a, Vec3 b, Vec3 c, Vec3 p) {
  BvhTriangle triangle = {a, vec3_sub(b, a), vec3_sub(c, a)};
  HeightsNearest here;
  here.normal = vec3_cross(triangle.ab, triangle.ac);
  double area2 = vec3_dot(here.normal, here.normal), off = vec3_dot(here.normal, vec3_sub(p, a));
  if (off * off > nearest.square * area2) return nearest; /* its plane is farther already */
  here.point = triangle_closest(&triangle, p);
  Vec3 away = vec3_sub(p, here.point);
  here.square = vec3_dot(away, away);
  return here.square < nearest.square ? here : nearest;
}

VEC_INLINE HeightsNearest heights_try_square(Heightfield field, HeightsNearest nearest, int i, int j, Vec3 p) {
  Vec3 a = heights_vertex(field, i, j), b = heights_vertex(field, i + 1, j), c = heights_vertex(field, i + 1, j + 1),
       d = heights_vertex(field, i, j + 1);
  double low = fmin(fmin(a.z, b.z), fmin(c.z, d.z)), high = fmax(fmax(a.z, b.z), fmax(c.z, d.z));
  double out = fmax(fmax(low - p.z, p.z - high), 0.0);
  if (out * out > nearest.square) return nearest;
  nearest = heights_try_triangle(nearest, a, b, c, p);
  return heights_try_triangle(nearest, a, c, d, p);
}

/* Within `reach` of p: whose square is not below `limit` was not found. */
VEC_INLINE HeightsNearest heights_search(Heightfield field, Vec3 p, double reach, double limit) {
  int i0 = heights_square(p.x - reach, field.cell, field.nx), i1 = heights_square(p.x + reach, field.cell, field.nx);
  int j0 = heights_square(p.y - reach, field.cell, field.ny), j1 = heights_square(p.y + reach, field.cell, field.ny);
  int home_i = heights_square(p.x, field.cell, field.nx), home_j = heights_square(p.y, field.cell, field.ny);
  HeightsNearest nearest;
  nearest.square = limit;
  nearest.point = nearest.normal = vec3(0, 0, 0);
  nearest = heights_try_square(field, nearest, home_i, home_j, p); /* mostly the one: the planes refuse the others */
  for (int j = j0; j <= j1; j++)
    for (int i = i0; i <= i1; i++)
      if (i != home_i || j != home_j) nearest = heights_try_square(field, nearest, i, j, p);
  return nearest;
}

/* Out through a side: p is below the surface. */
VEC_INLINE ShapePoint heights_side(Heightfield field, Vec3 p, ShapePoint found) {
  const double deep[4] = {p.x, heights_size_x(field) - p.x, p.y, heights_size_y(field) - p.y};
  for (int k = 0; k < 4; k++)
    if (-deep[k] > found.distance) {
      const double out = k % 2 ? 1 : -1;
      found.distance = -deep[k];
      found.normal = k < 2 ? vec3(out, 0, 0) : vec3(0, out, 0);
    }
  return found;
}

/* As heightfield_distance. */
VEC_INLINE ShapePoint heights_point(Heightfield field, Vec3 p, double reach) {
  double x = fmin(fmax(p.x, 0.0), heights_size_x(field)), y = fmin(fmax(p.y, 0.0), heights_size_y(field));
  double surface = heights_over(field, x, y);
  double aside = VEC_SQRT((p.x - x) * (p.x - x) + (p.y - y) * (p.y - y));
  ShapePoint found;
  found.face = 0;
  if (aside > 0 && p.z <= surface) {
    found.distance = aside;
    found.normal = vec3((p.x - x) / aside, (p.y - y) / aside, 0);
    return found;
  }
  double sign = p.z < surface ? -1 : 1, above = p.z - surface;
  double most = VEC_SQRT(above * above + aside * aside), cap = HEIGHTFIELD_SEARCH * field.cell;
  double radius = fmin(most, fmin(reach * (1 + 1e-9), cap)), far = radius * (1 + 1e-9);
  double limit = far * far * (1 + 1e-12);
  HeightsNearest nearest = heights_search(field, p, far, limit);
  if (!(nearest.square < limit)) {
    found.distance = sign * radius;
    found.normal = vec3(0, 0, 1);
  } else {
    Vec3 away = vec3_sub(p, nearest.point);
    double length = VEC_SQRT(nearest.square), size = vec3_length(nearest.normal);
    found.distance = sign * length;
    found.normal = length > 1e-9 * field.cell ? vec3_scale(away, sign / length)
                                              : vec3_scale(nearest.normal, size > 0 ? 1 / size : 1);
  }
  return sign < 0 ? heights_side(field, p, found) : found;
}

#endif
