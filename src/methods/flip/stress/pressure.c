/* Unilateral incompressibility: the pressure is the least that keeps phi + phi_s <= 1 (Eq. 6 to 13, 24, 25). */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/stress/pressure_solve.h"

/* Cells: sand whose centre is this much too high hangs. A tenth of the particles' spacing, less than the jitter of a
 * fill. */
#define HANGING 0.05f

typedef struct DivergenceJob {
  Core *core;
  Divergence of;
} DivergenceJob;

static void divergence_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const DivergenceJob *job = context;
  KERNEL_CALL(job->core, flip_divergence)(&job->of, b, e);
}

static void find_divergence(FlipWork *work, float *const flux[3], const float *base, double factor, float *out) {
  DivergenceJob job = {.core = work->core};
  job.of = (Divergence){
      .grid = work->grid, .flux = {flux[0], flux[1], flux[2]}, .base = base, .out = out, .factor = (float)factor};
  memset(out, 0, sizeof(float) * STRIP);
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, divergence_chunk, &job);
}

/* Whether the sand of a cell fills it from below: its centre of mass is no higher than it would be then. What hangs
 * higher comes down. */
static bool fills_from_below(const FlipWork *work, int32_t cell, int axis, bool down) {
  const FlipOrder *order = work->order;
  const float *place[3] = {order->x, order->y, order->z};
  float volume = 0, moment = 0;
  for (int32_t k = order->start[cell]; k < order->start[cell + 1]; k++) {
    float share = work->mixed ? work->transfer.volume[k] : order->mass[k] * work->specific_volume;
    float at = place[axis][k] - floorf(place[axis][k]);
    volume += share;
    moment += share * (down ? at : 1 - at);
  }
  float full = (float)(work->grid->cell * work->grid->cell * work->grid->cell),
        bottom = 1 - work->fields.solid.free_volume[cell];
  return !(moment > volume * (bottom + 0.5f * volume / full + HANGING));
}

/* The surface seldom coincides with the border of cells, and a cell through which it passes is not full although its
 * sand is as dense as sand can be. If it waited until it is, the sand would sink, and the pressure of the cell would
 * begin with two thirds of a cell's weight at once: the slope of a heap would be a flight of stairs that push each
 * other down. What lies on a full cell or on a solid therefore rests on it, if it is more than half a cell; over a
 * solid, only if it lies there and does not hang in the upper part of the cell. It is one layer only: sand that rains
 * on loose sand still fills it up. */
static bool rests(const FlipWork *work, int32_t cell, int axis, bool down) {
  const FlipFields *f = &work->fields;
  if (axis < 0 || !(f->sand.usable[cell] > 0) || !(f->sand.phi[cell] > PHI_RESTING * f->solid.free_volume[cell]))
    return false;
  bool solid = false, full = flip_lies_on(work, cell, axis, down, &solid);
  return full || (solid && fills_from_below(work, cell, axis, down));
}

/* What a cell can still take. */
static void unfilled_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  const FlipFields *f = &work->fields;
  bool down = false;
  int axis = work_downward(work, &down);
  for (int64_t at = b * STRIP; at < e * STRIP; at++) {
    float unfilled = f->solid.free_volume[at] - f->sand.phi[at];
    bool pulled = work->settings->pulling && f->sand.phi[at] > PHI_PULLED * f->solid.free_volume[at];
    /* Overfull cells are left to the density correction. What is nearly full counts as full: sampling noise would
     * otherwise take the pressure, and with it the friction, from some cells of a bed in every step, and piles would
     * melt. */
    bool full = pulled || unfilled < PHI_NEARLY * f->solid.free_volume[at] || rests(work, (int32_t)at, axis, down);
    f->stress.unfilled[at] = full ? 0 : unfilled;
  }
}

/* Faces of which less is free are cut by a solid; of those beside walls along the grid round-off takes a little. */
#define OPEN_WHOLE 0.9f

/* What goes through the upper face of a full cell is sand at its full density, whatever the kernel of the face holds:
 * at the surface that kernel reaches beyond the sand. Where phi v counted, as much would have to go out through a face
 * half full as comes in from below, and a bed that a plate lifts at 1 m/s would throw its surface up at 1.7 m/s.
 * Through the sides a layer passes by its depth, which phi is. (Faces that a solid cuts keep phi v: beds in trays off
 * the grid crept with v alone, by 0.05 diameters in ten seconds.) */
static void fluxes_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  FlipFields *f = &work->fields;
  bool down = false;
  int axis = work_downward(work, &down);
  for (int32_t at = (int32_t)b * STRIP; at < (int32_t)e * STRIP; at++) {
    for (int a = 0; a < 3; a++) {
      f->stress.pressure_mobility[a][at] = f->sand.flux_mobility[a][at];
      if (a != axis || !(f->sand.specific_volume[a][at] > 0) || f->solid.open[a][at] < OPEN_WHOLE) continue;
      if (!flip_is_full(f, down ? cell_below(work->grid, at, a) : at)) continue;
      f->stress.pressure_mobility[a][at] = f->sand.mobility[a][at];
      f->sand.flux[a][at] = f->sand.joint_velocity[a][at];
    }
  }
}

void flip_find_unfilled(FlipWork *work) {
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, unfilled_chunk, work);
}

void flip_set_fluxes(FlipWork *work) {
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, fluxes_chunk, work);
}

Status flip_solve_pressure(FlipWork *work, float *const flux[3]) {
  Scratch *scratch = work->step->scratch;
  int mark = scratch_mark(scratch);
  float *b = NULL;
  TRY(scratch_take(work->core, scratch, &b, work_cells(work), "slack"));
  find_divergence(work, flux, work->fields.stress.unfilled, work->dt / work->grid->cell, b);
  PressureProblem problem = flip_pressure_problem(work, work->dt, work->fields.stress.pressure_mobility);
  Status status = flip_solve_complementarity(work, &problem, b, false, work->kept->pressure, &work->report.pressure);
  scratch_release(work->core, scratch, mark);
  return status;
}
