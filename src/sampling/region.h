/* The places where centres of samples may lie: a shape in its pose, seen in world axes relative to the shape's centre.
 * Everything is measured there, on positions already rounded to the floats that are handed out, so that the result is
 * as good a kilometre from the world's origin as at it. */
#ifndef SAMPLING_REGION_H
#define SAMPLING_REGION_H

#include "sampling/sampling.h"

/* A sphere may be that much nearer to an obstacle than its radius: what touches is not blocked by rounding. */
#define OBSTACLE_TOUCH (1 - 1e-6)

typedef struct Region {
  const Shape *shape;
  const SamplingPlan *plan;
  Mat3 to_world, to_shape; /* rotations */
  Vec3 center;             /* in the shape's frame */
  Vec3 origin;             /* the same in the world */
  Vec3 low, high;          /* bounds, relative to the origin */
  double volume;           /* of the shape */
  bool closed;             /* the sign of the distance changes only across the surface */
  double inset;            /* how deep the centre of a sphere has to lie, over its radius */
} Region;

/* Fails for shapes without bounds. */
Status region_create(Core *core, const Shape *shape, const SamplingPlan *plan, Region *region);

static inline Vec3 region_shape_point(const Region *region, Vec3 point) {
  return vec3_add(region->center, mat3_apply(&region->to_shape, point));
}
/* Signed distance, negative where samples go: within a solid, and within a container too. Beyond reach as in
 * shape_distance. The normal is in world axes and points out of the region. */
ShapePoint region_distance(const Region *region, Vec3 point, double reach);
bool region_contains(const Region *region, Vec3 point);
/* As region_distance for a point that is known to be inside: no sign has to be found. */
ShapePoint region_inner_distance(const Region *region, Vec3 point, double reach);
/* Distance to the surface of a mesh, without a sign; `reach` where it is farther. */
double region_surface_distance(const Region *region, Vec3 point, double reach);
/* What is in the way of a sphere; plan->obstacle is there. */
static inline ShapePoint region_obstacle(const Region *region, Vec3 point, double radius, double reach) {
  return region->plan->obstacle(region->plan->obstacle_context, vec3_add(region->origin, point), radius, reach);
}
static inline bool region_blocked(const Region *region, Vec3 point, double radius) {
  return region->plan->obstacle && region_obstacle(region, point, radius, radius).distance < radius * OBSTACLE_TOUCH;
}

#endif
