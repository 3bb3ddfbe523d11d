/* Signed distance of a sphere: a = centre. See shape_plain.h. */
static inline PLAIN(Point)
    PLAIN(ball_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_REAL center[3], PLAIN_REAL radius) {
  PLAIN(Point) p;
  PLAIN_REAL dx = x - center[0], dy = y - center[1], dz = z - center[2];
  PLAIN_REAL length = PLAIN_SQRT(dx * dx + dy * dy + dz * dz);
  PLAIN_REAL inverse = 1 / (length > 0 ? length : 1);
  p.distance = length - radius;
  p.x = dx * inverse;
  p.y = dy * inverse;
  p.z = length > 0 ? dz * inverse : 1;
  return p;
}

static inline PLAIN(Point) PLAIN(sphere_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_SHAPE *shape) {
  return PLAIN(ball_point)(x, y, z, shape->a, shape->radius);
}
