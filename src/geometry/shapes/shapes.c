/* The table of plain shapes, and what several of them share. */
#include "geometry/shapes/shapes.h"

const ShapeKind *shape_kind(ScreeShapeKind kind) {
#define SHAPE_ENTRY(id, ...) [SCREE_SHAPE_##id] = &SHAPE_##id,
  static const ShapeKind *const kinds[SCREE_SHAPE_HEIGHTFIELD + 1] = {SCREE_SOLID_SHAPES(SHAPE_ENTRY)};
  return (int)kind >= 0 && kind <= SCREE_SHAPE_HEIGHTFIELD ? kinds[kind] : NULL;
}

Status shape_refuse(Core *core, const ScreeShapeDef *definition, const char *scene, const char *what) {
  return fail_at(core, SCREE_BAD_INPUT, scene, definition->source, "%s", what);
}

void shape_create_round(const RoundShape *round, Shape *shape) {
  Vec3 base = round->base;
  double radius = round->radius, height = round->height, cap = round->cap;
  shape->low = base;
  shape->high = vec3(base.x, base.y, base.z + height);
  shape->radius = radius;
  shape->height = height;
  shape->bounds_low = vec3(base.x - radius, base.y - radius, base.z - cap);
  shape->bounds_high = vec3(base.x + radius, base.y + radius, base.z + height + cap);
  double r2 = radius * radius, tube = SHAPE_PI * r2 * height, ball = cap > 0 ? 4 * SHAPE_PI / 3 * r2 * radius : 0;
  shape->mass.volume = tube + ball;
  shape->mass.center = vec3(base.x, base.y, base.z + height / 2);
  /* Half a ball has its centre 3/8 of the radius from the cut. */
  double offset = height / 2 + 0.375 * radius, half_ball = 83.0 / 320 * ball * r2 + ball * offset * offset;
  double across = tube * (3 * r2 + height * height) / 12 + half_ball;
  shape->mass.inertia.m[0][0] = shape->mass.inertia.m[1][1] = across;
  shape->mass.inertia.m[2][2] = tube * r2 / 2 + 0.4 * ball * r2;
}
