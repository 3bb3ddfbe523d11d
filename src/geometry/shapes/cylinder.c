/* Cylinders that stand on z. */
#include "core/portable.h"
#include "geometry/shapes/shapes.h"

enum { RIM_POINTS = 16 };

static Status create_cylinder(Core *core, const ScreeShapeDef *definition, const char *scene, Shape *shape) {
  RoundShape round = {.base = vec3_scale(definition->cylinder.base, definition->scale),
                      .radius = definition->cylinder.radius * definition->scale,
                      .height = definition->cylinder.height * definition->scale};
  if (!vec3_finite(round.base) || !(round.radius > 0) || !(round.height > 0) || !isfinite(round.radius + round.height))
    return shape_refuse(core, definition, scene, "a cylinder or capsule needs a positive radius and height");
  shape_create_round(&round, shape);
  return SCREE_OK;
}

static int cylinder_faces(const Shape *shape, Vec3 p, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  return cylinder_faces_near(shape->low, shape->radius, shape->height, p, reach, contacts);
}

static Span cylinder_span(const Shape *shape, Vec3 origin, Vec3 direction) {
  return span_tube(shape->low, shape->radius, shape->height, origin, direction);
}

static Status cylinder_mesh(Core *core, const Shape *shape, int detail, double extent, Mesh *mesh) {
  (void)extent;
  return mesh_make_cylinder(core, shape->low, shape->radius, shape->height, detail, mesh);
}

/* Points on both rims. */
static int cylinder_corners(const Shape *shape, Vec3 points[SHAPE_CORNERS_MAX], double *radius) {
  (void)radius;
  for (int k = 0; k < 2 * RIM_POINTS; k++) {
    double angle = 2 * SHAPE_PI * (k % RIM_POINTS) / RIM_POINTS;
    Vec3 center = vec3(shape->low.x, shape->low.y, shape->low.z + (k < RIM_POINTS ? 0 : shape->height));
    points[k] = vec3_add(center, vec3(shape->radius * portable_cos(angle), shape->radius * portable_sin(angle), 0));
  }
  return 2 * RIM_POINTS;
}

const ShapeKind SHAPE_CYLINDER = {.curved = true,
                                  .create = create_cylinder,
                                  .faces = cylinder_faces,
                                  .span = cylinder_span,
                                  .mesh = cylinder_mesh,
                                  .corners = cylinder_corners};
