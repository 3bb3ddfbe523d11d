/* Pushing overlapping spheres apart inside a region, for dense starts. */
#ifndef SAMPLING_RELAX_H
#define SAMPLING_RELAX_H

#include "sampling/region.h"
#include "sampling/sizes.h"

/* Moves the spheres until none overlaps another or leaves the region, taking out the few that find no place. The
 * samples may overlap at the start but lie inside. */
Status relax_samples(Core *core, const Region *region, const Sizes *sizes, Samples *samples);

#endif
