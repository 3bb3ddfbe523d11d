/* What a distance grid holds at the corners of a cell, `lowest` being the corner with the lowest places. */
#ifndef GEOMETRY_GRID_CORNERS_CL
#define GEOMETRY_GRID_CORNERS_CL

#include "geometry/grid_law.h"

static Corners grid_corners_from(global const float *lowest) {
  Corners corners;
  corners.v[0] = lowest[0];
  corners.v[1] = lowest[1];
  corners.v[2] = lowest[GRID_SIDE];
  corners.v[3] = lowest[GRID_SIDE + 1];
  corners.v[4] = lowest[GRID_SIDE * GRID_SIDE];
  corners.v[5] = lowest[GRID_SIDE * GRID_SIDE + 1];
  corners.v[6] = lowest[GRID_SIDE * GRID_SIDE + GRID_SIDE];
  corners.v[7] = lowest[GRID_SIDE * GRID_SIDE + GRID_SIDE + 1];
  return corners;
}

#endif
