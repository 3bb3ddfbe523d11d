/* What cells and edges bear: the bounds of friction. */
#ifndef METHODS_FLIP_STRESS_YIELD_LIMITS_KERNELS_H
#define METHODS_FLIP_STRESS_YIELD_LIMITS_KERNELS_H

#include "methods/flip/stress/friction_kernels.h"

#define LIMIT_LEAST 1e-12f /* Pa: less is none, its square would not be a number */

/* A wall stands across a face of which it leaves so much less free than of the cells beside it; it narrows one of which
 * it leaves so much less than of others. */
#define WALL_STANDS_ACROSS 0.5f
#define WALL_NARROWS 0.95f

/* Least sum of the squares of a normal along the two axes of an edge for its wall to be one there. */
#define WALL_IN_PLANE 0.003f

typedef struct FrictionBounds {
  const FlipGrid *grid;
  const FlipFields *fields;
  const FlipKept *kept;
  float *limit;    /* at centres: alpha p + cohesion */
  uint8_t *loaded; /* per strip of the grid, a bit per lane: cells that bear some, or whose edges do */
  /* What rests on pressed cells at the surface: the direction of gravity (axis -1: none), weight of a cell over
   * density. */
  int axis;
  bool down;
  float gravity;
  /* Walls, per strip of the grid, a bit per lane: faces that are at one, those across which one stands, and those that
   * are closed by one. */
  uint8_t *walls[3], *across[3], *closed[3];
  const float *friction;            /* of each solid */
  const StripSolids *const *solids; /* per strip of the grid */
  float per_area;                   /* stress over the momentum that a face loses */
  float shear_factor;               /* pure shear over limit on the yield surface */
  /* The strips that the solve runs over. */
  const float *flux[3];
  const int32_t *strips; /* their numbers on the grid */
  const int32_t *number; /* the inverse of that; 0: none of them */
  const int32_t *slot;   /* of each of them */
  FrictionStrips to;
  FrictionLinks *links;
  /* step_size = factor / (stiffness times the largest mobility of the cell's faces, `least_mobility` at least): less
   * than one over the largest eigenvalue if that mobility were everywhere. */
  float least_mobility, stiffness, step_factor;
} FrictionBounds;
/* limit, of strips b to e of the grid. */
KERNEL_DECLARE(void, flip_limit_cells, (const FrictionBounds *o, int64_t b, int64_t e));
/* fields.stress.edge_limit, what the edges see of the limit, and `loaded`; the limits of all strips are known. */
KERNEL_DECLARE(void, flip_limit_surface, (const FrictionBounds *o, int64_t b, int64_t e));
/* Strips b to e of the solve: everything but what depends on others' step_size and bounds. */
enum { STEP_TOTAL, STEP_COUNT, STRIPS_WALLED, STRIP_SUMS }; /* paces: over cells that bear some stress */
KERNEL_DECLARE(void, flip_limit_strips, (const FrictionBounds *o, int64_t b, int64_t e, double sums[STRIP_SUMS]));

#endif
