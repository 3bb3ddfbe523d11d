/* Unilateral incompressibility: the pressure is the least that keeps phi + phi_s <= 1 (Eq. 6 to 13, 24, 25). */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/mprgp.h"
#include "methods/flip/stress.h"
#include "methods/flip/stress_kernels.h"

/* Cells with less sand than this cannot be full after a step of half a cell. */
#define FILL_OF_A_CELL 0.02f
/* Cells between two solids are pinched where less than this is free. */
#define FREE_PINCHED 0.05f
#define NEARLY 0.05f
/* A residual, in cells, that round-off leaves in a bed: solves go no further. */
#define RESIDUAL_LEAST 1e-7
#define FILL_RESTING 0.5f
/* Cells: sand whose centre is this much too high hangs. A tenth of the particles' spacing, less than the jitter of a
 * fill. */
#define HANGING 0.05f
/* Cohesion and pulling act where grains touch. */
#define FILL_TOUCHING 0.9f
#define FILL_PULLED 0.4f

/* A cell that bears pressure and has faces that a body moves with. */
typedef struct MovedCell {
  int32_t cell;
  int32_t body; /* in FlipWork.bodies */
  float out[6]; /* what its motion, linear and spin, lets out of the cell: the row of J1^T, by cell^2 */
} MovedCell;

typedef struct Problem {
  FlipWork *work;
  StripList unknown; /* strips with cells that may have a pressure */
  PressureOperator operator;
  PressureInverse inverse;
  float *diagonal; /* 1 over it */
  MovedCell *moved;
  int64_t moved_count;
  double dt;
} Problem;

static void apply(void *context, const float *p, float *y, int64_t b, int64_t e) {
  const Problem *problem = context;
  PressureOperator operator= problem->operator;
  operator.p = p;
  operator.y = y;
  KERNEL_CALL(problem->work->core, flip_pressure_apply)(&operator, b, e);
}

/* dt^2 J1^T M^-1 J1, of Eq. 25: the pressure moves the bodies, and they the sand. The faces of a cell act together. */
static double apply_bodies(void *context, const float *p, float *y) {
  const Problem *problem = context;
  FlipWork *work = problem->work;
  double dt = problem->dt, cell = work->grid->cell, product = 0;
  memset(work->body_wrench, 0, sizeof *work->body_wrench * (size_t)work->body_count);
  for (int64_t k = 0; k < problem->moved_count; k++) {
    const MovedCell *at = &problem->moved[k];
    double force = cell * cell * (double)p[at->cell], *wrench = work->body_wrench[at->body];
    for (int r = 0; r < 6 && force != 0; r++) wrench[r] += force * (double)at->out[r];
  }
  flip_move_bodies(work, dt);
  for (int64_t k = 0; k < problem->moved_count; k++) {
    const MovedCell *at = &problem->moved[k];
    const double *change = work->body_change[at->body];
    double out = 0;
    for (int r = 0; r < 6; r++) out += (double)at->out[r] * change[r];
    y[at->cell] += (float)(dt / cell * out);
  }
  for (int32_t k = 0; k < work->body_count; k++)
    for (int r = 0; r < 6; r++) product += work->body_wrench[k][r] * work->body_change[k][r];
  return product * dt / (cell * cell * cell);
}

/* Adds a face to what is known of a cell; `last` is where that was put for each cell. */
static void add_moved(Problem *problem, int32_t *last, int32_t cell, const CoupledFace *face, double share) {
  MovedCell *at = last[cell] >= 0 ? &problem->moved[last[cell]] : NULL;
  if (!at || at->body != face->body) {
    last[cell] = (int32_t)problem->moved_count;
    at = &problem->moved[problem->moved_count++];
    *at = (MovedCell){.cell = cell, .body = face->body};
  }
  double out[6] = {0};
  coupled_push(face, share, out);
  for (int r = 0; r < 6; r++) at->out[r] += (float)out[r];
}

static Status list_moved(FlipWork *work, Problem *problem, const float *upper) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int32_t *last = NULL;
  TRY(scratch_take(core, scratch, &problem->moved, 2 * work->face_count + 1, "bodies"));
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &last, work_cells(work), "bodies"));
  memset(last, 0xff, sizeof *last * (size_t)work_cells(work));
  for (int64_t k = 0; k < work->face_count; k++) {
    const CoupledFace *face = &work->faces[k];
    if (upper[face->face] > 0) add_moved(problem, last, face->face, face, -(double)face->share);
    if (face->low >= STRIP && upper[face->low] > 0) add_moved(problem, last, face->low, face, (double)face->share);
  }
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}

/* What bodies add to the matrix is of low rank and left out. */
static void precondition(void *context, int half, const float *from, const uint8_t *free, float *to, int64_t b,
                         int64_t e) {
  const Problem *problem = context;
  PressureInverse inverse = problem->inverse;
  inverse.from = from;
  inverse.free = free;
  inverse.to = to;
  if (half == 0) KERNEL_CALL(problem->work->core, flip_pressure_lower)(&inverse, b, e);
  else KERNEL_CALL(problem->work->core, flip_pressure_upper)(&inverse, b, e);
}

static void diagonal_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Problem *problem = context;
  KERNEL_CALL(problem->work->core, flip_pressure_diagonal)(&problem->inverse, b, e, problem->diagonal);
}

static Status take_inverse(FlipWork *work, Problem *problem) {
  TRY(scratch_take(work->core, work->step->scratch, &problem->diagonal, work_cells(work), "preconditioner"));
  grid_clear(work->core, problem->diagonal, work_cells(work));
  const FlipFields *f = &work->fields;
  problem->inverse = (PressureInverse){.grid = work->grid,
                                       .strips = problem->unknown.strips,
                                       .gain = {f->gain[0], f->gain[1], f->gain[2]},
                                       .inverse = problem->diagonal,
                                       .factor = problem->operator.factor };
  parallel_for(work->core, 0, problem->unknown.count, STRIP_CHUNK, diagonal_chunk, problem);
  return SCREE_OK;
}

/* Which cells may have a pressure, and from where on. */
typedef struct Bounds {
  const FlipWork *work;
  const float *b;
  bool correction;
  float *x, *lower, *upper;
  uint8_t *unknown; /* per strip, a bit per lane */
} Bounds;

/* What a body pinches against another solid bears no pressure: it would leave as a jet, through faces of which a
 * fiftieth is open. */
static bool pinched(const FlipWork *work, int32_t at) {
  const FlipFields *f = &work->fields;
  int16_t first = -1;
  if (!(f->free[at] < FREE_PINCHED)) return false;
  for (int side = 0; side < SIDES; side++) {
    int a = side / 2;
    int16_t owner = f->owner[a][side % 2 ? cell_above(work->grid, at, a) : at];
    if (first >= 0 && owner >= 0 && owner != first) return true;
    if (first < 0) first = owner;
  }
  return false;
}

/* Whether sand can pass none of a cell's faces. What a solid encloses in a part of a cell cannot move, and its row of
 * the matrix is empty: a pressure that is there from the step before would stay, and the residual with it. */
static bool enclosed(const FlipWork *work, int32_t at) {
  float *const *gain = work->fields.gain;
  if (gain[0][at] > 0 || gain[1][at] > 0 || gain[2][at] > 0) return false;
  for (int a = 0; a < 3; a++)
    if (gain[a][cell_above(work->grid, at, a)] > 0) return false;
  return true;
}

/* Answers what there is to do: the square of the compression that would come about. */
static double bounds_chunk(void *context, int64_t begin, int64_t end) {
  const Bounds *to = context;
  const FlipWork *work = to->work;
  const FlipFields *f = &work->fields;
  double want = 0;
  for (int64_t strip = begin; strip < end; strip++) {
    uint32_t unknown = 0;
    for (int lane = 0; lane < STRIP; lane++) {
      int64_t at = strip * STRIP + lane;
      float fill = f->fill[at], free = f->free[at];
      bool some = f->usable[at] > 0 && fill > FILL_OF_A_CELL * free && !enclosed(work, (int32_t)at) &&
                  !pinched(work, (int32_t)at);
      to->lower[at] = 0;
      to->upper[at] = some ? INFINITY : 0;
      if (!some) {
        to->x[at] = 0;
        continue;
      }
      unknown |= 1u << lane;
      if (to->b[at] < 0) want += (double)to->b[at] * (double)to->b[at];
      if (to->correction) continue;
      if (work->settings->pulling && fill > FILL_PULLED * free) to->lower[at] = -INFINITY;
      else if (f->cohesion[at] > 0 && fill > FILL_TOUCHING * free) {
        /* The cone's apex: s_max = alpha p + cohesion is none there. */
        to->lower[at] = f->strength[at] > 0 ? -f->cohesion[at] / f->strength[at] : -f->cohesion[at];
      }
    }
    to->unknown[strip] = (uint8_t)unknown;
  }
  return want;
}

/* At least the largest eigenvalue: twice the largest sum of a row, and the trace of the bodies' part. */
static double norm_of(const Problem *problem) {
  const FlipWork *work = problem->work;
  double norm = 12 * (double)problem->operator.factor * flip_largest_of(work, work->fields.gain);
  for (int32_t k = 0; k < work->body_count && problem->dt > 0; k++)
    norm += 2 * problem->dt * problem->dt * work->body_norm[k];
  return norm;
}

static Status solve(FlipWork *work, Problem *problem, const float *b, bool correction, float *x, FlipSolves *report) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int64_t cells = work_cells(work);
  Bounds bounds = {.work = work, .b = b, .correction = correction, .x = x};
  TRY(scratch_take(core, scratch, &bounds.lower, cells, "bounds"));
  TRY(scratch_take(core, scratch, &bounds.upper, cells, "bounds"));
  TRY(scratch_take(core, scratch, &bounds.unknown, work->grid->strips, "bounds"));
  double want = parallel_sum(core, 1, work->grid->strips, STRIP_CHUNK, bounds_chunk, &bounds);
  double length = fmax(sqrt(want), RESIDUAL_LEAST / work->tolerance);
  TRY(flip_list_strips(work, bounds.unknown, false, &problem->unknown));
  problem->operator.strips = problem->unknown.strips;
  TRY(take_inverse(work, problem));
  if (problem->dt > 0) TRY(list_moved(work, problem, bounds.upper));
  Mprgp mprgp = {.core = core,
                 .scratch = scratch,
                 .count = cells,
                 .blocks = problem->unknown.strips,
                 .block_count = problem->unknown.count,
                 .x = x,
                 .lower = bounds.lower,
                 .upper = bounds.upper,
                 .b = b,
                 .apply = apply,
                 .couple = problem->moved_count > 0 ? apply_bodies : NULL,
                 .precondition = precondition,
                 .context = problem,
                 .norm = norm_of(problem),
                 .tolerance = work->tolerance * length,
                 .most = work->settings->solver_steps};
  TRY(mprgp_solve(&mprgp));
  report->solves++;
  report->steps += mprgp.steps;
  if (mprgp.residual > mprgp.tolerance) report->unfinished++;
  report->residual = fmax(report->residual, mprgp.residual / length);
  report->complementarity = fmax(report->complementarity, mprgp.gap);
  report->violation = fmax(report->violation, mprgp.below);
  return SCREE_OK;
}

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

static Problem problem_of(FlipWork *work, double dt) {
  double cell = work->grid->cell;
  Problem problem = {.work = work, .dt = dt};
  problem.operator=(PressureOperator){.grid = work->grid,
                                      .gain = {work->fields.gain[0], work->fields.gain[1], work->fields.gain[2]},
                                      .factor = (float)(dt * dt / (cell * cell))};
  return problem;
}

typedef struct Slack {
  const FlipWork *work;
  float *to;
} Slack;

/* Whether the sand of a cell fills it from below: its centre of mass is no higher than it would be then. What hangs
 * higher has room to come down. */
static bool fills_from_below(const FlipWork *work, int32_t cell, int axis, bool down) {
  const FlipOrder *order = work->order;
  const float *place[3] = {order->x, order->y, order->z};
  float volume = 0, moment = 0;
  for (int32_t k = order->start[cell]; k < order->start[cell + 1]; k++) {
    float share = work->mixed ? work->sorted.volume[k] : order->mass[k] * work->rest_specific;
    float at = place[axis][k] - floorf(place[axis][k]);
    volume += share;
    moment += share * (down ? at : 1 - at);
  }
  float full = (float)(work->grid->cell * work->grid->cell * work->grid->cell), bottom = 1 - work->fields.free[cell];
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
  if (axis < 0 || !(f->usable[cell] > 0) || !(f->fill[cell] > FILL_RESTING * f->free[cell])) return false;
  int32_t above = cell_above(work->grid, cell, axis), face = down ? cell : above,
          under = down ? cell_below(work->grid, cell, axis) : above;
  bool solid = !(f->open[axis][face] > 0) && f->owner[axis][face] >= 0;
  bool full = under >= STRIP && f->free[under] - f->fill[under] < NEARLY * f->free[under];
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
    float room = f->free[at] - f->fill[at];
    bool pulled = slack->work->settings->pulling && f->fill[at] > FILL_PULLED * f->free[at];
    /* Overfull is the density correction's affair. What is nearly full counts as full: sampling noise would otherwise
     * take the pressure, and with it the friction, from some cells of a bed in every step, and piles would melt. */
    bool full = pulled || room < NEARLY * f->free[at] || rests(slack->work, (int32_t)at, axis, down);
    slack->to[at] = full ? 0 : room;
  }
}

static Status pressure_for(FlipWork *work, float *const flux[3], float *room, float *b) {
  Slack slack = {work, room};
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, slack_chunk, &slack);
  find_divergence(work, flux, room, work->dt / work->grid->cell, b);
  Problem problem = problem_of(work, work->dt);
  return solve(work, &problem, b, false, work->kept->pressure, &work->report.pressure);
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

/* ---- tolerance ---- */

/* What a solve leaves undone moves sand, and sand at rest would never stay so: the slower it is against what gravity
 * gives in a step, the better the solves must be. They begin near their ends then, and cost little. */
#define TOLERANCE_AT_REST 0.03

typedef struct Moving {
  const FlipWork *work;
  float gain[3];
} Moving;

static double energy_chunk(void *context, int64_t b, int64_t e) {
  const Moving *motion = context;
  const FlipFields *f = &motion->work->fields;
  double energy = 0;
  for (int a = 0; a < 3; a++)
    for (int64_t at = b * STRIP; at < e * STRIP; at++) {
      float v = f->velocity[a][at] - motion->gain[a];
      energy += (double)(f->mass[a][at] * v * v);
    }
  return energy;
}

static double mass_chunk(void *context, int64_t b, int64_t e) {
  const Moving *motion = context;
  double mass = 0;
  for (int a = 0; a < 3; a++)
    for (int64_t at = b * STRIP; at < e * STRIP; at++) mass += (double)motion->work->fields.mass[a][at];
  return mass;
}

void flip_set_tolerance(FlipWork *work) {
  Vec3 g = work->state->gravity;
  Moving motion = {work, {(float)(g.x * work->dt), (float)(g.y * work->dt), (float)(g.z * work->dt)}};
  double energy = parallel_sum(work->core, 1, work->grid->strips, STRIP_CHUNK, energy_chunk, &motion);
  double mass = parallel_sum(work->core, 1, work->grid->strips, STRIP_CHUNK, mass_chunk, &motion);
  double fall = vec3_length(g) * work->dt;
  double share = fall > 0 && mass > 0 ? sqrt(3 * energy / mass) / fall : 1;
  work->tolerance = work->settings->tolerance * fmin(1, fmax(TOLERANCE_AT_REST, share));
}

/* ---- density correction (Section 2.2.1) ---- */

static void shift_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  FlipFields *f = &work->fields;
  float cell = (float)work->grid->cell, most = 0.25f * cell;
  for (int64_t at = b * STRIP; at < e * STRIP; at++)
    for (int a = 0; a < 3; a++) {
      int32_t low = cell_below(work->grid, (int32_t)at, a);
      float way = -f->lightness[a][at] * (work->kept->shift[at] - work->kept->shift[low]) / cell;
      f->moved[a][at] = way < -most ? -most : way > most ? most : way;
    }
}

typedef struct Correction {
  FlipWork *work;
  float *b; /* what is left free */
  Problem problem;
} Correction;

/* Answers the largest density over that of sand at rest; up to 1: no cell is overfull. */
static double room_chunk(void *context, int64_t begin, int64_t end) {
  const Correction *correction = context;
  const FlipFields *f = &correction->work->fields;
  double densest = 0;
  for (int64_t at = begin * STRIP; at < end * STRIP; at++) {
    float room = f->free[at] - f->fill[at];
    correction->b[at] = room;
    if (f->usable[at] > 0 && room < 0) densest = fmax(densest, (double)(f->fill[at] / f->free[at]));
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
    if (f->fill[at] > 0) {
      float fill = f->fill[at] - correction->problem.operator.y[at];
      f->fill[at] = fill < 0 ? 0 : fill > f->free[at] ? f->free[at] : fill;
    }
}

static Status correct(FlipWork *work, float *b) {
  int64_t strips = work->grid->strips;
  Correction correction = {.work = work, .b = b};
  double densest = parallel_max(work->core, 1, strips, STRIP_CHUNK, 0, room_chunk, &correction);
  work->report.densest = fmax(work->report.densest, densest);
  if (!(densest > 0)) {
    memset(work->kept->shift, 0, sizeof(float) * (size_t)work_cells(work));
    return SCREE_OK;
  }
  Problem problem = problem_of(work, 1);
  problem.dt = 0; /* bodies stand still */
  TRY(solve(work, &problem, b, true, work->kept->shift, &work->report.density));
  parallel_for(work->core, 1, strips, STRIP_CHUNK, shift_chunk, work);
  correction.problem = problem;
  correction.problem.operator.strips = NULL;
  correction.problem.operator.p = work->kept->shift;
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
