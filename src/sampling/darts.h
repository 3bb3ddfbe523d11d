/* Throwing spheres into blocks (after Sommer and Schwanecke 2021; the search for the last gaps after White et al. 2007
 * and Ebeida et al. 2012). */
#ifndef SAMPLING_DARTS_H
#define SAMPLING_DARTS_H

#include "sampling/blocks.h"
#include "sampling/sizes.h"

typedef struct Darts {
  Core *core;
  const Region *region;
  const Sizes *sizes;
  Blocks *blocks;
  uint64_t seed;
  double shrink; /* spheres keep apart as if their radii were this share of what they are; walls see all of it */
  struct DartsScratch *scratch; /* one per thread */
} Darts;

Status darts_create(Core *core, const Region *region, const Sizes *sizes, Blocks *blocks, double shrink, Darts *darts);
void darts_destroy(Darts *darts);

/* Blocks with a tile: its spheres, where they may be. */
void darts_cut_tile(Darts *darts);
/* After the cut, as for spheres of a tile that is made: too close together, near obstacles. */
void darts_throw_at_obstacles(Darts *darts, const TileKind *kind);
/* Equal spheres: several rounds over the open cells; about 95 % of what would fit. */
void darts_throw_equal(Darts *darts);
/* Spheres of many sizes, the largest first, so many that they fill the share `fraction` of the room for centres. */
void darts_throw_sizes(Darts *darts, double fraction);
/* Spheres of the nominal radius until none fits any more. */
void darts_fill_gaps(Darts *darts);

#endif
