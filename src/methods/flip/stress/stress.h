/* Pressure and friction: what acts on the faces in a step (Section 2). */
#ifndef METHODS_FLIP_STRESS_STRESS_H
#define METHODS_FLIP_STRESS_STRESS_H

#include "methods/flip/work.h"

/* What fills a cell but for this share of its free volume counts as full; so does what lies on a full cell or a solid
 * and fills more than this share. */
#define PHI_NEARLY 0.05f
#define PHI_RESTING 0.5f

/* warm_start.c: what is kept goes from the strips of the last step to those of this one; the frictional stress moves
 * with solids. */
Status flip_warm_start(FlipWork *work, const FlipGrid *grid, const FlipKept *kept);
/* operators.c: the largest element of three fields. */
double flip_largest_of(const FlipWork *work, float *const field[3]);
/* tolerance.c: how well this step must be solved. */
void flip_set_tolerance(FlipWork *work);
/* density_correction.c, Section 2.2.1: writes `phi` and `correction`. */
Status flip_correct_density(FlipWork *work);
/* thin_layers.c: whether a cell lies on a full one; on_solid: whether on a solid. `axis` is gravity's. */
bool flip_lies_on(const FlipWork *work, int32_t cell, int axis, bool down, bool *on_solid);
/* Writes layer_depth; adds what thin layers push to `change`, `flux` and `joint_velocity`. */
Status flip_push_thin_layers(FlipWork *work);
/* pressure.c: writes unfilled. */
void flip_find_unfilled(FlipWork *work);
static inline bool flip_is_full(const FlipFields *f, int32_t cell) {
  return f->sand.usable[cell] > 0 && !(f->stress.unfilled[cell] > 0);
}
/* Writes pressure_mobility; the flux at the upper faces of full cells is that of the velocity from there on. */
void flip_set_fluxes(FlipWork *work);
/* Pressure for the flux that is given (friction in it). */
Status flip_solve_pressure(FlipWork *work, float *const flux[3]);
/* friction.c; `last`: of the rounds of this step. */
Status flip_solve_friction(FlipWork *work, float *const flux[3], bool last);
/* (D2 s) at a face, times the cell's side. */
double flip_stress_force(const FlipWork *work, float *const s[STRESSES], int32_t face, int axis);
/* warm_start_scale.c: scales the warm start near bodies. */
Status flip_scale_warm_start(FlipWork *work);
/* staggered_projections.c: both in turn; writes velocities and wrenches on solids. */
Status flip_solve_stresses(FlipWork *work);

#endif
