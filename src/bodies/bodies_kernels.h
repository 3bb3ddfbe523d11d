/* Loops over the samples of bodies; see bodies_kernels.c. */
#ifndef BODIES_BODIES_KERNELS_H
#define BODIES_BODIES_KERNELS_H

#include "core/simd.h"
#include "core/vec.h"
#include "state/contacts.h"

/* Motion of a solid in the frame of its shape. */
typedef struct LocalMotion {
  Vec3 center, velocity, spin;
} LocalMotion;

/* Largest squared speed of the samples [b, e), which all belong to the solid. */
KERNEL_DECLARE(double, bodies_fastest_sample, (const SolidSamples *s, int64_t b, int64_t e, const LocalMotion *motion));

#endif
