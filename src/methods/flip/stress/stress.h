/* Pressure and friction: what acts on the faces in a step (Section 2). */
#ifndef METHODS_FLIP_STRESS_STRESS_H
#define METHODS_FLIP_STRESS_STRESS_H

#include "methods/flip/work.h"

/* warm_start.c: what is kept goes from the strips of the last step to those of this one. */
Status flip_warm_start(FlipWork *work, const FlipGrid *grid, const FlipKept *kept);
/* operators.c: the largest element of three fields. */
double flip_largest_of(const FlipWork *work, float *const field[3]);
/* pressure.c: how well this step must be solved. */
void flip_set_tolerance(FlipWork *work);
/* Section 2.2.1; moves `fill` and writes `moved`. */
Status flip_correct_density(FlipWork *work);
/* Pressure for the flux that is given (friction in it). */
Status flip_solve_pressure(FlipWork *work, float *const flux[3]);
/* friction.c; `last`: of the rounds of this step. */
Status flip_solve_friction(FlipWork *work, float *const flux[3], bool last);
/* (D2 s) at a face, times the cell's side. */
double flip_stress_force(const FlipWork *work, float *const s[STRESSES], int32_t face, int axis);
/* predict.c: scales the stresses near bodies that the solves begin with. */
Status flip_scale_warm_start(FlipWork *work);
/* staggered.c: both in turn; writes velocities and pushes on solids. */
Status flip_solve_stresses(FlipWork *work);

#endif
