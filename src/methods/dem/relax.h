/* Moves grains apart that overlap at the start, before any force acts: the overlap then makes no energy. */
#ifndef METHODS_DEM_RELAX_H
#define METHODS_DEM_RELAX_H

#include "methods/method.h"

/* Adds to the displacements of overlapping grains. `deepest` is the largest penetration found, in mean radii; nothing
 * is moved where it is below `tolerated`. Call it once a step until it finds less: lists reach only so far. */
Status dem_relax(Step *step, double tolerated, double *deepest);

#endif
