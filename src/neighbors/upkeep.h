/* Neighbour lists that are kept up while points move, instead of being built anew. */
#ifndef NEIGHBORS_UPKEEP_H
#define NEIGHBORS_UPKEEP_H

#include "neighbors/neighbors.h"

/* Indices of the points that moved, or are new, since the list was built or last amended; ascending. */
typedef struct Movers {
  int64_t count;
  const int32_t *who;
} Movers;

/* Makes `list`, as neighbor_list_build gives it, right for where the points are now. Points may have been added behind
 * the others; all of those are movers. The grid is made anew; cell >= reach; `radius` is of all points, or NULL.
 * `found` is zeroed or from an earlier call, whose memory is used again. Rows stay ascending. */
Status neighbor_list_amend(Core *core, Scratch *scratch, CellGrid *grid, Points points, float cell, float reach,
                           const float *radius, Movers movers, NeighborList *found, NeighborList *list);

#endif
