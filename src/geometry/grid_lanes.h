/* Lookup of cached distances for as many points as there are lanes. */
#ifndef GEOMETRY_GRID_LANES_H
#define GEOMETRY_GRID_LANES_H

#include "core/lane_memory.h"
#include "geometry/distance_grid.h"
#include "geometry/trilinear_law.h"

/* The cells that the points are in, and where in them. */
typedef struct GridCells {
  Corners corners;
  LaneVec3 at;
  Mask known, inside_far;
} GridCells;

/* Cell coordinate on one axis, held within the grid; the mask of lanes that are in it. */
LANE_INLINE Int grid_cell_of(Real at, float end, Real *left, Mask *within) {
  *within &= real_less_equal(real(0), at) & real_less(at, real(end));
  Real held = real_min(real_max(at, real(0)), real(end - 0.5f));
  Int cell = int_from_real(held);
  *left = held - real_from_int(cell);
  return cell;
}

LANE_INLINE void grid_cells(const DistanceGrid *grid, LaneVec3 point, GridCells *cells) {
  const Real inverse = real(grid->inverse_cell);
  const int32_t bx = grid->blocks[0], by = grid->blocks[1], bz = grid->blocks[2], inner = GRID_BLOCK - 1;
  Mask within = ~(Mask){0};
  Int cx = grid_cell_of((point.x - real(grid->low_f[0])) * inverse, (float)(bx * GRID_BLOCK), &cells->at.x, &within);
  Int cy = grid_cell_of((point.y - real(grid->low_f[1])) * inverse, (float)(by * GRID_BLOCK), &cells->at.y, &within);
  Int cz = grid_cell_of((point.z - real(grid->low_f[2])) * inverse, (float)(bz * GRID_BLOCK), &cells->at.z, &within);
  /* The number of blocks fits 31 bits. */
  Int block = ((cz >> GRID_SHIFT) * by + (cy >> GRID_SHIFT)) * bx + (cx >> GRID_SHIFT);
  Int corner = ((cz & inner) * GRID_SIDE + (cy & inner)) * GRID_SIDE + (cx & inner);
  Int place = lane_gather_int(grid->table, block);
  cells->known = within & int_less((Int){0} - 1, place);
  cells->inside_far = within & int_equal(place, (Int){0} + GRID_INSIDE);
  Int first = int_mask(cells->known, place + corner); /* elsewhere the first node of all, whose value is not used */
  _Alignas(64) int32_t lowest[LANE_WIDTH];
  memcpy(lowest, &first, sizeof lowest);
  for (int k = 0; k < 8; k += 2)
    lane_gather2(grid->values + grid_corner(k), lowest, &cells->corners.v[k], &cells->corners.v[k + 1]);
}

/* Beyond the band a distance has only its sign. */
LANE_INLINE Real grid_value(const DistanceGrid *grid, const GridCells *cells, Real value) {
  Real far = real(grid->band * 1.000001f);
  return real_select(cells->known, value, real_select(cells->inside_far, -far, far));
}

#endif
