/* Lookup in a sparse grid of distances (distance_grid.h): where a point lies in it, and what the corners of its cell
 * say. */
#ifndef GEOMETRY_GRID_LAW_H
#define GEOMETRY_GRID_LAW_H

#include "geometry/trilinear_law.h"

enum { GRID_SHIFT = 2, GRID_BLOCK = 1 << GRID_SHIFT };
enum { GRID_SIDE = GRID_BLOCK + 1, GRID_NODES = GRID_SIDE * GRID_SIDE * GRID_SIDE };
enum { GRID_OUTSIDE = -1, GRID_INSIDE = -2 };

typedef struct GridFrame {
  float low[3]; /* first node */
  float inverse_cell, band;
  int blocks[3];
} GridFrame;

typedef struct GridPlace {
  Int block, corner; /* number of its block; lowest node of its cell in that */
  LaneVec3 at;       /* in the cell, 0 to 1 */
  Mask within;       /* it is in the grid at all */
} GridPlace;

typedef struct GridAxis {
  Int cell;
  Real left;
  Mask within;
} GridAxis;

/* On one axis, held within the grid. */
LANE_INLINE GridAxis grid_axis(Real at, float end) {
  GridAxis axis;
  axis.within = real_less_equal(real(0), at) & real_less(at, real(end));
  Real held = real_min(real_max(at, real(0)), real(end - 0.5f));
  axis.cell = int_from_real(held);
  axis.left = held - real_from_int(axis.cell);
  return axis;
}

LANE_INLINE GridPlace grid_locate(GridFrame grid, LaneVec3 point) {
  const Real inverse = real(grid.inverse_cell);
  const int inner = GRID_BLOCK - 1;
  GridAxis x = grid_axis((point.x - real(grid.low[0])) * inverse, (float)(grid.blocks[0] * GRID_BLOCK));
  GridAxis y = grid_axis((point.y - real(grid.low[1])) * inverse, (float)(grid.blocks[1] * GRID_BLOCK));
  GridAxis z = grid_axis((point.z - real(grid.low[2])) * inverse, (float)(grid.blocks[2] * GRID_BLOCK));
  GridPlace place;
  place.at = vec_make(x.left, y.left, z.left);
  place.within = x.within & y.within & z.within;
  /* The number of blocks fits 31 bits. */
  place.block =
      ((z.cell >> GRID_SHIFT) * grid.blocks[1] + (y.cell >> GRID_SHIFT)) * grid.blocks[0] + (x.cell >> GRID_SHIFT);
  place.corner = ((z.cell & inner) * GRID_SIDE + (y.cell & inner)) * GRID_SIDE + (x.cell & inner);
  return place;
}

/* Whether there are nodes, and whether there are none because it is deep inside; `entry`: of the block in the table. */
LANE_INLINE Mask grid_known(GridPlace place, Int entry) { return place.within & int_less((Int){0} - 1, entry); }
LANE_INLINE Mask grid_inside_far(GridPlace place, Int entry) {
  return place.within & int_equal(entry, (Int){0} + GRID_INSIDE);
}

/* Beyond the band a distance has only its sign. */
LANE_INLINE Real grid_value(GridFrame grid, Mask known, Mask inside_far, Real value) {
  Real far = real(grid.band * 1.000001f);
  return real_select(known, value, real_select(inside_far, -far, far));
}

typedef struct GridPoint {
  Real distance;
  LaneVec3 normal;
} GridPoint;

LANE_INLINE GridPoint grid_point(GridFrame grid, Corners corners, LaneVec3 at, Mask known, Mask inside_far) {
  Trilinear here = trilinear(corners, at);
  Real length = real_sqrt(vec_dot(here.gradient, here.gradient));
  Mask good = known & real_less(real(0), length);
  Real scale = real(1) / real_select(good, length, real(1));
  GridPoint point;
  point.distance = grid_value(grid, known, inside_far, here.value);
  point.normal = vec_select(good, vec_mul(here.gradient, scale), vec_make(real(0), real(0), real(1)));
  return point;
}

#endif
