/* A start with overlapping grains is relaxed: they are moved apart before any force acts, so that no energy comes of
 * the overlap. */
#ifndef METHODS_DEM_RELAX_H
#define METHODS_DEM_RELAX_H

#include "methods/method.h"

/* Moves overlapping grains apart by adding to dx, dy, dz. `deepest` is the overlap found, in mean radii; nothing is
 * done below `tolerated`. Call it once a step until it finds less: lists reach only so far. */
Status dem_relax(Step *step, double tolerated, double *deepest);

#endif
