/* Friction: the stress within the yield surface that leaves the least kinetic energy (Eq. 16 to 20, 26).
 *
 * Schemes. box: as printed, |s_ij| <= alpha p. cone: the true Drucker-Prager cone. planes: 728 hyperplanes tangent to
 * it. The unknowns lie at different places (centres and edges), so that a cone is no product of small sets and MPRGP,
 * which knows boxes, cannot be used as it is. All schemes therefore share an accelerated projected gradient method
 * (Nesterov, restarted when it turns back) over all components at once: a step down the gradient, its trace removed,
 * then the radial return of the stress of each cell (edges by the root of their mean square) to the surface, edges by
 * the mean scale of the loaded cells round them. It begins with the stresses of the last step; what is at rest stays
 * solved. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/stress.h"
#include "methods/flip/stress_kernels.h"

/* Pure shear on the cone: sqrt(3/2) alpha p. */
#define SHEAR_OF_CONE 1.2247449f
#define FILL_TOUCHING 0.9f
#define CAP_LEAST 1e-12f /* Pa: less is none, its square would not be a number */

typedef enum Pass { PASS_FORCE, PASS_TRIAL, PASS_SCALE, PASS_RETURN, PASS_MEAN, PASS_EXCESS } Pass;

typedef struct Friction {
  FlipWork *work;
  FaceUpdate update;
  FrictionStep step;
  EdgeMean mean;
  Pass pass;
  double (*sums)[FRICTION_SUMS];
  float *excess; /* per chunk */
} Friction;

static void pass_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Friction *f = context;
  const Core *core = f->work->core;
  switch (f->pass) {
  case PASS_FORCE: KERNEL_CALL(core, flip_face_update)(&f->update, b, e); break;
  case PASS_TRIAL: KERNEL_CALL(core, flip_friction_trial)(&f->step, b, e); break;
  case PASS_SCALE: KERNEL_CALL(core, flip_friction_scale)(&f->step, b, e); break;
  case PASS_EXCESS: f->excess[(b - 1) / STRIP_CHUNK] = KERNEL_CALL(core, flip_friction_excess)(&f->step, b, e); break;
  case PASS_RETURN: KERNEL_CALL(core, flip_friction_return)(&f->step, b, e, f->sums[(b - 1) / STRIP_CHUNK]); break;
  case PASS_MEAN: KERNEL_CALL(core, flip_edge_mean)(&f->mean, b, e); break;
  }
}

static void run(Friction *f, Pass pass) {
  f->pass = pass;
  parallel_for(f->work->core, 1, f->work->grid->strips, STRIP_CHUNK, pass_chunk, f);
}

double flip_stress_force(const FlipWork *work, float *const s[STRESSES], int32_t face, int axis) {
  static const int shear[3][2] = {{S_XY, S_XZ}, {S_XY, S_YZ}, {S_XZ, S_YZ}};
  static const int along[3][2] = {{1, 2}, {0, 2}, {0, 1}};
  const FlipGrid *grid = work->grid;
  double sum = (double)s[axis][face] - (double)s[axis][cell_below(grid, face, axis)];
  for (int k = 0; k < 2; k++)
    sum += (double)s[shear[axis][k]][cell_above(grid, face, along[axis][k])] - (double)s[shear[axis][k]][face];
  return sum;
}

/* dt^2 J2^T M^-1 J2 of Eq. 26, into the flux. */
static void push_bodies(Friction *f) {
  FlipWork *work = f->work;
  double cell = work->grid->cell;
  memset(work->body_wrench, 0, sizeof *work->body_wrench * (size_t)work->body_count);
  for (int64_t k = 0; k < work->face_count; k++) {
    const CoupledFace *face = &work->faces[k];
    double force = flip_stress_force(work, f->step.y, face->face, face->axis);
    if (force != 0) coupled_push(face, force * cell * cell * (double)face->share, work->body_wrench[face->body]);
  }
  flip_bodies_change(work, work->dt);
  for (int64_t k = 0; k < work->face_count; k++) {
    const CoupledFace *face = &work->faces[k];
    f->update.out[face->axis][face->face] +=
        (float)((double)face->share * coupled_speed(face, work->body_change[face->body]));
  }
}

/* At least the largest eigenvalue of A2. */
static double norm_of(const FlipWork *work) {
  float largest = 0;
  int64_t cells = work_cells(work);
  for (int a = 0; a < 3; a++)
    for (int64_t at = 0; at < cells; at++)
      largest = work->fields.gain[a][at] > largest ? work->fields.gain[a][at] : largest;
  double cell = work->grid->cell, dt = work->dt, norm = 18 * dt * dt / (cell * cell) * (double)largest;
  for (int64_t k = 0; k < work->face_count; k++) {
    const CoupledFace *face = &work->faces[k];
    double unit[6] = {0}, sum = 0;
    coupled_push(face, 1, unit);
    for (int r = 0; r < 6; r++)
      for (int c = 0; c < 6; c++) sum += unit[r] * work->bodies[face->body].inverse[r][c] * unit[c];
    norm += 6 * dt * dt * cell * (double)(face->share * face->share) * sum;
  }
  return norm;
}

static void limits(FlipWork *work, float *limit) {
  const FlipFields *f = &work->fields;
  int64_t cells = work_cells(work);
  for (int64_t at = 0; at < cells; at++) {
    float p = work->kept->pressure[at];
    bool touching = f->fill[at] > FILL_TOUCHING * f->free[at] && f->free[at] > 0;
    float most = f->strength[at] * p + (touching ? f->cohesion[at] : 0);
    limit[at] = most > 0 && at >= STRIP && f->usable[at] > 0 ? most : 0;
  }
}

/* A wall's or body's own coefficient limits the shear stress at it. */
static void limit_at_walls(FlipWork *work, float *const cap[3], float factor) {
  static const int axes[3][2] = {{0, 1}, {1, 2}, {0, 2}};
  const FlipFields *f = &work->fields;
  for (int64_t strip = 1; strip < work->grid->strips; strip++) {
    if (!f->near[strip]) continue;
    for (int32_t at = (int32_t)strip * STRIP; at < ((int32_t)strip + 1) * STRIP; at++)
      for (int k = 0; k < 3; k++) {
        if (!(cap[k][at] > 0)) continue;
        int a = axes[k][0], c = axes[k][1];
        const int32_t faces[4] = {at, cell_below(work->grid, at, c), at, cell_below(work->grid, at, a)};
        float strength = f->strength[at];
        for (int j = 0; j < 4; j++) {
          int axis = j < 2 ? a : c;
          int16_t owner = f->owner[axis][faces[j]];
          if (strength <= 0) strength = f->strength[faces[j]];
          if (faces[j] < STRIP || owner < 0 || !(f->open[axis][faces[j]] < 0.5f)) continue;
          float friction = (float)work->state->solids.items[owner].friction_static;
          if (friction < factor * strength) cap[k][at] *= friction / (factor * strength);
          break;
        }
      }
  }
}

static Status take(FlipWork *work, Friction *f, float *const flux[3]) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int64_t cells = work_cells(work);
  float *limit = NULL, *cap[3];
  TRY(scratch_take(core, scratch, &limit, cells, "friction"));
  TRY(scratch_take(core, scratch, &f->step.scale, cells, "friction"));
  TRY(scratch_take(core, scratch, &f->step.weight, cells, "friction"));
  f->step.limit = limit;
  for (int k = 0; k < STRESSES; k++) {
    f->step.x[k] = work->kept->stress[k];
    TRY(scratch_take(core, scratch, &f->step.y[k], cells, "friction"));
    TRY(scratch_take(core, scratch, &f->step.trial[k], cells, "friction"));
    memcpy(f->step.y[k], f->step.x[k], sizeof(float) * (size_t)cells);
    memset(f->step.trial[k], 0, sizeof(float) * STRIP);
    f->update.s[k] = f->step.y[k];
  }
  for (int k = 0; k < 3; k++) {
    TRY(scratch_take(core, scratch, &cap[k], cells, "friction"));
    TRY(scratch_take(core, scratch, &f->update.out[k], cells, "friction"));
    memset(cap[k], 0, sizeof(float) * STRIP);
    memset(f->update.out[k], 0, sizeof(float) * STRIP);
    f->mean.out[k] = cap[k];
    f->step.cap[k] = cap[k];
    f->step.flux[k] = f->update.out[k];
    f->update.in[k] = flux[k];
    f->update.gain[k] = work->fields.gain[k];
  }
  memset(f->step.scale, 0, sizeof(float) * STRIP);
  memset(f->step.weight, 0, sizeof(float) * STRIP);
  limits(work, limit);
  f->update.grid = f->step.grid = f->mean.grid = work->grid;
  f->mean.field = limit;
  f->mean.free = work->fields.free;
  for (int a = 0; a < 3; a++) {
    f->mean.lightness[a] = work->fields.lightness[a];
    f->mean.open[a] = work->fields.open[a];
  }
  f->mean.factor = work->settings->scheme == SCREE_YIELD_BOX ? 1 : SHEAR_OF_CONE;
  run(f, PASS_MEAN);
  limit_at_walls(work, cap, f->mean.factor);
  for (int k = 0; k < 3; k++) {
    float *per = NULL;
    TRY(scratch_take(core, scratch, &per, cells, "friction"));
    for (int64_t at = 0; at < cells; at++) {
      float inverse = cap[k][at] > CAP_LEAST ? 1 / cap[k][at] : 0;
      per[at] = inverse * inverse;
    }
    f->step.per[k] = per;
  }
  TRY(scratch_take(core, scratch, &f->excess, work->grid->strips / STRIP_CHUNK + 2, "sums"));
  return scratch_take(core, scratch, &f->sums, work->grid->strips / STRIP_CHUNK + 2, "sums");
}

/* The mean scales that let the iteration converge leave some cells a little outside the yield surface: the result is
 * brought inside, cell by cell and edge by edge, and measured. */
static void make_strict(Friction *f) {
  FlipWork *work = f->work;
  if (f->step.scheme != SCREE_YIELD_BOX) {
    for (int k = 0; k < STRESSES; k++) memcpy(f->step.trial[k], f->step.x[k], sizeof(float) * (size_t)work_cells(work));
    f->step.strict = true;
    run(f, PASS_SCALE);
    run(f, PASS_RETURN);
  }
  run(f, PASS_EXCESS);
  int64_t chunks = parallel_chunks(1, work->grid->strips, STRIP_CHUNK);
  for (int64_t c = 0; c < chunks; c++)
    work->report.friction.violation = fmax(work->report.friction.violation, (double)f->excess[c] - 1);
}

static Status minimize(FlipWork *work, float *const flux[3]) {
  Friction f = {.work = work};
  TRY(take(work, &f, flux));
  double cell = work->grid->cell, dt = work->dt, norm = norm_of(work);
  work->report.friction.solves++;
  if (!(norm > 0)) return SCREE_OK;
  f.update.factor_s = (float)(dt / cell);
  f.step.scheme = work->settings->scheme;
  f.step.factor = (float)(dt / cell / norm);
  double t = 1, change = 0;
  for (int step = 0; step < work->settings->friction_steps; step++) {
    double next = 0.5 * (1 + sqrt(1 + 4 * t * t)), total[FRICTION_SUMS] = {0};
    f.step.momentum = (float)((t - 1) / next);
    int64_t chunks = parallel_chunks(1, work->grid->strips, STRIP_CHUNK);
    memset(f.sums, 0, sizeof *f.sums * (size_t)chunks);
    run(&f, PASS_FORCE);
    if (work->face_count > 0) push_bodies(&f);
    run(&f, PASS_TRIAL);
    if (f.step.scheme != SCREE_YIELD_BOX) run(&f, PASS_SCALE);
    run(&f, PASS_RETURN);
    for (int64_t c = 0; c < chunks; c++)
      for (int k = 0; k < FRICTION_SUMS; k++) total[k] += f.sums[c][k];
    t = total[FRICTION_TURNED] > 0 ? 1 : next;
    work->report.friction.steps++;
    change = total[FRICTION_SIZE] > 0 ? sqrt(total[FRICTION_MOVED] / total[FRICTION_SIZE]) : 0;
    if (change < work->tolerance * 0.1) break;
  }
  work->report.friction.residual = fmax(work->report.friction.residual, change);
  make_strict(&f);
  return SCREE_OK;
}

Status flip_solve_friction(FlipWork *work, float *const flux[3]) {
  int mark = scratch_mark(work->step->scratch);
  Status status = minimize(work, flux);
  scratch_release(work->core, work->step->scratch, mark);
  return status;
}
