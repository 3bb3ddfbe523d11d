/* Pressure, friction, walls and bodies: what acts on the faces in a step. */
#ifndef METHODS_FLIP_STRESS_H
#define METHODS_FLIP_STRESS_H

#include "methods/flip/work.h"

/* walls.c: sand that runs into closed faces takes their velocity. */
Status flip_stop_at_walls(FlipWork *work);
/* Forces of the stresses on all solids, into their wrenches. */
void flip_push_solids(FlipWork *work);
/* Memory for what follows; faces at which no stress can act are left out. Finds what each body can add at most to the
 * largest eigenvalue of a solve: body_norm times dt^2 and how often an unknown touches a face. */
Status flip_couple_bodies(FlipWork *work);
/* body_change = dt M^-1 body_wrench. */
void flip_move_bodies(FlipWork *work, double dt);
/* body_change = dt M^-1 J f: by the pressure and the stresses at the faces (either may be NULL). */
void flip_change_bodies(FlipWork *work, const float *pressure, float *const *stress, double dt);
/* The same, by the wrenches in wrench_parts of so many chunks of FACE_CHUNK faces. */
enum { FACE_CHUNK = 512 };
void flip_answer_of_bodies(FlipWork *work, int64_t chunks, double dt);
/* Adds what that changes to the flux. */
void flip_add_bodies(const FlipWork *work, float *const flux[3]);
/* The largest element of three fields. */
double flip_largest_of(const FlipWork *work, float *const field[3]);
/* Strips that a solve runs over: those with a bit in `lanes`, or within one cell of one. */
typedef struct StripList {
  int32_t *strips;
  int64_t count;
  const uint8_t *taken; /* per strip: not 0 for those in the list */
} StripList;
Status flip_list_strips(FlipWork *work, const uint8_t *lanes, bool round, StripList *list);
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
Status flip_predict_stresses(FlipWork *work);
/* staggered.c: both in turn; writes velocities and pushes on solids. */
Status flip_solve_stresses(FlipWork *work);

/* The cell below a face. */
static inline int32_t cell_below(const FlipGrid *grid, int32_t face, int axis) {
  int32_t strip = face / STRIP, lane = face % STRIP;
  if (axis > 0) return grid->near[strip][2 * axis] * STRIP + lane;
  return lane > 0 ? face - 1 : grid->near[strip][X_LOW] * STRIP + STRIP - 1;
}

static inline int32_t cell_above(const FlipGrid *grid, int32_t cell, int axis) {
  int32_t strip = cell / STRIP, lane = cell % STRIP;
  if (axis > 0) return grid->near[strip][2 * axis + 1] * STRIP + lane;
  return lane < STRIP - 1 ? cell + 1 : grid->near[strip][X_HIGH] * STRIP;
}

#endif
