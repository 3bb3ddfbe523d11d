/* Signed distance of a cylinder, a = base: a box in the half plane of (distance from the axis, height). See
 * shape_plain.h. */
static inline PLAIN(Point) PLAIN(cylinder_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_SHAPE *shape) {
  const PLAIN_REAL *base = shape->a, radius = shape->radius, height = shape->height;
  PLAIN(Point) p;
  PLAIN_REAL dx = x - base[0], dy = y - base[1], dz = z - base[2] - height / 2;
  PLAIN_REAL across = PLAIN_SQRT(dx * dx + dy * dy);
  PLAIN_REAL inverse_across = 1 / (across > 0 ? across : 1);
  PLAIN_REAL ux = across > 0 ? dx * inverse_across : 1, uy = dy * inverse_across, sz = dz < 0 ? -1 : 1;
  PLAIN_REAL qr = across - radius, qz = PLAIN(absolute)(dz) - height / 2;
  PLAIN_REAL outer = PLAIN(larger)(qr, 0), oz = PLAIN(larger)(qz, 0);
  PLAIN_REAL outside = PLAIN_SQRT(outer * outer + oz * oz);
  PLAIN_REAL inverse = 1 / (outside > 0 ? outside : 1);
  PLAIN_REAL fz = qz >= qr ? 1 : 0;
  PLAIN_REAL nr = outside > 0 ? outer * inverse : 1 - fz, nz = outside > 0 ? oz * inverse : fz;
  p.distance = outside > 0 ? outside : PLAIN(larger)(qr, qz);
  p.x = ux * nr;
  p.y = uy * nr;
  p.z = sz * nz;
  return p;
}
