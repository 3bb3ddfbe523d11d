/* The linear complementarity problem that pressure and density correction share (Eq. 9 to 13, 24, 25, 30). */
#ifndef METHODS_FLIP_STRESS_PRESSURE_SOLVE_H
#define METHODS_FLIP_STRESS_PRESSURE_SOLVE_H

#include "methods/flip/stress/operator_kernels.h"
#include "methods/flip/stress/stress.h"

/* A pressure that pulls (Fig. 11) does so in cells that hold more than this of their free volume. */
#define PHI_PULLED 0.4f

/* A cell that bears pressure and has faces that a body moves with. */
typedef struct CoupledCell {
  int32_t cell;
  int32_t body; /* in FlipWork.bodies */
  float out[6]; /* what its motion, linear and spin, lets out of the cell: the row of J1^T, by cell^2 */
} CoupledCell;

typedef struct PressureProblem {
  FlipWork *work;
  StripList unknown;      /* strips with cells that may have a pressure */
  float *const *mobility; /* of the flux, per axis */
  PressureOperator operator;
  PressureInverse inverse;
  float *diagonal; /* 1 over it */
  CoupledCell *moved;
  int64_t moved_count;
  double dt;
} PressureProblem;

/* The matrix for a step of that length and the flux's mobility; bodies move with it unless dt is set to 0 afterwards.
 */
PressureProblem flip_pressure_problem(FlipWork *work, double dt, float *const mobility[3]);
/* How far below 0 the potential of the density correction may go in a cell, see density_correction.c. */
float flip_pull(const FlipWork *work, int32_t cell);
/* x >= 0 (with cohesion and in the density correction: a bound below 0) with A x + b >= 0, complementary to it; x is
 * the start and the result. */
Status flip_solve_complementarity(FlipWork *work, PressureProblem *problem, const float *b, bool correction, float *x,
                                  FlipSolves *report);

#endif
