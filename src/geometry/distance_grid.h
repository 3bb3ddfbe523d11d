/* A sparse grid of cached distances round a closed mesh.
 *
 * Space is cut into blocks of 4^3 cells. Blocks that come within `band` of the surface hold the exact signed distance
 * at their 5^3 nodes (borders are stored twice, so that a lookup stays within one block); of the others only the side
 * is known. Between nodes the value is trilinear: its error is at most 3/8 cell^2 times the curvature on smooth parts
 * and half a cell on the crease of the medial axis, never the sign of a wall that is two cells thick. */
#ifndef GEOMETRY_DISTANCE_GRID_H
#define GEOMETRY_DISTANCE_GRID_H

#include "core/simd.h"
#include "geometry/grid_law.h"
#include "geometry/shape.h"

struct DistanceGrid {
  Vec3 low; /* first node, in the shape's frame */
  float low_f[3];
  float inverse_cell;
  float cell;
  float band;
  int32_t blocks[3];
  int64_t block_count; /* with nodes */
  int32_t *table;      /* per block, x fastest: its place in `values` over GRID_NODES, or GRID_OUTSIDE, GRID_INSIDE */
  float *values;       /* GRID_NODES per block, x fastest */
};

/* What the law of a lookup needs of it. */
static inline GridFrame grid_frame(const DistanceGrid *grid) {
  return (GridFrame){.low = {grid->low_f[0], grid->low_f[1], grid->low_f[2]},
                     .inverse_cell = grid->inverse_cell,
                     .band = grid->band,
                     .blocks = {grid->blocks[0], grid->blocks[1], grid->blocks[2]}};
}

/* Closed meshes only. Fails when the memory for it is missing. */
Status distance_grid_build(Core *core, const Shape *shape, double cell, double band, DistanceGrid **grid);
void distance_grid_destroy(Core *core, DistanceGrid *grid);
/* false: the point is farther than the grid knows and `reach` wants more than the sign. */
bool distance_grid_point(const DistanceGrid *grid, Vec3 point, double reach, ShapePoint *answer);

/* The same of one that is asked in double. */
static inline GridAxes grid_axes(const DistanceGrid *grid) {
  return (GridAxes){.low = grid->low,
                    .per_cell = 1 / (double)grid->cell,
                    .blocks = {grid->blocks[0], grid->blocks[1], grid->blocks[2]}};
}

/* Offsets of the eight corners of a cell from its lowest. */
static inline int32_t grid_corner(int k) {
  return (k & 1) + (k & 2 ? GRID_SIDE : 0) + (k & 4 ? GRID_SIDE * GRID_SIDE : 0);
}

#endif
