/* One point in a sparse grid of distances (distance_grid.h), as contacts ask for it: in double but for the values, one
 * text for CPU and devices. Laws are those of one lane. */
#ifndef GEOMETRY_GRID_SPOT_SHARED_H
#define GEOMETRY_GRID_SPOT_SHARED_H

#include "geometry/grid_law.h"
#include "geometry/touch_shared.h"

typedef struct GridSpot {
  int block;  /* its number in the table; -1 outside of the grid */
  int corner; /* lowest node of its cell in the block */
  float left[3];
} GridSpot;

VEC_INLINE GridSpot grid_spot(const GridAxes *grid, Vec3 point) {
  const Vec3 from = vec3_scale(vec3_sub(point, grid->low), grid->per_cell);
  const float at[3] = {(float)from.x, (float)from.y, (float)from.z};
  int block[3], inner[3];
  GridSpot spot;
  spot.block = -1;
  spot.corner = 0;
  for (int k = 0; k < 3; k++) {
    if (!(at[k] >= 0 && at[k] < (float)(grid->blocks[k] * GRID_BLOCK))) return spot;
    int cell = (int)at[k];
    spot.left[k] = at[k] - (float)cell;
    block[k] = cell / GRID_BLOCK;
    inner[k] = cell % GRID_BLOCK;
  }
  spot.corner = (inner[2] * GRID_SIDE + inner[1]) * GRID_SIDE + inner[0];
  spot.block = (block[2] * grid->blocks[1] + block[1]) * grid->blocks[0] + block[0];
  return spot;
}

/* Where a block has no nodes only the side is known. */
VEC_INLINE ShapePoint grid_spot_beyond(bool deep, float band) {
  const double beyond = (double)band * (1 + 1e-6);
  ShapePoint answer;
  answer.distance = deep ? -beyond : beyond;
  answer.normal = vec3(0, 0, 1);
  answer.face = 0;
  return answer;
}

VEC_INLINE ShapePoint grid_spot_point(Corners corners, GridSpot spot) {
  const Trilinear here = trilinear(corners, vec_make(spot.left[0], spot.left[1], spot.left[2]));
  const Vec3 gradient = vec3((double)here.gradient.x, (double)here.gradient.y, (double)here.gradient.z);
  const double length = vec3_length(gradient);
  ShapePoint answer;
  answer.distance = (double)here.value;
  answer.normal = length > 0 ? vec3_scale(gradient, 1 / length) : vec3(0, 0, 1);
  answer.face = 0;
  return answer;
}

#endif
