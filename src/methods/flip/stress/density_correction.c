/* Density correction (Section 2.2.1): before the step, sand moves out of cells that hold too much. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/stress/pressure_solve.h"

static void shift_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  FlipFields *f = &work->fields;
  float cell = (float)work->grid->cell, most = 0.25f * cell;
  for (int64_t at = b * STRIP; at < e * STRIP; at++)
    for (int a = 0; a < 3; a++) {
      int32_t low = cell_below(work->grid, (int32_t)at, a);
      float displacement = -f->sand.specific_volume[a][at] *
                           (work->kept->correction_potential[at] - work->kept->correction_potential[low]) / cell;
      f->stress.correction[a][at] = displacement < -most ? -most : displacement > most ? most : displacement;
    }
}

typedef struct Correction {
  FlipWork *work;
  float *b; /* what is left free */
  PressureProblem problem;
} Correction;

/* Returns the largest density over that of sand at rest; up to 1: no cell is overfull. */
static double volume_chunk(void *context, int64_t begin, int64_t end) {
  const Correction *correction = context;
  const FlipFields *f = &correction->work->fields;
  double densest = 0;
  for (int64_t at = begin * STRIP; at < end * STRIP; at++) {
    float unfilled = f->solid.free_volume[at] - f->sand.phi[at];
    correction->b[at] = unfilled;
    if (f->sand.usable[at] > 0 && unfilled < 0)
      densest = fmax(densest, (double)(f->sand.phi[at] / f->solid.free_volume[at]));
  }
  return densest;
}

/* phi after the displacement, Eq. 14: b + A y is what is left free. */
static void refill_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Correction *correction = context;
  const FlipWork *work = correction->work;
  FlipFields *f = &correction->work->fields;
  KERNEL_CALL(work->core, flip_pressure_apply)(&correction->problem.operator, b, e);
  for (int64_t at = b * STRIP; at < e * STRIP; at++)
    if (f->sand.phi[at] > 0) {
      float phi = f->sand.phi[at] - correction->problem.operator.y[at];
      f->sand.phi[at] = phi < 0 ? 0 : phi > f->solid.free_volume[at] ? f->solid.free_volume[at] : phi;
    }
}

static Status correct(FlipWork *work, float *b) {
  int64_t strips = work->grid->strips;
  Correction correction = {.work = work, .b = b};
  double densest = parallel_max(work->core, 1, strips, STRIP_CHUNK, 0, volume_chunk, &correction);
  work->report.densest = fmax(work->report.densest, densest);
  if (!(densest > 0)) {
    memset(work->kept->correction_potential, 0, sizeof(float) * (size_t)work_cells(work));
    return SCREE_OK;
  }
  PressureProblem problem = flip_pressure_problem(work, 1);
  problem.dt = 0; /* bodies stand still */
  TRY(flip_solve_complementarity(work, &problem, b, true, work->kept->correction_potential, &work->report.density));
  parallel_for(work->core, 1, strips, STRIP_CHUNK, shift_chunk, work);
  correction.problem = problem;
  correction.problem.operator.strips = NULL;
  correction.problem.operator.p = work->kept->correction_potential;
  TRY(scratch_take(work->core, work->step->scratch, &correction.problem.operator.y, work_cells(work), "slack"));
  parallel_for(work->core, 1, strips, STRIP_CHUNK, refill_chunk, &correction);
  return SCREE_OK;
}

Status flip_correct_density(FlipWork *work) {
  Scratch *scratch = work->step->scratch;
  int mark = scratch_mark(scratch);
  float *b = NULL;
  TRY(scratch_take(work->core, scratch, &b, work_cells(work), "slack"));
  Status status = correct(work, b);
  scratch_release(work->core, scratch, mark);
  return status;
}
