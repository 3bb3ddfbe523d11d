/* Distance grids kept from run to run, in a folder of the user's: $SCREE_CACHE, else $XDG_CACHE_HOME/scree, else
 * ~/.cache/scree; SCREE_CACHE=off keeps none. A file bears the hash of all that its grid follows from. What is read may
 * have been damaged, or made to harm: it is looked at before it is used, and made anew where anything is wrong. Several
 * processes may read and write at once: a file appears under its name only when complete. Nothing here ever fails. */
#ifndef GEOMETRY_GRID_CACHE_H
#define GEOMETRY_GRID_CACHE_H

#include "geometry/distance_grid.h"

typedef struct GridKey {
  uint64_t hash[2];
} GridKey;

/* Of a grid that has all but its table and values. */
GridKey grid_cache_key(const DistanceGrid *grid, const Shape *shape);
/* Fills table, values and block_count; false where there is no such grid, or no memory for it. */
bool grid_cache_load(Core *core, GridKey key, DistanceGrid *grid);
void grid_cache_store(Core *core, GridKey key, const DistanceGrid *grid);

#endif
