#include "sampling/region.h"

Status region_create(Core *core, const Shape *shape, const SamplingPlan *plan, Region *region) {
  if (!vec3_finite(shape->bounds_low) || !vec3_finite(shape->bounds_high))
    return fail(core, SCREE_BAD_ARGUMENT, "a shape without bounds cannot be sampled");
  if (!vec3_finite(plan->position)) return fail(core, SCREE_BAD_ARGUMENT, "the shape's position is not a number");
  *region = (Region){.shape = shape, .plan = plan};
  region->to_world = mat3_from_quat(quat_normalize(plan->rotation));
  region->to_shape = mat3_transpose(region->to_world);
  region->center = vec3_scale(vec3_add(shape->bounds_low, shape->bounds_high), 0.5);
  region->origin = vec3_add(plan->position, mat3_apply(&region->to_world, region->center));
  Vec3 half = vec3_scale(vec3_sub(shape->bounds_high, shape->bounds_low), 0.5);
  const double(*m)[3] = region->to_world.m;
  region->high = vec3(fabs(m[0][0]) * half.x + fabs(m[0][1]) * half.y + fabs(m[0][2]) * half.z,
                      fabs(m[1][0]) * half.x + fabs(m[1][1]) * half.y + fabs(m[1][2]) * half.z,
                      fabs(m[2][0]) * half.x + fabs(m[2][1]) * half.y + fabs(m[2][2]) * half.z);
  region->low = vec3_scale(region->high, -1);
  region->volume = shape->volume;
  region->closed = shape->bvh && shape->findings.closed;
  region->inset = 1;
  return SCREE_OK;
}

ShapePoint region_distance(const Region *region, Vec3 point, double reach) {
  ShapePoint at = shape_distance(region->shape, region_shape_point(region, point), reach);
  if (region->shape->inside) at = (ShapePoint){.distance = -at.distance, .normal = vec3_scale(at.normal, -1)};
  at.normal = mat3_apply(&region->to_world, at.normal);
  return at;
}

bool region_contains(const Region *region, Vec3 point) {
  return shape_contains(region->shape, region_shape_point(region, point)) != region->shape->inside;
}

double region_surface_distance(const Region *region, Vec3 point, double reach) {
  BvhHit hit = bvh_closest(region->shape->bvh, region_shape_point(region, point), reach);
  return hit.triangle < 0 ? reach : hit.distance;
}

ShapePoint region_inner_distance(const Region *region, Vec3 point, double reach) {
  if (!region->closed) return region_distance(region, point, reach);
  Vec3 at = region_shape_point(region, point);
  BvhHit hit = bvh_closest(region->shape->bvh, at, reach);
  if (hit.triangle < 0) return (ShapePoint){.distance = -reach, .normal = {0, 0, 1}};
  Vec3 out = hit.distance > 0 ? vec3_scale(vec3_sub(hit.point, at), 1 / hit.distance) : hit.normal;
  return (ShapePoint){.distance = -hit.distance, .normal = mat3_apply(&region->to_world, out)};
}
