/* Asking a tree. Distances and winding numbers are found in bvh_kernels.c; rays go through the binary tree here. */
#include "geometry/bvh_nodes.h"
#include "geometry/triangle_law.h"

/* A child to come back to, with the entry of the ray into it. */
typedef struct Pending {
  double least;
  int32_t node;
} Pending;

static BvhHit hit_none(void) { return (BvhHit){.distance = INFINITY, .triangle = -1, .normal = {0, 0, 1}}; }

#ifdef SCREE_HAVE_V3
#define BVH_KERNEL(bvh, name) ((bvh)->wide_kernels ? name##_v3 : name##_base)
#else
#define BVH_KERNEL(bvh, name) name##_base
#endif

static bool is_far(const Bvh *bvh, Vec3 p) {
  double limit = BVH_FAR / bvh->scale;
  return fabs(p.x) > limit || fabs(p.y) > limit || fabs(p.z) > limit;
}

/* The margin of single precision would hold the whole mesh at such a distance: no tree helps. */
static NearestPoint closest_of_all(const Bvh *bvh, Vec3 p, NearestPoint nearest) {
  for (int64_t t = 0; t < bvh->mesh.triangle_count; t++) nearest = nearest_look(nearest, &bvh->triangles[t], (int)t, p);
  return nearest;
}

BvhHit bvh_closest(const Bvh *bvh, Vec3 point, double reach) {
  BvhHit hit = hit_none();
  if (!(reach >= 0) || !vec3_finite(point)) return hit;
  Vec3 p = vec3_sub(point, bvh->origin);
  NearestPoint nearest = nearest_none(reach * reach);
  if (is_far(bvh, p)) nearest = closest_of_all(bvh, p, nearest);
  else BVH_KERNEL(bvh, bvh_closest_kernel)(bvh, p, &nearest);
  if (nearest.place < 0) return hit;
  hit.distance = sqrt(nearest.square);
  hit.triangle = bvh->order[nearest.place];
  hit.point = vec3_add(nearest.point, bvh->origin);
  hit.normal = triangle_normal(&bvh->triangles[nearest.place]);
  return hit;
}

int64_t bvh_near(const Bvh *bvh, Vec3 point, double reach, int64_t capacity, int32_t *places) {
  Vec3 p = vec3_sub(point, bvh->origin);
  if (!vec3_finite(p) || is_far(bvh, p)) return capacity + 1;
  return BVH_KERNEL(bvh, bvh_near_kernel)(bvh, p, reach, capacity, places);
}

double bvh_winding(const Bvh *bvh, Vec3 point) {
  Vec3 p = vec3_sub(point, bvh->origin);
  /* From so far a mesh covers no more of the sky than 1e-12. */
  if (!vec3_finite(p) || is_far(bvh, p)) return 0;
  return BVH_KERNEL(bvh, bvh_winding_kernel)(bvh, p);
}

/* Corners straight from the mesh: see ray_triangle. */
static double ray_mesh(const RayFrame *ray, const Mesh *mesh, int64_t t, Vec3 shift) {
  const int32_t *corner = mesh->triangles[t];
  return ray_triangle(ray, vec3_sub(mesh->vertices[corner[0]], shift), vec3_sub(mesh->vertices[corner[1]], shift),
                      vec3_sub(mesh->vertices[corner[2]], shift));
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
      double along = ray_mesh(&ray, &bvh->mesh, bvh->order[t], bvh->origin);
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
