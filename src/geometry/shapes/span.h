/* Where a ray is inside a convex body: one interval. */
#ifndef GEOMETRY_SHAPES_SPAN_H
#define GEOMETRY_SHAPES_SPAN_H

#include "core/vec.h"

typedef struct Span {
  double enter, leave;             /* along the ray; enter above leave: it misses */
  Vec3 enter_normal, leave_normal; /* out of the convex body */
} Span;

static const Span SPAN_NONE = {INFINITY, -INFINITY, {0, 0, 1}, {0, 0, 1}};
static const Span SPAN_ALL = {-INFINITY, INFINITY, {0, 0, 1}, {0, 0, 1}};

/* Cuts the span with the half space below a plane: `height` over it at the origin, rising by `slope` along the ray. */
void span_cut(Span *span, double height, double slope, Vec3 normal);
Span span_ball(Vec3 center, double radius, Vec3 origin, Vec3 direction);
/* A cylinder that stands on `base` along z. */
Span span_tube(Vec3 base, double radius, double height, Vec3 origin, Vec3 direction);

#endif
