/* Lookup of cached distances for as many points as there are lanes. */
#ifndef GEOMETRY_GRID_LANES_H
#define GEOMETRY_GRID_LANES_H

#include "core/lane_memory.h"
#include "geometry/distance_grid.h"

/* The cells that the points are in, and where in them. */
typedef struct GridCells {
  Corners corners;
  LaneVec3 at;
  Mask known, inside_far;
} GridCells;

LANE_INLINE void grid_cells(const DistanceGrid *grid, GridFrame frame, LaneVec3 point, GridCells *cells) {
  GridPlace place = grid_locate(frame, point);
  Int entry = lane_gather_int(grid->table, place.block);
  cells->at = place.at;
  cells->known = grid_known(place, entry);
  cells->inside_far = grid_inside_far(place, entry);
  Int first = int_mask(cells->known, entry + place.corner); /* elsewhere the first node of all, which is not used */
  _Alignas(64) int32_t lowest[LANE_WIDTH];
  memcpy(lowest, &first, sizeof lowest);
  for (int k = 0; k < 8; k += 2)
    lane_gather2(grid->values + grid_corner(k), lowest, &cells->corners.v[k], &cells->corners.v[k + 1]);
}

#endif
