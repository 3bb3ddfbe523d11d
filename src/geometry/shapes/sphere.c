/* Spheres. */
#include "geometry/shapes/shapes.h"

static Status create_sphere(Core *core, const ScreeShapeDef *definition, const char *scene, Shape *shape) {
  double radius = definition->sphere.radius * definition->scale;
  shape->low = shape->high = vec3_scale(definition->sphere.center, definition->scale);
  shape->radius = radius;
  if (!(radius > 0) || !isfinite(radius) || !vec3_finite(shape->low))
    return shape_refuse(core, definition, scene, "a sphere needs a finite centre and a positive radius");
  shape->bounds_low = vec3_sub(shape->low, vec3(radius, radius, radius));
  shape->bounds_high = vec3_add(shape->low, vec3(radius, radius, radius));
  shape->mass.volume = 4 * SHAPE_PI / 3 * radius * radius * radius;
  shape->mass.center = shape->low;
  for (int k = 0; k < 3; k++) shape->mass.inertia.m[k][k] = 0.4 * shape->mass.volume * radius * radius;
  return SCREE_OK;
}

static Span sphere_span(const Shape *shape, Vec3 origin, Vec3 direction) {
  return span_ball(shape->low, shape->radius, origin, direction);
}

static Status sphere_mesh(Core *core, const Shape *shape, int detail, double extent, Mesh *mesh) {
  (void)extent;
  return mesh_make_sphere(core, shape->low, shape->radius, detail, mesh);
}

static int sphere_corners(const Shape *shape, Vec3 points[SHAPE_CORNERS_MAX], double *radius) {
  points[0] = shape->low;
  *radius = shape->radius;
  return 1;
}

const ShapeKind SHAPE_SPHERE = {
    .curved = true, .create = create_sphere, .span = sphere_span, .mesh = sphere_mesh, .corners = sphere_corners};
