/* Unilateral incompressibility: the pressure is the least that keeps phi + phi_s <= 1 (Eq. 6 to 13, 24, 25). */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/mprgp.h"
#include "methods/flip/stress.h"
#include "methods/flip/stress_kernels.h"

/* Cells with less sand than this cannot be full after a step of half a cell. */
#define FILL_OF_A_CELL 0.02f
#define NEARLY 0.05f
/* Cohesion and pulling act where grains touch. */
#define FILL_TOUCHING 0.9f
#define FILL_PULLED 0.4f

typedef struct Problem {
  FlipWork *work;
  PressureOperator operator;
  PressureInverse inverse;
  float *half; /* of the preconditioner */
  bool upper;
  double dt;
} Problem;

static void apply_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Problem *problem = context;
  KERNEL_CALL(problem->work->core, flip_pressure_apply)(&problem->operator, b, e);
}

/* dt^2 J1^T M^-1 J1, of Eq. 25: the pressure moves the bodies, and they the sand. */
static void apply_bodies(const Problem *problem, const float *p, float *y) {
  const FlipWork *work = problem->work;
  double dt = problem->dt, cell = work->grid->cell, area = cell * cell;
  double(*wrench)[6] = work->body_wrench;
  memset(wrench, 0, sizeof *wrench * (size_t)work->body_count);
  for (int64_t k = 0; k < work->face_count; k++) {
    const CoupledFace *face = &work->faces[k];
    double drop = (double)p[face->face] - (double)p[cell_below(work->grid, face->face, face->axis)];
    if (drop != 0) coupled_push(face, -drop * area * (double)face->share, wrench[face->body]);
  }
  flip_bodies_change(work, dt);
  for (int64_t k = 0; k < work->face_count; k++) {
    const CoupledFace *face = &work->faces[k];
    float flux = (float)(dt / cell * (double)face->share * coupled_speed(face, work->body_change[face->body]));
    int32_t low = cell_below(work->grid, face->face, face->axis);
    y[face->face] -= flux;
    if (low >= STRIP) y[low] += flux;
  }
}

static void apply(void *context, const float *p, float *y) {
  Problem *problem = context;
  FlipWork *work = problem->work;
  problem->operator.p = p;
  problem->operator.y = y;
  memset(y, 0, sizeof(float) * STRIP);
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, apply_chunk, problem);
  if (work->face_count > 0 && problem->dt > 0) apply_bodies(problem, p, y);
}

static void inverse_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Problem *problem = context;
  const Core *core = problem->work->core;
  if (problem->upper) KERNEL_CALL(core, flip_pressure_upper)(&problem->inverse, b, e);
  else KERNEL_CALL(core, flip_pressure_lower)(&problem->inverse, b, e);
}

/* What bodies add to the matrix is of low rank and left out. */
static void precondition(void *context, const float *r, const float *free, float *z) {
  Problem *problem = context;
  FlipWork *work = problem->work;
  problem->inverse.free = free;
  for (int k = 0; k < 2; k++) {
    problem->upper = k == 1;
    problem->inverse.from = k ? problem->half : r;
    problem->inverse.to = k ? z : problem->half;
    parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, inverse_chunk, problem);
  }
  memset(z, 0, sizeof(float) * STRIP);
}

static Status take_inverse(FlipWork *work, Problem *problem) {
  int64_t cells = work_cells(work);
  float *inverse = NULL;
  TRY(scratch_take(work->core, work->step->scratch, &inverse, cells, "preconditioner"));
  TRY(scratch_take(work->core, work->step->scratch, &problem->half, cells, "preconditioner"));
  const FlipFields *f = &work->fields;
  for (int64_t at = 0; at < cells; at++) {
    float sum = 0;
    for (int a = 0; a < 3 && at >= STRIP; a++)
      sum += f->gain[a][at] + f->gain[a][cell_above(work->grid, (int32_t)at, a)];
    inverse[at] = sum > 0 ? 1 / (problem->operator.factor * sum) : 0;
  }
  memset(problem->half, 0, sizeof(float) * STRIP);
  problem->inverse = (PressureInverse){.grid = work->grid,
                                       .gain = {f->gain[0], f->gain[1], f->gain[2]},
                                       .inverse = inverse,
                                       .factor = problem->operator.factor };
  return SCREE_OK;
}

/* At least the largest eigenvalue: twice the largest sum of a row, and the trace of the bodies' part. */
static double norm_of(const Problem *problem) {
  const FlipWork *work = problem->work;
  float largest = 0;
  int64_t cells = work_cells(work);
  for (int a = 0; a < 3; a++)
    for (int64_t at = 0; at < cells; at++)
      largest = work->fields.gain[a][at] > largest ? work->fields.gain[a][at] : largest;
  double norm = 12 * (double)problem->operator.factor *(double) largest;
  for (int64_t k = 0; k < work->face_count; k++) {
    const CoupledFace *face = &work->faces[k];
    double unit[6] = {0}, sum = 0;
    coupled_push(face, 1, unit);
    for (int r = 0; r < 6; r++)
      for (int c = 0; c < 6; c++) sum += unit[r] * work->bodies[face->body].inverse[r][c] * unit[c];
    norm += 2 * problem->dt * problem->dt * work->grid->cell * (double)(face->share * face->share) * sum;
  }
  return norm;
}

/* Which cells may have a pressure, and from where on. */
static void set_bounds(const FlipWork *work, bool correction, float *lower, float *upper) {
  const FlipFields *f = &work->fields;
  int64_t cells = work_cells(work);
  for (int64_t at = 0; at < cells; at++) {
    float fill = f->fill[at], free = f->free[at];
    bool some = at >= STRIP && f->usable[at] > 0 && fill > FILL_OF_A_CELL * free;
    lower[at] = 0;
    upper[at] = some ? INFINITY : 0;
    if (correction || !some) continue;
    if (work->settings->pulling && fill > FILL_PULLED * free) lower[at] = -INFINITY;
    else if (f->cohesion[at] > 0 && fill > FILL_TOUCHING * free) {
      /* The cone's apex: s_max = alpha p + cohesion is none there. */
      lower[at] = f->strength[at] > 0 ? -f->cohesion[at] / f->strength[at] : -f->cohesion[at];
    }
  }
}

static Status solve(FlipWork *work, Problem *problem, const float *b, bool correction, float *x, FlipSolves *report) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int64_t cells = work_cells(work);
  float *lower = NULL, *upper = NULL;
  TRY(scratch_take(core, scratch, &lower, cells, "bounds"));
  TRY(scratch_take(core, scratch, &upper, cells, "bounds"));
  set_bounds(work, correction, lower, upper);
  /* What there is to do: the compression that would come about. */
  double want = 0;
  for (int64_t at = 0; at < cells; at++)
    if (upper[at] > 0 && b[at] < 0) want += (double)b[at] * (double)b[at];
  TRY(take_inverse(work, problem));
  Mprgp mprgp = {.core = core,
                 .scratch = scratch,
                 .count = cells,
                 .x = x,
                 .lower = lower,
                 .upper = upper,
                 .b = b,
                 .apply = apply,
                 .precondition = precondition,
                 .context = problem,
                 .norm = norm_of(problem),
                 .tolerance = fmax(work->tolerance * sqrt(want), 1e-7),
                 .most = work->settings->solver_steps};
  TRY(mprgp_solve(&mprgp));
  report->solves++;
  report->steps += mprgp.steps;
  if (mprgp.residual > mprgp.tolerance) report->unfinished++;
  report->residual = fmax(report->residual, want > 0 ? mprgp.residual / sqrt(want) : 0);
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

static Status pressure_for(FlipWork *work, float *const flux[3], float *slack, float *b) {
  const FlipFields *f = &work->fields;
  int64_t cells = work_cells(work);
  for (int64_t at = 0; at < cells; at++) {
    float room = f->free[at] - f->fill[at];
    bool pulled = work->settings->pulling && f->fill[at] > FILL_PULLED * f->free[at];
    /* Overfull is the density correction's affair. What is nearly full counts as full: sampling noise would otherwise
     * take the pressure, and with it the friction, from some cells of a bed in every step, and piles would melt. */
    slack[at] = pulled || room < NEARLY * f->free[at] ? 0 : room;
  }
  find_divergence(work, flux, slack, work->dt / work->grid->cell, b);
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

void flip_set_tolerance(FlipWork *work) {
  const FlipFields *f = &work->fields;
  Vec3 g = work->state->gravity;
  const float gain[3] = {(float)(g.x * work->dt), (float)(g.y * work->dt), (float)(g.z * work->dt)};
  double energy = 0, mass = 0, fall = vec3_length(g) * work->dt;
  int64_t cells = work_cells(work);
  for (int a = 0; a < 3; a++)
    for (int64_t at = STRIP; at < cells; at++) {
      float v = f->velocity[a][at] - gain[a];
      energy += (double)(f->mass[a][at] * v * v);
      mass += (double)f->mass[a][at];
    }
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

static Status correct(FlipWork *work, float *b) {
  FlipFields *f = &work->fields;
  int64_t cells = work_cells(work);
  bool any = false;
  for (int64_t at = 0; at < cells; at++) {
    b[at] = f->free[at] - f->fill[at];
    if (at < STRIP || !(f->usable[at] > 0) || !(b[at] < 0)) continue;
    any = true;
    work->report.densest = fmax(work->report.densest, (double)(f->fill[at] / f->free[at]));
  }
  memset(work->kept->shift, 0, sizeof(float) * (size_t)cells);
  if (!any) return SCREE_OK;
  Problem problem = problem_of(work, 1);
  problem.dt = 0; /* bodies stand still */
  TRY(solve(work, &problem, b, true, work->kept->shift, &work->report.density));
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, shift_chunk, work);
  /* phi after the displacement, Eq. 14: b + A y is what is left free. */
  float *y = NULL;
  TRY(scratch_take(work->core, work->step->scratch, &y, cells, "slack"));
  apply(&problem, work->kept->shift, y);
  for (int64_t at = STRIP; at < cells; at++)
    if (f->fill[at] > 0) {
      float fill = f->fill[at] - y[at];
      f->fill[at] = fill < 0 ? 0 : fill > f->free[at] ? f->free[at] : fill;
    }
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
