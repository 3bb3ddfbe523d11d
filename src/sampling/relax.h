/* Pushing overlapping spheres apart inside a region, for dense starts. */
#ifndef SAMPLING_RELAX_H
#define SAMPLING_RELAX_H

#include "sampling/region.h"
#include "sampling/tile.h"

/* Moves the spheres until none overlaps another or leaves the region, taking out the few that find no place. The
 * samples may overlap at the start but lie inside. */
Status relax_samples(Core *core, const Region *region, const Sizes *sizes, Samples *samples);
/* Moves only those near obstacles, of which so many are taken out at random before that all have a volume. The others
 * overlap nothing. */
Status relax_at_obstacles(Core *core, const Region *region, const Sizes *sizes, double volume, Samples *samples);
/* The same in a cube [0, period)^3 that repeats itself; they keep TILE_APART times as far apart. */
Status relax_periodic(Core *core, double period, const Sizes *sizes, Samples *samples);

#endif
