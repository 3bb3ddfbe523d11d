/* Plain shapes from inside. A shape is one row of SCREE_SOLID_SHAPES in scree/parameters.h, its signed distance in
 * <word>_distance.h and all else in <word>.c of this folder. See docs/adding_a_shape.md. */
#ifndef GEOMETRY_SHAPES_SHAPES_H
#define GEOMETRY_SHAPES_SHAPES_H

#include "geometry/shape.h"
#include "geometry/shapes/span.h"

typedef struct ShapeKind {
  bool curved; /* the triangles of its mesh only come close to it */
  /* Sizes, bounds and mass properties from the definition. */
  Status (*create)(Core *core, const ScreeShapeDef *definition, const char *scene, Shape *shape);
  /* The two vectors that its distance is computed from; NULL: low and high. */
  void (*vectors)(const Shape *shape, double a[3], double b[3]);
  /* Faces within reach that a sphere could touch at the same time, nearest first; NULL: the nearest point alone. Only
   * containers have several; a plane has its one. */
  int (*faces)(const Shape *shape, Vec3 point, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]);
  /* Where a ray is inside. */
  Span (*span)(const Shape *shape, Vec3 origin, Vec3 direction);
  /* Its surface as triangles: `detail` segments round a circle; `extent` for what has no end. */
  Status (*mesh)(Core *core, const Shape *shape, int detail, double extent, Mesh *mesh);
  /* Points that a free body of this shape touches others with, as centres of balls of *radius, which begins as 0.
   * Returns their number. NULL: no body has this shape. */
  int (*corners)(const Shape *shape, Vec3 points[SHAPE_CORNERS_MAX], double *radius);
} ShapeKind;

#define SHAPE_DECLARE(id, ...) extern const ShapeKind SHAPE_##id;
SCREE_SOLID_SHAPES(SHAPE_DECLARE)

/* NULL: not a plain shape. */
const ShapeKind *shape_kind(ScreeShapeKind kind);

Status shape_refuse(Core *core, const ScreeShapeDef *definition, const char *scene, const char *what);
/* What stands on z: `cap` is the radius of half balls at both ends, or 0. */
typedef struct RoundShape {
  Vec3 base;
  double radius, height, cap;
} RoundShape;
void shape_create_round(const RoundShape *round, Shape *shape);

static const double SHAPE_PI = 3.14159265358979323846;

#endif
