/* Trilinear interpolation in a cell of a grid. */
#ifndef GEOMETRY_TRILINEAR_LAW_H
#define GEOMETRY_TRILINEAR_LAW_H

#include "core/lane.h"

/* Values at the corners of a cell: bit 0 of the index is x, bit 1 y, bit 2 z. */
typedef struct Corners {
  Real v[8];
} Corners;

typedef struct Trilinear {
  Real value;
  LaneVec3 gradient; /* per cell */
} Trilinear;

/* `at`: 0 to 1 on each axis. */
LANE_INLINE Trilinear trilinear(Corners corners, LaneVec3 at) {
  Real x00 = corners.v[1] - corners.v[0], x10 = corners.v[3] - corners.v[2];
  Real x01 = corners.v[5] - corners.v[4], x11 = corners.v[7] - corners.v[6];
  Real c00 = corners.v[0] + x00 * at.x, c10 = corners.v[2] + x10 * at.x;
  Real c01 = corners.v[4] + x01 * at.x, c11 = corners.v[6] + x11 * at.x;
  Real y0 = c10 - c00, y1 = c11 - c01;
  Real d0 = c00 + y0 * at.y, d1 = c01 + y1 * at.y;
  Real gx0 = x00 + (x10 - x00) * at.y, gx1 = x01 + (x11 - x01) * at.y;
  Trilinear result;
  result.gradient = vec_make(gx0 + (gx1 - gx0) * at.z, y0 + (y1 - y0) * at.z, d1 - d0);
  result.value = d0 + result.gradient.z * at.z;
  return result;
}

#endif
