/* Density correction (Section 2.2.1): before the step, sand moves out of cells that hold too much, and into pressed
 * cells that hold too little.
 *
 * Departure: the paper leaves cells that are not full to the pressure, which lets what is above fall until they are.
 * Cells that are nearly full count as full here (pressure.c), and if nothing but the correction moved sand between
 * them, which only drives it apart, a bed that flowed would get looser for ever. In a pressed cell the pressure p of
 * the paper's problem, with what the cell lacks in it, would be less than that of a full cell by no more than all of
 * it; the difference would move sand by dt^2 / rho grad (p' - p). So it does here, but as a displacement without speed:
 * the potential y = dt^2 (p' - p) may go down to -dt^2 p, and is that or fills the cell: (y + dt^2 p) (1 - phi) = 0.
 * Nothing comes closer faster than it would fall. Where all cells are full y is 0: sand at rest stays there, on slopes,
 * too. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/stress/pressure_solve.h"

/* Cells with sand all round fill more than this share of what they can: the kernel of a cell's centre reaches to the
 * centres of those beside it, which a level surface that passes there fills by half. */
#define PHI_INTERIOR 0.75f

/* Whether what a cell lacks is within the sand, and not what lies beyond its surface. */
static bool is_interior(const FlipWork *work, int32_t cell) {
  const FlipFields *f = &work->fields;
  if (!(f->sand.usable[cell] > 0) || !(f->sand.phi[cell] > PHI_INTERIOR * f->solid.free_volume[cell])) return false;
  for (int side = 0; side < SIDES; side++) {
    int a = side / 2;
    int32_t above = cell_above(work->grid, cell, a), face = side % 2 ? above : cell,
            beside = side % 2 ? above : cell_below(work->grid, cell, a);
    if (!(f->solid.open[a][face] > 0)) continue;
    if (!(f->sand.phi[beside] > PHI_INTERIOR * f->solid.free_volume[beside])) return false;
  }
  return true;
}

float flip_pull(const FlipWork *work, int32_t cell) {
  float pressure = work->kept->pressure[cell];
  return pressure > 0 && is_interior(work, cell) ? (float)(work->dt * work->dt) * pressure : 0;
}

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

/* Returns the largest density over that of sand at rest, of the cells that are to be corrected. */
static double volume_chunk(void *context, int64_t begin, int64_t end) {
  const Correction *correction = context;
  const FlipFields *f = &correction->work->fields;
  double densest = 0;
  for (int64_t at = begin * STRIP; at < end * STRIP; at++) {
    float unfilled = f->solid.free_volume[at] - f->sand.phi[at];
    correction->b[at] = unfilled;
    if (f->sand.usable[at] > 0 && (unfilled < 0 || correction->work->kept->pressure[at] > 0))
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
  PressureProblem problem = flip_pressure_problem(work, 1, work->fields.sand.flux_mobility);
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
