/* Capsules that stand on z. */
#include "geometry/shapes/shapes.h"

static Status create_capsule(Core *core, const ScreeShapeDef *definition, const char *scene, Shape *shape) {
  RoundShape round = {.base = vec3_scale(definition->capsule.base, definition->scale),
                      .radius = definition->capsule.radius * definition->scale,
                      .height = definition->capsule.height * definition->scale};
  round.cap = round.radius;
  if (!vec3_finite(round.base) || !(round.radius > 0) || !(round.height >= 0) || !isfinite(round.radius + round.height))
    return shape_refuse(core, definition, scene, "a cylinder or capsule needs a positive radius and height");
  shape_create_round(&round, shape);
  return SCREE_OK;
}

/* A convex union of tube and two balls: the spans join. */
static Span capsule_span(const Shape *shape, Vec3 o, Vec3 d) {
  Span parts[3] = {span_tube(shape->low, shape->radius, shape->height, o, d),
                   span_ball(shape->low, shape->radius, o, d), span_ball(shape->high, shape->radius, o, d)};
  Span span = SPAN_NONE;
  for (int k = 0; k < 3; k++) {
    if (parts[k].enter > parts[k].leave) continue;
    if (parts[k].enter < span.enter) span.enter = parts[k].enter, span.enter_normal = parts[k].enter_normal;
    if (parts[k].leave > span.leave) span.leave = parts[k].leave, span.leave_normal = parts[k].leave_normal;
  }
  return span;
}

static Status capsule_mesh(Core *core, const Shape *shape, int detail, double extent, Mesh *mesh) {
  (void)extent;
  return mesh_make_capsule(core, shape->low, shape->radius, shape->height, detail, mesh);
}

/* The centres of the caps. */
static int capsule_corners(const Shape *shape, Vec3 points[SHAPE_CORNERS_MAX], double *radius) {
  points[0] = shape->low;
  points[1] = vec3(shape->low.x, shape->low.y, shape->low.z + shape->height);
  *radius = shape->radius;
  return 2;
}

const ShapeKind SHAPE_CAPSULE = {
    .curved = true, .create = create_capsule, .span = capsule_span, .mesh = capsule_mesh, .corners = capsule_corners};
