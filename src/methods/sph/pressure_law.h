/* Pressure: unilateral incompressibility (Eq. 3) by relaxed Jacobi iteration (Eq. 19, 20), in densities over rest
 * density. */
#ifndef METHODS_SPH_PRESSURE_LAW_H
#define METHODS_SPH_PRESSURE_LAW_H

#include "methods/sph/density_law.h"

/* Relaxation of Eq. 20. With the printed 0.5 pressure and friction together do not converge but oscillate, and piles
 * creep. */
#define SPH_PRESSURE_RELAXATION 0.3f
/* Of the diagonal of a full neighbourhood, the least that one may have. */
#define SPH_LEAST_DIAGONAL 0.05f
/* Compression that is there already is taken back in two ways. A shift of the places makes no speed, but is local: one
 * relaxed pass of it, for at most SPH_MOST_SHIFT. The pressure of the step takes a small share more, which reaches far;
 * less in a shorter step, because speed made in steps that speed makes shorter grows without end where nothing is free
 * to move. */
#define SPH_MOST_SHIFT 0.1f
#define SPH_SPEED_SHARE 0.1f
#define SPH_MOST_COMPRESSION 0.005f

/* dt V / m: velocity that a force per volume gives in a step. */
LANE_INLINE Real pressure_mobility(float dt, float volume, Real inverse_mass) {
  return real(dt) * real(volume) * inverse_mass;
}

/* What of Eq. 24 does not change in a step: -d(density)/dp of the parcel over dt^2 V. `shell` is the square of the sum
 * of all gradients, walls included; `square` the sum of their squares over the neighbours' masses; `solids` the same
 * for solids that move. `lattice` is the sum of squares of a full neighbourhood. */
LANE_INLINE Real pressure_diagonal(Real shell, Real square, Real solids, Real inverse_mass, float lattice) {
  Real diagonal = shell * inverse_mass + square + solids;
  Real least = real(SPH_LEAST_DIAGONAL) * real(lattice) * inverse_mass;
  return real_max(diagonal, least);
}
/* omega / (a_ii dt^2) of Eq. 20. */
LANE_INLINE Real pressure_gain(float dt, float volume, Real diagonal) {
  return real(SPH_PRESSURE_RELAXATION) / (real(dt) * real(dt) * real(volume) * diagonal);
}

/* Density from which the step's pressure starts. Compression up to `slack` is the shift's alone: where friction
 * locks sand between walls, pressure that should take back the last of it moves nothing and grows from step to step. */
LANE_INLINE Real pressure_source(Real density, Real slack, float pace) {
  Real more = real(SPH_SPEED_SHARE) * real_max(density - (real(1) + slack), real(0));
  Real limited = real(1) + real(pace) * real_min(more, real(SPH_MOST_COMPRESSION));
  return real_select(real_less(real(1), density), limited, density);
}

/* The beginning of a run. A fill fits between walls to a hundredth of the density at best, and what is looser there
 * than elsewhere gives way when it is loaded: friction then hangs it on its neighbours for good. So the first step
 * moves parcels to where all that have neighbours on all sides have rest density. What is too loose is drawn together:
 * a pressure that all of them share is balanced before the iteration, which takes away from it. SEAT_GAINS is that
 * pressure in what one pass makes of a density of 1: enough for what a pass may move beds of a hundred layers. */
#define SEAT_DENSITY 0.97f /* of a parcel that lacks none; a flat surface has 0.85 */
#define SEAT_GAINS 32

LANE_INLINE Mask pressure_seats(Real density) { return real_less(real(SEAT_DENSITY), density); }
/* `gains`: SEAT_GAINS, or 0 when compression alone is taken back. */
LANE_INLINE Real pressure_of_seat(Real density, Real gain, float gains) {
  return real_mask(pressure_seats(density), real(gains) * gain);
}
/* How far such a parcel is from rest density. */
LANE_INLINE Real pressure_misfit(Real density) {
  return real_mask(pressure_seats(density), real_max(density - real(1), real(1) - density));
}

/* Pressure whose velocity over the step is the shift. */
LANE_INLINE Real pressure_of_shift(Real density, Real gain) {
  return real_min(density_excess(density), real(SPH_MOST_SHIFT)) * gain;
}

/* Eq. 19: what the density exceeds rest density by at the end of the step, under the velocity at hand. */
LANE_INLINE Real pressure_error(Real density, float dt, Real divergence) {
  return density - real(dt) * divergence - real(1);
}

/* Eq. 20 with the clamp of Eq. 3. */
LANE_INLINE Real pressure_update(Real before, Real gain, Real error) {
  return real_max(before + gain * error, real(0));
}

/* Residual of a compressed parcel. (Eq. 23 takes the error's absolute value: a cloud, which may expand, then never
 * converges.) */
LANE_INLINE Real pressure_compression(Real error) { return real_max(error, real(0)); }
/* Residual of a parcel that expands under pressure: its pressure is too high. */
LANE_INLINE Real pressure_expansion(Real before, Real after, Real gain) {
  return real_max(before - after, real(0)) / real_max(gain, real(1e-30f));
}

#endif
