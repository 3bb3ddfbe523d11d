#include "geometry/shapes/span.h"

#include <math.h>

void span_cut(Span *span, double height, double slope, Vec3 normal) {
  if (slope == 0) {
    if (height > 0) *span = SPAN_NONE;
    return;
  }
  double at = -height / slope;
  if (slope < 0 && at > span->enter) span->enter = at, span->enter_normal = normal;
  if (slope > 0 && at < span->leave) span->leave = at, span->leave_normal = normal;
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

Span span_ball(Vec3 center, double radius, Vec3 o, Vec3 d) {
  Span span = SPAN_ALL;
  Vec3 r = vec3_sub(o, center);
  if (!quadratic(vec3_dot(d, d), vec3_dot(r, d), vec3_dot(r, r) - radius * radius, &span.enter, &span.leave))
    return SPAN_NONE;
  span.enter_normal = vec3_normalize(vec3_madd(r, d, span.enter));
  span.leave_normal = vec3_normalize(vec3_madd(r, d, span.leave));
  return span;
}

Span span_tube(Vec3 base, double radius, double height, Vec3 o, Vec3 d) {
  Span span = SPAN_ALL;
  double x = o.x - base.x, y = o.y - base.y, a = d.x * d.x + d.y * d.y;
  double c = x * x + y * y - radius * radius;
  if (a > 0) {
    if (!quadratic(a, x * d.x + y * d.y, c, &span.enter, &span.leave)) return SPAN_NONE;
    span.enter_normal = vec3_normalize(vec3(x + d.x * span.enter, y + d.y * span.enter, 0));
    span.leave_normal = vec3_normalize(vec3(x + d.x * span.leave, y + d.y * span.leave, 0));
  } else if (c > 0) {
    return SPAN_NONE;
  }
  span_cut(&span, o.z - base.z - height, d.z, vec3(0, 0, 1));
  span_cut(&span, base.z - o.z, -d.z, vec3(0, 0, -1));
  return span.enter <= span.leave ? span : SPAN_NONE;
}
