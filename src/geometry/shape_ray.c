/* Rays against shapes. Plain shapes have convex solids: a ray is inside for one interval, found exactly. */
#include "geometry/shape.h"

typedef struct Span {
  double enter, leave;
  Vec3 enter_normal, leave_normal; /* out of the convex body */
} Span;

static const Span SPAN_NONE = {INFINITY, -INFINITY, {0, 0, 1}, {0, 0, 1}};

/* Cuts the span with the half space below a plane: `height` over it at the origin, rising by `slope` along the ray. */
static void span_cut(Span *span, double height, double slope, Vec3 normal) {
  if (slope == 0) {
    if (height > 0) *span = SPAN_NONE;
    return;
  }
  double at = -height / slope;
  if (slope < 0 && at > span->enter) span->enter = at, span->enter_normal = normal;
  if (slope > 0 && at < span->leave) span->leave = at, span->leave_normal = normal;
}

static Span span_all(void) { return (Span){-INFINITY, INFINITY, {0, 0, 1}, {0, 0, 1}}; }

static Span box_span(const Shape *shape, Vec3 o, Vec3 d) {
  Span span = span_all();
  span_cut(&span, o.x - shape->high.x, d.x, vec3(1, 0, 0));
  span_cut(&span, shape->low.x - o.x, -d.x, vec3(-1, 0, 0));
  span_cut(&span, o.y - shape->high.y, d.y, vec3(0, 1, 0));
  span_cut(&span, shape->low.y - o.y, -d.y, vec3(0, -1, 0));
  span_cut(&span, o.z - shape->high.z, d.z, vec3(0, 0, 1));
  span_cut(&span, shape->low.z - o.z, -d.z, vec3(0, 0, -1));
  return span;
}

/* Where a |d|^2 t^2 + 2 b t + c < 0. */
static bool quadratic(double a, double b, double c, double *enter, double *leave) {
  double discriminant = b * b - a * c;
  if (!(discriminant >= 0) || a == 0) return false;
  double root = sqrt(discriminant), q = b > 0 ? -b - root : -b + root;
  double first = q / a, second = q != 0 ? c / q : first;
  *enter = fmin(first, second);
  *leave = fmax(first, second);
  return true;
}

static Span ball_span(Vec3 center, double radius, Vec3 o, Vec3 d) {
  Span span = span_all();
  Vec3 r = vec3_sub(o, center);
  if (!quadratic(vec3_dot(d, d), vec3_dot(r, d), vec3_dot(r, r) - radius * radius, &span.enter, &span.leave))
    return SPAN_NONE;
  span.enter_normal = vec3_normalize(vec3_madd(r, d, span.enter));
  span.leave_normal = vec3_normalize(vec3_madd(r, d, span.leave));
  return span;
}

static Span tube_span(const Shape *shape, Vec3 o, Vec3 d) {
  Span span = span_all();
  double x = o.x - shape->low.x, y = o.y - shape->low.y, a = d.x * d.x + d.y * d.y;
  double c = x * x + y * y - shape->radius * shape->radius;
  if (a > 0) {
    if (!quadratic(a, x * d.x + y * d.y, c, &span.enter, &span.leave)) return SPAN_NONE;
    span.enter_normal = vec3_normalize(vec3(x + d.x * span.enter, y + d.y * span.enter, 0));
    span.leave_normal = vec3_normalize(vec3(x + d.x * span.leave, y + d.y * span.leave, 0));
  } else if (c > 0) {
    return SPAN_NONE;
  }
  span_cut(&span, o.z - shape->low.z - shape->height, d.z, vec3(0, 0, 1));
  span_cut(&span, shape->low.z - o.z, -d.z, vec3(0, 0, -1));
  return span.enter <= span.leave ? span : SPAN_NONE;
}

/* A convex union of tube and two balls: the spans join. */
static Span capsule_span(const Shape *shape, Vec3 o, Vec3 d) {
  Span parts[3] = {tube_span(shape, o, d), ball_span(shape->low, shape->radius, o, d),
                   ball_span(shape->high, shape->radius, o, d)};
  Span span = SPAN_NONE;
  for (int k = 0; k < 3; k++) {
    if (parts[k].enter > parts[k].leave) continue;
    if (parts[k].enter < span.enter) span.enter = parts[k].enter, span.enter_normal = parts[k].enter_normal;
    if (parts[k].leave > span.leave) span.leave = parts[k].leave, span.leave_normal = parts[k].leave_normal;
  }
  return span;
}

static Span plain_span(const Shape *shape, Vec3 o, Vec3 d) {
  Span span = span_all();
  switch (shape->kind) {
  case SCREE_SHAPE_BOX: return box_span(shape, o, d);
  case SCREE_SHAPE_SPHERE: return ball_span(shape->low, shape->radius, o, d);
  case SCREE_SHAPE_CYLINDER: return tube_span(shape, o, d);
  case SCREE_SHAPE_CAPSULE: return capsule_span(shape, o, d);
  case SCREE_SHAPE_PLANE:
    span_cut(&span, vec3_dot(vec3_sub(o, shape->low), shape->high), vec3_dot(d, shape->high), shape->high);
    return span;
  default: return SPAN_NONE;
  }
}

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
  Span span = plain_span(shape, origin, direction);
  if (span.enter > span.leave) return false;
  bool entering = span.enter >= 0;
  *distance = entering ? span.enter : span.leave;
  *normal = vec3_scale(entering ? span.enter_normal : span.leave_normal, side);
  return *distance >= 0 && *distance <= reach;
}
