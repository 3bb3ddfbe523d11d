/* Signed distance of a plane: a = point, b = normal. See shape_plain.h. */
static inline PLAIN(Point) PLAIN(plane_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_SHAPE *shape) {
  const PLAIN_REAL *point = shape->a, *n = shape->b;
  PLAIN(Point) p;
  p.distance = (x - point[0]) * n[0] + (y - point[1]) * n[1] + (z - point[2]) * n[2];
  p.x = n[0];
  p.y = n[1];
  p.z = n[2];
  return p;
}
