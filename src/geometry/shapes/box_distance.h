/* Signed distance of a box: a = centre, b = half size. See shape_plain.h. */
static inline PLAIN(Point) PLAIN(box_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_SHAPE *shape) {
  const PLAIN_REAL *center = shape->a, *extent = shape->b;
  PLAIN(Point) p;
  PLAIN_REAL dx = x - center[0], dy = y - center[1], dz = z - center[2];
  PLAIN_REAL qx = PLAIN(absolute)(dx) - extent[0], qy = PLAIN(absolute)(dy) - extent[1],
             qz = PLAIN(absolute)(dz) - extent[2];
  PLAIN_REAL sx = dx < 0 ? -1 : 1, sy = dy < 0 ? -1 : 1, sz = dz < 0 ? -1 : 1;
  PLAIN_REAL ox = PLAIN(larger)(qx, 0), oy = PLAIN(larger)(qy, 0), oz = PLAIN(larger)(qz, 0);
  PLAIN_REAL outside = PLAIN_SQRT(ox * ox + oy * oy + oz * oz);
  PLAIN_REAL deepest = PLAIN(larger)(qx, PLAIN(larger)(qy, qz));
  PLAIN_REAL inverse = 1 / (outside > 0 ? outside : 1);
  PLAIN_REAL fz = qz >= deepest ? 1 : 0;
  PLAIN_REAL fy = qy >= deepest ? 1 - fz : 0;
  PLAIN_REAL fx = 1 - fy - fz;
  p.distance = outside > 0 ? outside : deepest;
  p.x = sx * (outside > 0 ? ox * inverse : fx);
  p.y = sy * (outside > 0 ? oy * inverse : fy);
  p.z = sz * (outside > 0 ? oz * inverse : fz);
  return p;
}
