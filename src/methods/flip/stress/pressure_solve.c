/* The linear complementarity problem of the pressure (Eq. 9 to 13, 24, 25, 30), for MPRGP. */
#include <math.h>
#include <string.h>

#include "methods/flip/stress/pressure_solve.h"
#include "core/parallel.h"
#include "methods/flip/solids/solids.h"
#include "methods/flip/stress/mprgp.h"

/* Cells with less sand than this cannot be full after a step of half a cell. */
#define PHI_EMPTY 0.02f
/* Cells between two solids are pinched where less than this is free. */
#define FREE_VOLUME_PINCHED 0.05f
/* A residual, in cells, that round-off leaves in a bed: solves go no further. */
#define RESIDUAL_LEAST 1e-7

static void apply(void *context, const float *p, float *y, int64_t b, int64_t e) {
  const PressureProblem *problem = context;
  PressureOperator operator= problem->operator;
  operator.p = p;
  operator.y = y;
  KERNEL_CALL(problem->work->core, flip_pressure_apply)(&operator, b, e);
}

/* dt^2 J1^T M^-1 J1, of Eq. 25: the pressure moves the bodies, and they the sand. The faces of a cell act together. */
static double apply_bodies(void *context, const float *p, float *y) {
  const PressureProblem *problem = context;
  FlipWork *work = problem->work;
  double dt = problem->dt, cell = work->grid->cell, product = 0;
  memset(work->stress.body_wrench, 0, sizeof *work->stress.body_wrench * (size_t)work->solids.body_count);
  for (int64_t k = 0; k < problem->moved_count; k++) {
    const CoupledCell *at = &problem->moved[k];
    double force = cell * cell * (double)p[at->cell], *wrench = work->stress.body_wrench[at->body];
    for (int r = 0; r < 6 && force != 0; r++) wrench[r] += force * (double)at->out[r];
  }
  flip_accelerate_bodies(work, dt);
  for (int64_t k = 0; k < problem->moved_count; k++) {
    const CoupledCell *at = &problem->moved[k];
    const double *change = work->stress.body_change[at->body];
    double out = 0;
    for (int r = 0; r < 6; r++) out += (double)at->out[r] * change[r];
    y[at->cell] += (float)(dt / cell * out);
  }
  for (int32_t k = 0; k < work->solids.body_count; k++)
    for (int r = 0; r < 6; r++) product += work->stress.body_wrench[k][r] * work->stress.body_change[k][r];
  return product * dt / (cell * cell * cell);
}

/* Adds a face to what is known of a cell; `last` is where that was put for each cell. */
static void add_moved(PressureProblem *problem, int32_t *last, int32_t cell, const CoupledFace *face, double share) {
  CoupledCell *at = last[cell] >= 0 ? &problem->moved[last[cell]] : NULL;
  if (!at || at->body != face->body) {
    last[cell] = (int32_t)problem->moved_count;
    at = &problem->moved[problem->moved_count++];
    *at = (CoupledCell){.cell = cell, .body = face->body};
  }
  double out[6] = {0};
  coupled_add_force(face, share, out);
  for (int r = 0; r < 6; r++) at->out[r] += (float)out[r];
}

static Status list_moved(FlipWork *work, PressureProblem *problem, const float *upper) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int32_t *last = NULL;
  TRY(scratch_take(core, scratch, &problem->moved, 2 * work->solids.face_count + 1, "bodies"));
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &last, work_cells(work), "bodies"));
  memset(last, 0xff, sizeof *last * (size_t)work_cells(work));
  for (int64_t k = 0; k < work->solids.face_count; k++) {
    const CoupledFace *face = &work->solids.faces[k];
    if (upper[face->face] > 0) add_moved(problem, last, face->face, face, -(double)face->share);
    if (face->low >= STRIP && upper[face->low] > 0) add_moved(problem, last, face->low, face, (double)face->share);
  }
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}

/* What bodies add to the matrix is of low rank and left out. */
static void precondition(void *context, int half, const float *from, const uint8_t *free, float *to, int64_t b,
                         int64_t e) {
  const PressureProblem *problem = context;
  PressureInverse inverse = problem->inverse;
  inverse.from = from;
  inverse.free = free;
  inverse.to = to;
  if (half == 0) KERNEL_CALL(problem->work->core, flip_pressure_lower)(&inverse, b, e);
  else KERNEL_CALL(problem->work->core, flip_pressure_upper)(&inverse, b, e);
}

static void diagonal_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PressureProblem *problem = context;
  KERNEL_CALL(problem->work->core, flip_pressure_diagonal)(&problem->inverse, b, e, problem->diagonal);
}

static Status take_inverse(FlipWork *work, PressureProblem *problem) {
  TRY(scratch_take(work->core, work->step->scratch, &problem->diagonal, work_cells(work), "preconditioner"));
  grid_clear(work->core, problem->diagonal, work_cells(work));
  const float *const *mobility = problem->operator.mobility;
  problem->inverse = (PressureInverse){.grid = work->grid,
                                       .strips = problem->unknown.strips,
                                       .mobility = {mobility[0], mobility[1], mobility[2]},
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

/* Solids nearer or farther by more than this within a step move against each other, in cells. */
#define SAME_MOTION 1e-5

/* Whether two solids move against each other at a cell, or can: those that do not act as one. */
static bool move_apart(const FlipWork *work, int16_t a, int16_t b, int32_t at) {
  if (work->solids.body_of_solid[a] >= 0 || work->solids.body_of_solid[b] >= 0) return true;
  const Solid *solids = work->state->solids.items;
  Vec3 point = face_point(strip_origin(work, at / STRIP), work->grid->cell, at % STRIP, 0);
  Vec3 between = vec3_sub(solid_velocity_at(&solids[a], point), solid_velocity_at(&solids[b], point));
  return vec3_length(between) * work->dt > SAME_MOTION * work->grid->cell;
}

/* What a body pinches against another solid bears no pressure: it would leave as a jet, through faces of which a
 * fiftieth is open. */
static bool pinched(const FlipWork *work, int32_t at) {
  const FlipFields *f = &work->fields;
  int16_t first = -1;
  if (!(f->solid.free_volume[at] < FREE_VOLUME_PINCHED)) return false;
  for (int side = 0; side < SIDES; side++) {
    int a = side / 2;
    int16_t owner = f->solid.owner[a][side % 2 ? cell_above(work->grid, at, a) : at];
    if (first >= 0 && owner >= 0 && owner != first && move_apart(work, first, owner, at)) return true;
    if (first < 0) first = owner;
  }
  return false;
}

/* Whether sand can pass none of a cell's faces. What a solid encloses in a part of a cell cannot move, and its row of
 * the matrix is empty: a pressure that is there from the step before would stay, and the residual with it. */
static bool enclosed(const FlipWork *work, int32_t at) {
  float *const *gain = work->fields.sand.flux_mobility;
  if (gain[0][at] > 0 || gain[1][at] > 0 || gain[2][at] > 0) return false;
  for (int a = 0; a < 3; a++)
    if (gain[a][cell_above(work->grid, at, a)] > 0) return false;
  return true;
}

/* Returns what there is to do: the square of the compression that would come about, and of what the density correction
 * may fill. */
static double bounds_chunk(void *context, int64_t begin, int64_t end) {
  const Bounds *to = context;
  const FlipWork *work = to->work;
  const FlipFields *f = &work->fields;
  double want = 0;
  for (int64_t strip = begin; strip < end; strip++) {
    uint32_t unknown = 0;
    for (int lane = 0; lane < STRIP; lane++) {
      int64_t at = strip * STRIP + lane;
      float phi = f->sand.phi[at], free_volume = f->solid.free_volume[at];
      bool some = f->sand.usable[at] > 0 && phi > PHI_EMPTY * free_volume && !enclosed(work, (int32_t)at) &&
                  !pinched(work, (int32_t)at);
      to->lower[at] = to->correction ? -flip_pull(work, (int32_t)at) : 0;
      to->upper[at] = some ? INFINITY : 0;
      if (!some) {
        to->x[at] = 0;
        continue;
      }
      unknown |= 1u << lane;
      if (to->b[at] < 0 || to->lower[at] < 0) want += (double)to->b[at] * (double)to->b[at];
      if (to->correction) continue;
      if (work->settings->pulling && phi > PHI_PULLED * free_volume) to->lower[at] = -INFINITY;
      else if (f->sand.cohesion[at] > 0 && phi > PHI_TOUCHING * free_volume) {
        /* The cone's apex: s_max = alpha p + cohesion is none there. */
        to->lower[at] = f->sand.alpha[at] > 0 ? -f->sand.cohesion[at] / f->sand.alpha[at] : -f->sand.cohesion[at];
      }
    }
    to->unknown[strip] = (uint8_t)unknown;
  }
  return want;
}

/* At least the largest eigenvalue: twice the largest sum of a row, and the trace of the bodies' part. */
static double norm_of(const PressureProblem *problem) {
  const FlipWork *work = problem->work;
  double norm = 12 * (double)problem->operator.factor * flip_largest_of(work, problem->mobility);
  for (int32_t k = 0; k < work->solids.body_count && problem->dt > 0; k++)
    norm += 2 * problem->dt * problem->dt * work->stress.body_norm[k];
  return norm;
}

Status flip_solve_complementarity(FlipWork *work, PressureProblem *problem, const float *b, bool correction, float *x,
                                  FlipSolves *report) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int64_t cells = work_cells(work);
  Bounds bounds = {.work = work, .b = b, .correction = correction, .x = x};
  TRY(scratch_take(core, scratch, &bounds.lower, cells, "bounds"));
  TRY(scratch_take(core, scratch, &bounds.upper, cells, "bounds"));
  TRY(scratch_take(core, scratch, &bounds.unknown, work->grid->strips, "bounds"));
  double want = parallel_sum(core, 1, work->grid->strips, STRIP_CHUNK, bounds_chunk, &bounds);
  /* Displacements are found anew in every step and leave no speed: at rest, too, the usual tolerance will do. */
  double tolerance = correction ? work->settings->tolerance : work->stress.tolerance;
  double length = fmax(sqrt(want), RESIDUAL_LEAST / tolerance);
  TRY(grid_list_strips(work->core, work->step->scratch, work->grid, bounds.unknown, false, &problem->unknown));
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
                 .tolerance = tolerance * length,
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

PressureProblem flip_pressure_problem(FlipWork *work, double dt, float *const mobility[3]) {
  double cell = work->grid->cell;
  PressureProblem problem = {.work = work, .mobility = mobility, .dt = dt};
  problem.operator=(PressureOperator){.grid = work->grid,
                                      .mobility = {mobility[0], mobility[1], mobility[2]},
                                      .factor = (float)(dt * dt / (cell * cell))};
  return problem;
}
