/* Particles to the grid and back (Section 3). */
#ifndef METHODS_FLIP_TRANSFER_TRANSFER_H
#define METHODS_FLIP_TRANSFER_TRANSFER_H

#include "methods/flip/work.h"

/* splat.c */
void flip_sort_materials(FlipWork *work);
Status flip_particles_to_grid(FlipWork *work);
/* bearing_faces.c: which particles are restricted to bearing faces; changes their norms. */
void flip_restrict_particles(FlipWork *work);
/* Whether some particle near the strip is restricted: the sums of its faces have changed. */
bool flip_restricted_near(const FlipWork *work, int32_t strip);
/* sharpen.c: the velocity that particles settle to, at faces. */
Status flip_sharpen(FlipWork *work, float *const sharp[3]);
/* advection.c */
Status flip_grid_to_particles(FlipWork *work);

#endif
