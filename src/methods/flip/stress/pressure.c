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

typedef struct Slack {
  const FlipWork *work;
  float *to;
} Slack;

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
static void slack_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Slack *slack = context;
  const FlipFields *f = &slack->work->fields;
  bool down = false;
  int axis = work_downward(slack->work, &down);
  for (int64_t at = b * STRIP; at < e * STRIP; at++) {
    float unfilled = f->solid.free_volume[at] - f->sand.phi[at];
    bool pulled = slack->work->settings->pulling && f->sand.phi[at] > PHI_PULLED * f->solid.free_volume[at];
    /* Overfull cells are left to the density correction. What is nearly full counts as full: sampling noise would
     * otherwise take the pressure, and with it the friction, from some cells of a bed in every step, and piles would
     * melt. */
    bool full =
        pulled || unfilled < PHI_NEARLY * f->solid.free_volume[at] || rests(slack->work, (int32_t)at, axis, down);
    slack->to[at] = full ? 0 : unfilled;
  }
}

static Status pressure_for(FlipWork *work, float *const flux[3], float *unfilled, float *b) {
  Slack slack = {work, unfilled};
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, slack_chunk, &slack);
  find_divergence(work, flux, unfilled, work->dt / work->grid->cell, b);
  PressureProblem problem = flip_pressure_problem(work, work->dt);
  return flip_solve_complementarity(work, &problem, b, false, work->kept->pressure, &work->report.pressure);
}

Status flip_solve_pressure(FlipWork *work, float *const flux[3]) {
  Scratch *scratch = work->step->scratch;
  int mark = scratch_mark(scratch);
  float *slack = NULL, *b = NULL;
  TRY(scratch_take(work->core, scratch, &slack, work_cells(work), "slack"));
  TRY(scratch_take(work->core, scratch, &b, work_cells(work), "slack"));
  Status status = pressure_for(work, flux, slack, b);
  scratch_release(work->core, scratch, mark);
  return status;
}
