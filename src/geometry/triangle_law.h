/* The closest point of one triangle, and where a ray goes through one: one text for CPU and devices. */
#ifndef GEOMETRY_TRIANGLE_LAW_H
#define GEOMETRY_TRIANGLE_LAW_H

#include "core/vec_law.h"

/* Corner a and the sides from it. */
typedef struct BvhTriangle {
  Vec3 a, ab, ac;
} BvhTriangle;

/* Closest point of a triangle as a + s ab + t ac: by the regions of the plane in which the projection falls. */
VEC_INLINE Vec3 triangle_closest(const BvhTriangle *triangle, Vec3 p) {
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

VEC_INLINE Vec3 triangle_normal(const BvhTriangle *triangle) {
  const Vec3 across = vec3_cross(triangle->ab, triangle->ac);
  const double length = vec3_length(across);
  return length > 0 ? vec3_scale(across, 1 / length) : across;
}

/* Woop, Benthin and Wald 2013: the ray becomes the z axis, and the sign of each edge function is computed alike by
 * both triangles of an edge, so that no ray slips between them. */
typedef struct RayFrame {
  Vec3 origin, inverse;
  int kx, ky, kz;
  double sx, sy, sz;
} RayFrame;

VEC_INLINE RayFrame ray_frame(Vec3 origin, Vec3 d) {
  RayFrame ray;
  const double x = d.x < 0 ? -d.x : d.x, y = d.y < 0 ? -d.y : d.y, z = d.z < 0 ? -d.z : d.z;
  ray.origin = origin;
  ray.inverse = vec3(1 / d.x, 1 / d.y, 1 / d.z);
  ray.kz = x > y ? (x > z ? 0 : 2) : (y > z ? 1 : 2);
  ray.kx = (ray.kz + 1) % 3;
  ray.ky = (ray.kx + 1) % 3;
  if (vec3_get(d, ray.kz) < 0) {
    int swap = ray.kx;
    ray.kx = ray.ky;
    ray.ky = swap;
  }
  ray.sx = vec3_get(d, ray.kx) / vec3_get(d, ray.kz);
  ray.sy = vec3_get(d, ray.ky) / vec3_get(d, ray.kz);
  ray.sz = 1 / vec3_get(d, ray.kz);
  return ray;
}

/* A corner in the ray's axes. */
VEC_INLINE Vec3 ray_corner(const RayFrame *ray, Vec3 corner) {
  Vec3 v = vec3_sub(corner, ray->origin);
  return vec3(vec3_get(v, ray->kx) - ray->sx * vec3_get(v, ray->kz),
              vec3_get(v, ray->ky) - ray->sy * vec3_get(v, ray->kz), ray->sz * vec3_get(v, ray->kz));
}

/* How far along the ray it goes through a triangle, below 0 for a miss. Both triangles of an edge must be given the
 * same numbers for its corners. */
VEC_INLINE double ray_triangle(const RayFrame *ray, Vec3 corner_a, Vec3 corner_b, Vec3 corner_c) {
  Vec3 a = ray_corner(ray, corner_a), b = ray_corner(ray, corner_b), c = ray_corner(ray, corner_c);
  double u = c.x * b.y - c.y * b.x, v = a.x * c.y - a.y * c.x, w = b.x * a.y - b.y * a.x;
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return -1;
  double determinant = u + v + w;
  if (determinant == 0) return -1;
  return (u * a.z + v * b.z + w * c.z) / determinant;
}

#endif
