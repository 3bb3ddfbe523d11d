/* Nodes to particles: trilinear weights; and how shapes go with the flow. */
#ifndef METHODS_FLIP_GATHER_KERNELS_H
#define METHODS_FLIP_GATHER_KERNELS_H

#include "methods/flip/fields.h"

/* What particles take from the grid. Nodes that are not valid hold zeros. Those that do not count for a particle (not
 * valid; not strong, where it rides on strong ones alone) have its gradient from the mean of the others. */
typedef struct Gather {
  const FlipGrid *grid;
  const int32_t *start;
  const float *x, *y, *z; /* in cells */
  const float *norm[3];   /* per particle: 1 / sum of the weights of the faces that count, where some do not */
  const float *velocity[3], *change[3], *moved[3], *settle[3];
  const uint8_t *near;                 /* per strip: some nodes round it may not be valid */
  const uint8_t *riders;               /* per strip: some of its particles ride */
  const uint8_t *rides;                /* per particle, a bit an axis */
  const uint8_t *valid[3], *strong[3]; /* per strip, a bit a lane */
  const float *before[3];              /* velocity of the particles */
  float gain[3];                       /* of it by gravity */
  float dt;
  float inverse_cell;
} Gather;

/* Of the particles of one strip, in whole registers. */
typedef struct Gathered {
  float *velocity[3], *way[3];
  float *square;      /* of the speed that it moves with */
  float *gradient[9]; /* of the velocity, 1/s: row = component; NULL: not wanted */
} Gathered;

KERNEL_DECLARE(void, flip_gather, (const Gather *gather, int32_t strip, const Gathered *to));

/* How far the particles of one strip go. */
enum { WAY_IS_LONG = 1, WAY_LEADS_INTO = 2 }; /* a bit each: longer than `long_way`; perhaps into a solid */
typedef struct Ways {
  const float *x, *y, *z;             /* in cells */
  float place[3];                     /* of the strip */
  float longest[STRIP], share[STRIP]; /* of the ways from its cells, m; and what squares of speeds count there */
  float long_way;                     /* square of it, m^2 */
  float cell;                         /* m */
  const float *distance;              /* of solids, at the corners of the cells, in cells; NULL: none are near */
  float slack[STRIP];                 /* what lies nearer to one than this may come to lie in it */
  float pressed[STRIP];               /* 1: the cell has pressure; 0 */
  float *way[3], *square;             /* of the speed */
  uint8_t *bits;                      /* of the particles */
} Ways;
/* Cuts the ways of `count` particles to what they may be. Answers all bits together; `fastest` gets what the largest
 * squares of speeds count: in cells without pressure, and in those with it. */
KERNEL_DECLARE(uint32_t, flip_bound_ways, (const Ways *ways, int32_t count, float fastest[2]));
/* Lanes whose faces stopped something along any axis, for strips [b, e). */
KERNEL_DECLARE(void, flip_stop_lanes, (float *const stop[3], int64_t b, int64_t e, uint8_t *lanes));

/* Ellipsoids of particles one behind the other, in whole registers. */
enum { IS_VALID, IS_THIN, IS_LONG, IS_STUCK }; /* stuck: long, and too thin to be split */
typedef struct Stretch {
  float *shape[STRESSES]; /* squares of the axes, xx yy zz xy yz xz, in squares of the radius */
  float *gradient[9];     /* J; then F */
  uint8_t *kind;
  float least, most; /* squares of axes beyond which a shape is thin or long */
  float dt;
} Stretch;
/* A' = F A F^T with F = 1 + dt J, which is Eq. 28 to first order and positive whatever the step. */
KERNEL_DECLARE(void, flip_stretch, (const Stretch *stretch, int64_t count));

#endif
