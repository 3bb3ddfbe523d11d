/* Rays against shapes. Plain shapes have convex solids: a ray is inside for one interval, found exactly. */
#include "geometry/shapes/shapes.h"

bool shape_ray(const Shape *shape, Vec3 origin, Vec3 direction, double reach, double *distance, Vec3 *normal) {
  double side = shape->inside ? -1 : 1;
  if (shape->kind == SCREE_SHAPE_MESH) {
    BvhHit hit = bvh_ray(shape->bvh, origin, direction, reach);
    if (hit.triangle < 0) return false;
    *distance = hit.distance;
    *normal = vec3_scale(hit.normal, side);
    return true;
  }
  if (shape->kind == SCREE_SHAPE_HEIGHTFIELD)
    return heightfield_ray(shape->heights, origin, direction, reach, distance, normal);
  const ShapeKind *kind = shape_kind(shape->kind);
  Span span = kind ? kind->span(shape, origin, direction) : SPAN_NONE;
  if (span.enter > span.leave) return false;
  bool entering = span.enter >= 0;
  *distance = entering ? span.enter : span.leave;
  *normal = vec3_scale(entering ? span.enter_normal : span.leave_normal, side);
  return *distance >= 0 && *distance <= reach;
}
