/* The passes over pairs. Each writes only the parcels of its own slices; [b, e) counts slices. */
#ifndef METHODS_SPH_KERNELS_H
#define METHODS_SPH_KERNELS_H

#include "methods/sph/work.h"

/* pair_kernels.c: filters the neighbour lists, sums densities and gradients. */
KERNEL_DECLARE(void, sph_pair_pass, (void *context, int64_t b, int64_t e, int thread));

/* stress_kernels.c: the friction that each parcel bears under the pressures at hand. */
KERNEL_DECLARE(void, sph_bound_pass, (void *context, int64_t b, int64_t e, int thread));
/* Strain of the velocity, and the stress that should stop it. */
KERNEL_DECLARE(void, sph_stress_pass, (void *context, int64_t b, int64_t e, int thread));

/* wall_kernels.c, for the stress pass: adds what walls contribute to the velocity gradients of the slice that begins at
 * parcel i: xx yy zz xy xz yz, lane by lane. */
KERNEL_DECLARE(void, sph_walls_strain, (const SphWork *work, int64_t i, float (*gradient)[LANES]));
/* Forces of the contacts of parcels [b, e) under the new stress. */
KERNEL_DECLARE(void, sph_walls_react, (SphWork * work, int64_t b, int64_t e));

/* motion_kernels.c: velocity under the stress at hand. */
KERNEL_DECLARE(void, sph_velocity_pass, (void *context, int64_t b, int64_t e, int thread));
/* Collisions: adds to the start velocity what approaching pairs lose of their approach. */
KERNEL_DECLARE(void, sph_collision_pass, (void *context, int64_t b, int64_t e, int thread));
/* How much of the air's stream reaches each parcel: `open` per parcel, 0 when another stands before it. */
typedef struct SphOcclusion {
  const SphWork *work;
  float *stream[3]; /* of the air relative to the parcel */
  float *open;
} SphOcclusion;
KERNEL_DECLARE(void, sph_occlusion_pass, (void *context, int64_t b, int64_t e, int thread));

#endif
