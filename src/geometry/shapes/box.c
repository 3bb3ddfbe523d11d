/* Boxes along the axes. */
#include "geometry/shapes/shapes.h"

static Status create_box(Core *core, const ScreeShapeDef *definition, const char *scene, Shape *shape) {
  Vec3 low = vec3_scale(definition->box.min, definition->scale),
       high = vec3_scale(definition->box.max, definition->scale);
  if (!vec3_finite(low) || !vec3_finite(high) || !(low.x < high.x && low.y < high.y && low.z < high.z))
    return shape_refuse(core, definition, scene, "a box needs min below max on every axis");
  shape->low = shape->bounds_low = low;
  shape->high = shape->bounds_high = high;
  Vec3 size = vec3_sub(high, low), square = vec3(size.x * size.x, size.y * size.y, size.z * size.z);
  double volume = size.x * size.y * size.z;
  shape->mass.volume = volume;
  shape->mass.center = vec3_scale(vec3_add(low, high), 0.5);
  shape->mass.inertia.m[0][0] = volume * (square.y + square.z) / 12;
  shape->mass.inertia.m[1][1] = volume * (square.x + square.z) / 12;
  shape->mass.inertia.m[2][2] = volume * (square.x + square.y) / 12;
  return SCREE_OK;
}

static void box_vectors(const Shape *shape, double a[3], double b[3]) {
  for (int k = 0; k < 3; k++) {
    double low = vec3_get(shape->low, k), high = vec3_get(shape->high, k);
    a[k] = 0.5 * (low + high); /* centre */
    b[k] = 0.5 * (high - low); /* half size */
  }
}

static int box_faces(const Shape *shape, Vec3 p, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  return box_faces_near(shape->low, shape->high, p, reach, contacts);
}

static Span box_span(const Shape *shape, Vec3 o, Vec3 d) {
  Span span = SPAN_ALL;
  span_cut(&span, o.x - shape->high.x, d.x, vec3(1, 0, 0));
  span_cut(&span, shape->low.x - o.x, -d.x, vec3(-1, 0, 0));
  span_cut(&span, o.y - shape->high.y, d.y, vec3(0, 1, 0));
  span_cut(&span, shape->low.y - o.y, -d.y, vec3(0, -1, 0));
  span_cut(&span, o.z - shape->high.z, d.z, vec3(0, 0, 1));
  span_cut(&span, shape->low.z - o.z, -d.z, vec3(0, 0, -1));
  return span;
}

static Status box_mesh(Core *core, const Shape *shape, int detail, double extent, Mesh *mesh) {
  (void)detail, (void)extent;
  return mesh_make_box(core, shape->low, shape->high, mesh);
}

static int box_corners(const Shape *shape, Vec3 points[SHAPE_CORNERS_MAX], double *radius) {
  Vec3 low = shape->low, high = shape->high;
  (void)radius;
  for (int k = 0; k < 8; k++) points[k] = vec3(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z);
  return 8;
}

const ShapeKind SHAPE_BOX = {.create = create_box,
                             .vectors = box_vectors,
                             .faces = box_faces,
                             .span = box_span,
                             .mesh = box_mesh,
                             .corners = box_corners};
