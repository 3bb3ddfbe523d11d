/* Signed distance of a capsule, a = base: as a sphere about the nearest point of the axis. See shape_plain.h. */
static inline PLAIN(Point) PLAIN(capsule_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_SHAPE *shape) {
  const PLAIN_REAL *base = shape->a, radius = shape->radius, height = shape->height;
  PLAIN_REAL along = z - base[2];
  along = along < 0 ? 0 : along > height ? height : along;
  const PLAIN_REAL nearest[3] = {base[0], base[1], base[2] + along};
  PLAIN(Point) p = PLAIN(ball_point)(x, y, z, nearest, radius);
  /* On the axis every direction across is nearest, +z is not. */
  PLAIN_REAL across = p.distance + radius;
  bool on_axis = !(across > 0) && height > 0;
  p.x = on_axis ? 1 : p.x;
  p.z = on_axis ? 0 : p.z;
  return p;
}
