/* The loops over pairs. Each writes only the particles of its own groups. */
#ifndef METHODS_SPH_KERNELS_H
#define METHODS_SPH_KERNELS_H

#include "methods/sph/work.h"

/* Pairs of groups [b, e): filters the neighbour lists, sums densities and gradients. */
KERNEL_DECLARE(void, sph_pair_pass, (void *context, int64_t b, int64_t e, int thread));
/* Velocity under the stress at hand. */
KERNEL_DECLARE(void, sph_velocity_pass, (void *context, int64_t b, int64_t e, int thread));
/* Friction that each particle bears under the pressures at hand. */
KERNEL_DECLARE(void, sph_bound_pass, (void *context, int64_t b, int64_t e, int thread));
/* Strain of that velocity, and the stress that should stop it. */
KERNEL_DECLARE(void, sph_stress_pass, (void *context, int64_t b, int64_t e, int thread));
/* Collisions: adds to the start velocity what approaching pairs lose of their approach. */
KERNEL_DECLARE(void, sph_collision_pass, (void *context, int64_t b, int64_t e, int thread));
/* How much of the air's stream reaches each particle: `open` per particle, 0 when another stands before it. */
typedef struct SphOcclusion {
  const SphWork *work;
  const float *stream[3]; /* of the air relative to the particle */
  float *open;
} SphOcclusion;
KERNEL_DECLARE(void, sph_occlusion_pass, (void *context, int64_t b, int64_t e, int thread));

#endif
