/* Exact signed distances of plain shapes, written once for double and single precision: define PLAIN_REAL, PLAIN(name),
 * PLAIN_SQRT and PLAIN_SHAPE, the struct of its numbers, before including it. Only selections, no branches, so that a
 * loop over points vectorises.
 *
 * Where the gradient is not unique (the centre of a sphere, the axis of a cylinder, the medial planes of a box) the
 * normal is one of the valid ones: +z for the sphere, +x for the cylinder, the last axis among equals for the box. */

typedef struct PLAIN(Point) {
  PLAIN_REAL distance, x, y, z;
} PLAIN(Point);

static inline PLAIN_REAL PLAIN(absolute)(PLAIN_REAL a) { return a < 0 ? -a : a; }
static inline PLAIN_REAL PLAIN(larger)(PLAIN_REAL a, PLAIN_REAL b) { return a > b ? a : b; }

/* A line for each shape; a capsule is made of spheres. */
#include "geometry/shapes/plane_distance.h"
#include "geometry/shapes/sphere_distance.h"
#include "geometry/shapes/capsule_distance.h"
#include "geometry/shapes/box_distance.h"
#include "geometry/shapes/cylinder_distance.h"
