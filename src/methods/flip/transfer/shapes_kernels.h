/* Who lies near a particle. */
#ifndef METHODS_FLIP_TRANSFER_SHAPES_KERNELS_H
#define METHODS_FLIP_TRANSFER_SHAPES_KERNELS_H

#include "methods/flip/fields.h"

enum { NEAR_BATCH = 64 };
/* Particles from b on, `count` of them and at most NEAR_BATCH, that are no farther from a point than the root of
 * `square`, all in cells: a bit each. Reads whole registers. */
KERNEL_DECLARE(uint64_t, flip_near,
               (const FlipOrder *order, int32_t b, int32_t count, const float at[3], float square));

/* Ellipsoids of particles one behind the other, in whole registers. */
enum { IS_VALID, IS_THIN, IS_LONG, IS_STUCK }; /* stuck: long, and too thin to be split */
typedef struct Stretch {
  float *shape[STRESSES]; /* squares of the axes, xx yy zz xy yz xz, in squares of the radius */
  float *jacobian[9];     /* of the velocity, 1/s */
  float *deformation[9];  /* F = 1 + dt J; may be the same arrays */
  uint8_t *kind;
  float least, most; /* squares of axes beyond which a shape is thin or long */
  float dt;
} Stretch;
/* A' = F A F^T with F = 1 + dt J, which is Eq. 28 to first order and positive whatever the step. */
KERNEL_DECLARE(void, flip_stretch, (const Stretch *stretch, int64_t count));

#endif
