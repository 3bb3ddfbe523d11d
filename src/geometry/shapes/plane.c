/* Planes: the solid is behind the normal. */
#include "geometry/shapes/shapes.h"

static Status create_plane(Core *core, const ScreeShapeDef *definition, const char *scene, Shape *shape) {
  shape->low = vec3_scale(definition->plane.point, definition->scale);
  shape->high = vec3_normalize(definition->plane.normal);
  if (!vec3_finite(shape->low) || !(fabs(vec3_length(shape->high) - 1) < 1e-6))
    return shape_refuse(core, definition, scene, "a plane needs a finite point and a normal that is not zero");
  shape->bounds_low = vec3(-INFINITY, -INFINITY, -INFINITY);
  shape->bounds_high = vec3(INFINITY, INFINITY, INFINITY);
  return SCREE_OK;
}

static int plane_faces(const Shape *shape, Vec3 p, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  return plane_faces_near(shape->low, shape->high, p, reach, contacts);
}

static Span plane_span(const Shape *shape, Vec3 o, Vec3 d) {
  Span span = SPAN_ALL;
  span_cut(&span, vec3_dot(vec3_sub(o, shape->low), shape->high), vec3_dot(d, shape->high), shape->high);
  return span;
}

/* A square. */
static Status plane_mesh(Core *core, const Shape *shape, int detail, double extent, Mesh *mesh) {
  (void)detail;
  Vec3 u, v;
  vec3_frame(shape->high, &u, &v);
  double vertices[12];
  static const int64_t triangles[6] = {0, 1, 2, 0, 2, 3};
  for (int k = 0; k < 4; k++) {
    double a = (k == 0 || k == 3 ? -0.5 : 0.5) * extent, b = (k < 2 ? -0.5 : 0.5) * extent;
    Vec3 p = vec3_madd(vec3_madd(shape->low, u, a), v, b);
    vertices[3 * k] = p.x;
    vertices[3 * k + 1] = p.y;
    vertices[3 * k + 2] = p.z;
  }
  return mesh_copy(core, vertices, 4, triangles, 2, mesh);
}

const ShapeKind SHAPE_PLANE = {.create = create_plane, .faces = plane_faces, .span = plane_span, .mesh = plane_mesh};
