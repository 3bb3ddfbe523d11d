/* Asking a tree: closest point, ray, winding number. */
#include "geometry/bvh_nodes.h"

static const double PI = 3.14159265358979323846;

/* A child to come back to, with the least squared distance (or the entry along the ray) that it may hold. */
typedef struct Pending {
  double least;
  int32_t node;
} Pending;

static double box_distance2(const BvhNode *node, Vec3 p) {
  double x = fmax(fmax((double)node->low[0] - p.x, p.x - (double)node->high[0]), 0);
  double y = fmax(fmax((double)node->low[1] - p.y, p.y - (double)node->high[1]), 0);
  double z = fmax(fmax((double)node->low[2] - p.z, p.z - (double)node->high[2]), 0);
  return x * x + y * y + z * z;
}

/* Closest point of a triangle as a + s ab + t ac: by the regions of the plane in which the projection falls. */
static Vec3 triangle_closest(const BvhTriangle *triangle, Vec3 p) {
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

static Vec3 triangle_normal(const BvhTriangle *triangle) {
  return vec3_normalize(vec3_cross(triangle->ab, triangle->ac));
}

static BvhHit hit_none(void) { return (BvhHit){.distance = INFINITY, .triangle = -1, .normal = {0, 0, 1}}; }

BvhHit bvh_closest(const Bvh *bvh, Vec3 point, double reach) {
  Vec3 p = vec3_sub(point, bvh->origin);
  BvhHit hit = hit_none();
  double best = reach * reach;
  int32_t best_triangle = -1;
  Vec3 best_point = p;
  Pending stack[BVH_DEPTH_MAX];
  int top = 0;
  if (!(reach >= 0) || !vec3_finite(point)) return hit;
  stack[top++] = (Pending){box_distance2(&bvh->nodes[0], p), 0};
  while (top > 0) {
    Pending pending = stack[--top];
    if (pending.least > best) continue;
    const BvhNode *node = &bvh->nodes[pending.node];
    while (node->count == 0) {
      const BvhNode *near = &bvh->nodes[node->first], *far = near + 1;
      double near_least = box_distance2(near, p), far_least = box_distance2(far, p);
      if (far_least < near_least) {
        const BvhNode *swap = near;
        near = far;
        far = swap;
        double swap_least = near_least;
        near_least = far_least;
        far_least = swap_least;
      }
      if (far_least <= best) stack[top++] = (Pending){far_least, (int32_t)(far - bvh->nodes)};
      node = near;
      if (near_least > best) break;
    }
    for (int32_t t = node->first; t < node->first + node->count; t++) {
      Vec3 q = triangle_closest(&bvh->triangles[t], p), d = vec3_sub(p, q);
      double distance2 = vec3_dot(d, d);
      if (distance2 < best || (best_triangle < 0 && distance2 == best)) {
        best = distance2;
        best_triangle = t;
        best_point = q;
      }
    }
  }
  if (best_triangle < 0) return hit;
  hit.distance = sqrt(best);
  hit.triangle = bvh->order[best_triangle];
  hit.point = vec3_add(best_point, bvh->origin);
  hit.normal = triangle_normal(&bvh->triangles[best_triangle]);
  return hit;
}

/* Woop, Benthin and Wald 2013: the ray becomes the z axis, and the sign of each edge function is computed alike by
 * both triangles of an edge, so that no ray slips between them. */
typedef struct RayFrame {
  Vec3 origin, inverse;
  int kx, ky, kz;
  double sx, sy, sz;
} RayFrame;

static RayFrame ray_frame(Vec3 origin, Vec3 d) {
  RayFrame ray = {.origin = origin, .inverse = {1 / d.x, 1 / d.y, 1 / d.z}};
  ray.kz = fabs(d.x) > fabs(d.y) ? (fabs(d.x) > fabs(d.z) ? 0 : 2) : (fabs(d.y) > fabs(d.z) ? 1 : 2);
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

/* How far along the ray, below 0 for a miss. Corners straight from the mesh: both triangles of an edge must see the
 * same numbers. */
static double ray_triangle(const RayFrame *ray, const Mesh *mesh, int64_t t, Vec3 shift) {
  double x[3], y[3], z[3];
  for (int c = 0; c < 3; c++) {
    Vec3 v = vec3_sub(vec3_sub(mesh->vertices[mesh->triangles[t][c]], shift), ray->origin);
    z[c] = ray->sz * vec3_get(v, ray->kz);
    x[c] = vec3_get(v, ray->kx) - ray->sx * vec3_get(v, ray->kz);
    y[c] = vec3_get(v, ray->ky) - ray->sy * vec3_get(v, ray->kz);
  }
  double u = x[2] * y[1] - y[2] * x[1], v = x[0] * y[2] - y[0] * x[2], w = x[1] * y[0] - y[1] * x[0];
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return -1;
  double determinant = u + v + w;
  if (determinant == 0) return -1;
  return (u * z[0] + v * z[1] + w * z[2]) / determinant;
}

/* Where the ray enters the box, or INFINITY. A direction without a component on an axis gives 0 * inf = NaN, which
 * fmin and fmax pass over. */
static double ray_box(const BvhNode *node, const RayFrame *ray, double reach) {
  double enter = 0, leave = reach;
  const double origin[3] = {ray->origin.x, ray->origin.y, ray->origin.z};
  const double inverse[3] = {ray->inverse.x, ray->inverse.y, ray->inverse.z};
  for (int k = 0; k < 3; k++) {
    double a = ((double)node->low[k] - origin[k]) * inverse[k], b = ((double)node->high[k] - origin[k]) * inverse[k];
    enter = fmax(enter, fmin(a, b));
    leave = fmin(leave, fmax(a, b));
  }
  return enter <= leave * (1 + 1e-14) ? enter : INFINITY;
}

BvhHit bvh_ray(const Bvh *bvh, Vec3 origin, Vec3 direction, double reach) {
  BvhHit hit = hit_none();
  if (!vec3_finite(origin) || !vec3_finite(direction) || vec3_dot(direction, direction) == 0) return hit;
  RayFrame ray = ray_frame(vec3_sub(origin, bvh->origin), direction);
  int32_t best_triangle = -1;
  double best = reach;
  Pending stack[BVH_DEPTH_MAX];
  int top = 0;
  double least = ray_box(&bvh->nodes[0], &ray, best);
  if (least <= best) stack[top++] = (Pending){least, 0};
  while (top > 0) {
    Pending pending = stack[--top];
    if (pending.least > best) continue;
    const BvhNode *node = &bvh->nodes[pending.node];
    if (node->count == 0) {
      double left = ray_box(&bvh->nodes[node->first], &ray, best);
      double right = ray_box(&bvh->nodes[node->first + 1], &ray, best);
      Pending near = {left, node->first}, far = {right, node->first + 1};
      if (right < left) near = (Pending){right, node->first + 1}, far = (Pending){left, node->first};
      if (far.least <= best && far.least < INFINITY) stack[top++] = far;
      if (near.least <= best && near.least < INFINITY) stack[top++] = near;
      continue;
    }
    for (int32_t t = node->first; t < node->first + node->count; t++) {
      double along = ray_triangle(&ray, bvh->mesh, bvh->order[t], bvh->origin);
      if (along >= 0 && (along < best || (best_triangle < 0 && along == best))) {
        best = along;
        best_triangle = t;
      }
    }
  }
  if (best_triangle < 0) return hit;
  hit.distance = best;
  hit.triangle = bvh->order[best_triangle];
  hit.point = vec3_madd(origin, direction, best);
  hit.normal = triangle_normal(&bvh->triangles[best_triangle]);
  return hit;
}

/* Sum of solid angles without an arctangent for each: half the angle of a triangle is the argument of a complex
 * number (van Oosterom and Strackee 1983), arguments add under multiplication, and full turns are counted. */
typedef struct AngleSum {
  double re, im;
  int turns;
} AngleSum;

static void angle_add(AngleSum *sum, const BvhTriangle *triangle, Vec3 p) {
  Vec3 a = vec3_sub(triangle->a, p), b = vec3_add(a, triangle->ab), c = vec3_add(a, triangle->ac);
  double la = vec3_length(a), lb = vec3_length(b), lc = vec3_length(c);
  double im = vec3_dot(a, vec3_cross(triangle->ab, triangle->ac));
  double re = la * lb * lc + vec3_dot(a, b) * lc + vec3_dot(b, c) * la + vec3_dot(c, a) * lb;
  double size = fabs(re) + fabs(im);
  /* On a corner, or in the triangle's plane: nothing, the mean of both sides where the point lies on it. */
  if (!(size > 0) || im == 0) return;
  re /= size;
  im /= size;
  double product_re = sum->re * re - sum->im * im, product_im = sum->re * im + sum->im * re;
  /* Each factor turns by less than half a turn, so crossing the negative axis shows in the signs. */
  if (im > 0 && sum->im >= 0 && product_im < 0) sum->turns++;
  if (im < 0 && sum->im < 0 && product_im >= 0) sum->turns--;
  double length = fabs(product_re) + fabs(product_im);
  sum->re = product_re / length;
  sum->im = product_im / length + 0.0; /* never -0, whose argument would be -pi */
}

/* Far enough for the expansion: 2 radii, as Barill et al. 2018 take. The worst error seen is 0.05 (coarse meshes),
 * which is far from 1/2, and 3 radii would cost twice the time for 0.016. */
#define WINDING_FAR 2.0f

static bool moment_far(const BvhMoment *moment, const float p[3], float d[3], float *distance2) {
  *distance2 = 0;
  for (int k = 0; k < 3; k++) {
    d[k] = moment->center[k] - p[k];
    *distance2 += d[k] * d[k];
  }
  float limit = WINDING_FAR * moment->radius;
  return *distance2 > limit * limit;
}

static double moment_winding(const BvhMoment *moment, const float d[3], float distance2) {
  float inverse = 1 / sqrtf(distance2), inverse2 = inverse * inverse, inverse3 = inverse * inverse2;
  const float *n = moment->normal, *m = moment->slope;
  float dipole = n[0] * d[0] + n[1] * d[1] + n[2] * d[2];
  float trace = m[0] + m[1] + m[2];
  float quadric = m[0] * d[0] * d[0] + m[1] * d[1] * d[1] + m[2] * d[2] * d[2] +
                  2 * (m[3] * d[0] * d[1] + m[4] * d[1] * d[2] + m[5] * d[2] * d[0]);
  return (double)(inverse3 * (dipole + trace - 3 * quadric * inverse2));
}

double bvh_winding(const Bvh *bvh, Vec3 point) {
  Vec3 p = vec3_sub(point, bvh->origin);
  if (!vec3_finite(p)) return 0;
  const float pf[3] = {(float)p.x, (float)p.y, (float)p.z};
  double far_sum = 0;
  AngleSum near_sum = {1, 0, 0};
  int32_t stack[BVH_DEPTH_MAX];
  int top = 0;
  stack[top++] = 0;
  while (top > 0) {
    int32_t n = stack[--top];
    const BvhNode *node = &bvh->nodes[n];
    float d[3], distance2;
    if (moment_far(&bvh->moments[n], pf, d, &distance2)) {
      far_sum += moment_winding(&bvh->moments[n], d, distance2);
    } else if (node->count) {
      for (int32_t t = node->first; t < node->first + node->count; t++) angle_add(&near_sum, &bvh->triangles[t], p);
    } else {
      stack[top++] = node->first + 1;
      stack[top++] = node->first;
    }
  }
  double near_angle = atan2(near_sum.im, near_sum.re) + 2 * PI * near_sum.turns;
  return far_sum / (4 * PI) + near_angle / (2 * PI);
}
