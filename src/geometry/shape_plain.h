/* Exact signed distances of plain shapes, written once for double and single precision: define PLAIN_REAL, PLAIN(name)
 * and PLAIN_SQRT before including it. Only selections, no branches, so that a loop over points vectorises.
 *
 * Where the gradient is not unique (the centre of a sphere, the axis of a cylinder, the medial planes of a box) the
 * normal is one of the valid ones: +z for the sphere, +x for the cylinder, the last axis among equals for the box. */

typedef struct PLAIN(Point) {
  PLAIN_REAL distance, x, y, z;
} PLAIN(Point);

static inline PLAIN_REAL PLAIN(absolute)(PLAIN_REAL a) { return a < 0 ? -a : a; }
static inline PLAIN_REAL PLAIN(larger)(PLAIN_REAL a, PLAIN_REAL b) { return a > b ? a : b; }

static inline PLAIN(Point)
    PLAIN(plane_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_REAL point[3], const PLAIN_REAL n[3]) {
  PLAIN(Point) p;
  p.distance = (x - point[0]) * n[0] + (y - point[1]) * n[1] + (z - point[2]) * n[2];
  p.x = n[0];
  p.y = n[1];
  p.z = n[2];
  return p;
}

static inline PLAIN(Point)
    PLAIN(sphere_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_REAL center[3], PLAIN_REAL radius) {
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

/* As a sphere about the nearest point of the axis. */
static inline PLAIN(Point) PLAIN(capsule_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_REAL base[3],
                                                PLAIN_REAL radius, PLAIN_REAL height) {
  PLAIN_REAL along = z - base[2];
  along = along < 0 ? 0 : along > height ? height : along;
  const PLAIN_REAL nearest[3] = {base[0], base[1], base[2] + along};
  PLAIN(Point) p = PLAIN(sphere_point)(x, y, z, nearest, radius);
  /* On the axis every direction across is nearest, +z is not. */
  PLAIN_REAL across = p.distance + radius;
  bool on_axis = !(across > 0) && height > 0;
  p.x = on_axis ? 1 : p.x;
  p.z = on_axis ? 0 : p.z;
  return p;
}

static inline PLAIN(Point)
    PLAIN(box_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_REAL center[3], const PLAIN_REAL half[3]) {
  PLAIN(Point) p;
  PLAIN_REAL dx = x - center[0], dy = y - center[1], dz = z - center[2];
  PLAIN_REAL qx = PLAIN(absolute)(dx) - half[0], qy = PLAIN(absolute)(dy) - half[1], qz = PLAIN(absolute)(dz) - half[2];
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

/* A box in the half plane of (distance from the axis, height). */
static inline PLAIN(Point) PLAIN(cylinder_point)(PLAIN_REAL x, PLAIN_REAL y, PLAIN_REAL z, const PLAIN_REAL base[3],
                                                 PLAIN_REAL radius, PLAIN_REAL height) {
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
