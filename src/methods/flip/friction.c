/* Friction: the stress within the yield surface that leaves the least kinetic energy (Eq. 16 to 20, 26).
 *
 * Schemes. box: as printed, |s_ij| <= alpha p. cone: the true Drucker-Prager cone. planes: 728 hyperplanes tangent to
 * it. The unknowns lie at different places (centres and edges), so that a cone is no product of small sets and MPRGP,
 * which knows boxes, cannot be used as it is. All schemes therefore share an accelerated projected gradient method
 * (Nesterov, restarted when it turns back) over all components at once: a step down the gradient, its trace removed,
 * then the radial return of the stress of each cell (edges by the root of their mean square) to the surface, edges by
 * the mean scale of the loaded cells round them, weighted with their loads: a cell at the surface that bears next to
 * nothing must not take the shear from those below. The shear on a wall is returned to Coulomb's disc: the two
 * components in the wall's plane together. It begins with the stresses of the last step; what is at rest stays solved.
 *
 * Departure: the kinetic energy that is minimised is the true one. The paper weighs it with phi, for the sake of the
 * matrix; then phi v is evened out instead of v, and the sand of faces that hold a hundredth is driven to a hundred
 * times the speed of what is beside it. Faces with that little bear no stress here (surface.c), so the matrix is good
 * without the weight. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/stress.h"
#include "methods/flip/stress_kernels.h"

/* Pure shear on the cone: sqrt(3/2) alpha p. */
#define SHEAR_OF_CONE 1.2247449f
#define FILL_TOUCHING 0.9f
/* The matrix has no eigenvalue above this over density and cell^2, shear counted twice. */
#define STRESS_STIFFNESS 12
/* Unknowns at a face, two at the centres and four at the edges, these by half. */
#define FACES_TOUCHED 4
/* The longest step is that of the lightest face times this. */
#define PACE_MOST 20

typedef enum Pass {
  PASS_PACE,
  PASS_PARTS,
  PASS_FORCE,
  PASS_TRIAL,
  PASS_SCALE,
  PASS_RETURN,
  PASS_MEAN,
  PASS_EXCESS
} Pass;

typedef struct Friction {
  FlipWork *work;
  StripList active; /* strips that stress can be in, or touches */
  FaceUpdate update;
  FrictionStep step;
  FrictionPace pace;
  double longer; /* steps are so many times as long, in the mean, as the lightest face allows */
  EdgeMean mean;
  Pass pass;
  float *grip[3];
  uint8_t *walls[3]; /* per strip, a bit per lane: faces of walls */
  uint8_t *walled;
  double (*sums)[FRICTION_SUMS];
  float *excess; /* per chunk */
} Friction;

static void pass_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Friction *f = context;
  const Core *core = f->work->core;
  switch (f->pass) {
  case PASS_PACE: KERNEL_CALL(core, flip_friction_pace)(&f->pace, b, e, f->sums[b / STRIP_CHUNK]); break;
  case PASS_PARTS: KERNEL_CALL(core, flip_friction_parts)(&f->step, b, e); break;
  case PASS_FORCE: KERNEL_CALL(core, flip_face_update)(&f->update, b, e); break;
  case PASS_TRIAL: KERNEL_CALL(core, flip_friction_trial)(&f->step, b, e); break;
  case PASS_SCALE: KERNEL_CALL(core, flip_friction_scale)(&f->step, b, e); break;
  case PASS_EXCESS: f->excess[b / STRIP_CHUNK] = KERNEL_CALL(core, flip_friction_excess)(&f->step, b, e); break;
  case PASS_RETURN: KERNEL_CALL(core, flip_friction_return)(&f->step, b, e, f->sums[b / STRIP_CHUNK]); break;
  case PASS_MEAN: KERNEL_CALL(core, flip_edge_mean)(&f->mean, b, e); break;
  }
}

static void run(Friction *f, Pass pass) {
  f->pass = pass;
  parallel_for(f->work->core, 0, f->active.count, STRIP_CHUNK, pass_chunk, f);
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

/* Where there is friction, and how much at most. */
typedef struct Limits {
  FlipWork *work;
  float *limit;
  uint8_t *loaded; /* per strip, a bit per lane: cells that bear some, or whose edges do */
} Limits;

static void limit_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Limits *to = context;
  const FlipFields *f = &to->work->fields;
  for (int64_t at = b * STRIP; at < e * STRIP; at++) {
    float p = to->work->kept->pressure[at];
    bool touching = f->fill[at] > FILL_TOUCHING * f->free[at] && f->free[at] > 0;
    float most = f->strength[at] * p + (touching ? f->cohesion[at] : 0);
    to->limit[at] = most > 0 && f->usable[at] > 0 ? most : 0;
  }
}

/* What the edges see of the limit of a cell that has none. What of a cell at the surface lies on a pressed cell rests
 * there, and the pressure falls upwards by the weight: it is that of the cell below less the weight of one cell, for
 * then the mean at the edge between the two is that of the true depth. */
static float limit_at_surface(const Limits *to, int32_t at, int axis, bool down) {
  const FlipFields *f = &to->work->fields;
  if (axis < 0 || !(f->fill[at] > 0)) return 0;
  const FlipGrid *grid = to->work->grid;
  int32_t above = cell_above(grid, at, axis), face = down ? at : above,
          under = down ? cell_below(grid, at, axis) : above;
  float gain = f->gain[axis][face];
  if (!(gain > 0) || !(to->limit[under] > 0)) return 0;
  float open = f->open[axis][face], density = open * open / (f->room[1 + axis][face] * gain);
  float weight = (float)(fabs(vec3_get(to->work->state->gravity, axis)) * grid->cell) * density;
  float p = to->work->kept->pressure[under] - weight;
  return p > 0 ? f->strength[at] * p : 0;
}

static bool is_stopped(const FlipWork *work, int32_t at) {
  const FlipFields *f = &work->fields;
  bool stopped = false;
  for (int a = 0; a < 3 && f->near[at / STRIP]; a++)
    stopped = stopped || f->stop[a][at] != 0 || f->stop[a][cell_above(work->grid, at, a)] != 0;
  return stopped;
}

static void borne_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Limits *to = context;
  FlipWork *work = to->work;
  bool down = false;
  int axis = work_downward(work, &down);
  for (int64_t strip = b; strip < e; strip++) {
    uint32_t loaded = 0;
    for (int lane = 0; lane < STRIP; lane++) {
      int32_t at = (int32_t)strip * STRIP + lane;
      float borne = to->limit[at] > 0 ? to->limit[at] : limit_at_surface(to, at, axis, down);
      work->fields.borne[at] = borne;
      loaded |= (borne > 0 || is_stopped(work, at) ? 1u : 0u) << lane;
    }
    to->loaded[strip] = (uint8_t)loaded;
  }
}

/* An edge between cells, and the faces that meet there: two of each of its axes. */
typedef struct EdgeFaces {
  int32_t face[4];
  int axis[4];
} EdgeFaces;

/* A wall bears the pressure of the cell beside it and what it stops of the half cell in between: as much as a cell
 * where the layer is not thicker. */
static float stopped_at(const FlipWork *work, const EdgeFaces *edge) {
  const FlipFields *f = &work->fields;
  float sum = 0, per_area = (float)(0.5 / (work->dt * work->grid->cell * work->grid->cell));
  for (int j = 0; j < 4; j++) {
    int32_t face = edge->face[j];
    int a = edge->axis[j];
    float open = f->open[a][face];
    if (open > 0 && !(f->lightness[a][face] > 0)) return 0;
    if (!(open > 0)) sum += f->mass[a][face] * fabsf(f->stop[a][face]) * per_area;
  }
  return sum;
}

/* The axes of the edges of each shear component. */
static const int EDGE[3][2] = {{0, 1}, {1, 2}, {0, 2}};

static EdgeFaces faces_at_edge(const FlipWork *work, int32_t at, int k) {
  int a = EDGE[k][0], c = EDGE[k][1];
  return (EdgeFaces){{at, cell_below(work->grid, at, c), at, cell_below(work->grid, at, a)}, {a, a, c, c}};
}

/* Of the faces at an edge that lie in walls which sand touches: how many, and the stress across them that friction
 * makes in the cells beside them. */
static int walls_at_edge(const FlipWork *work, const EdgeFaces *edge, float *across) {
  const FlipFields *f = &work->fields;
  int walls = 0;
  *across = 0;
  for (int j = 0; j < 4; j++) {
    int32_t face = edge->face[j], low = cell_below(work->grid, face, edge->axis[j]);
    int a = edge->axis[j];
    if (f->open[a][face] > 0 || f->owner[a][face] < 0) continue;
    for (int side = 0; side < 2; side++) {
      int32_t cell = side ? face : low;
      if (!(f->valid[0][cell / STRIP] >> cell % STRIP & 1)) continue;
      *across += work->kept->stress[a][cell];
      walls++;
    }
  }
  *across /= walls > 0 ? (float)walls : 1;
  return walls;
}

/* Whose wall the edge is at; -1: at none. */
static int16_t wall_at_edge(const FlipWork *work, const EdgeFaces *edge) {
  const FlipFields *f = &work->fields;
  for (int j = 0; j < 4; j++) {
    int16_t owner = f->owner[edge->axis[j]][edge->face[j]];
    if (edge->face[j] >= STRIP && owner >= 0 && f->open[edge->axis[j]][edge->face[j]] < 0.5f) return owner;
  }
  return -1;
}

/* At walls and bodies edges bear what these stop, and no more than their own coefficient of friction allows for all
 * that presses on the wall: the pressure less the frictional stress across it. */
static float limit_at_wall(const FlipWork *work, const EdgeFaces *edge, int16_t owner, float factor, float across,
                           float cap) {
  const FlipFields *f = &work->fields;
  float strength = 0, friction = (float)work->state->solids.items[owner].friction_static;
  for (int j = 0; j < 4 && strength <= 0; j++) strength = f->strength[edge->face[j]];
  if (!(strength > 0)) return cap;
  cap += factor * strength * stopped_at(work, edge);
  return fminf(cap, fmaxf(0, friction * (cap / (factor * strength) - across)));
}

/* Lanes whose faces are of walls, a bit each. */
static void walls_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Friction *f = context;
  const FlipFields *fields = &f->work->fields;
  for (int a = 0; a < 3; a++)
    for (int64_t strip = b; strip < e; strip++) {
      uint32_t bits = 0;
      for (int lane = 0; lane < STRIP && fields->near[strip]; lane++) {
        int64_t at = strip * STRIP + lane;
        bool wall = fields->owner[a][at] >= 0 && fields->open[a][at] < 0.5f;
        bits |= (wall ? 1u : 0u) << lane;
      }
      f->walls[a][strip] = (uint8_t)bits;
    }
}

/* Lanes of a strip whose edges (a, c) are at walls: those whose faces are, or the ones below them. */
static uint32_t edges_at_walls(const Friction *f, int32_t strip, int a, int c) {
  const int32_t *near = f->work->grid->near[strip];
  uint32_t low =
      a > 0 ? f->walls[c][near[2 * a]] : (uint32_t)f->walls[c][strip] << 1 | f->walls[c][near[X_LOW]] >> (STRIP - 1);
  return f->walls[a][strip] | f->walls[a][near[2 * c]] | f->walls[c][strip] | low;
}

/* At walls it is the law of the wall that holds, by its own pressure: such edges count for the yield surface of no
 * cell.
 */
static void cap_at_wall(Friction *f, int32_t at, int k) {
  FlipWork *work = f->work;
  EdgeFaces edge = faces_at_edge(work, at, k);
  int16_t owner = wall_at_edge(work, &edge);
  if (owner < 0) return;
  float *cap = &f->mean.out[k][at], across = 0;
  int walls = walls_at_edge(work, &edge, &across);
  *cap = limit_at_wall(work, &edge, owner, f->mean.factor, across, *cap);
  f->mean.per[k][at] = f->mean.share[k][at] = 0;
  if (walls == 0 || !(*cap > CAP_LEAST)) return;
  f->grip[k][at] = 1 / (*cap * *cap);
  f->walled[at / STRIP] |= (uint8_t)(1u << k);
}

/* What edges bear. */
static void cap_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Friction *f = context;
  for (int64_t n = b; n < e; n++) {
    int32_t strip = f->active.strips[n];
    f->walled[strip] = 0;
    for (int k = 0; k < 3; k++) {
      uint32_t walls = edges_at_walls(f, strip, EDGE[k][0], EDGE[k][1]) & ((1u << STRIP) - 1);
      for (; walls; walls &= walls - 1) cap_at_wall(f, strip * STRIP + __builtin_ctz(walls), k);
    }
  }
}

static void clear_strip(float *field, int64_t strip) { memset(field + strip * STRIP, 0, sizeof(float) * STRIP); }

/* Outside the active strips there is no stress, and the flux stays as it is. Inside, passes fill what they read. */
static void begin_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Friction *f = context;
  size_t size = sizeof(float) * STRIP;
  for (int64_t strip = b; strip < e; strip++) {
    int64_t at = strip * STRIP;
    for (int a = 0; a < 3; a++) {
      for (int lane = 0; lane < STRIP; lane++) f->step.slip[a][at + lane] = 1;
      clear_strip(f->grip[a], strip);
    }
    for (int k = 0; k < STRESSES && f->active.taken[strip]; k++) memcpy(f->step.y[k] + at, f->step.x[k] + at, size);
    if (f->active.taken[strip]) continue;
    for (int k = 0; k < STRESSES; k++) {
      clear_strip(f->step.x[k], strip);
      clear_strip(f->step.y[k], strip);
      clear_strip(f->step.trial[k], strip);
    }
    for (int a = 0; a < 3; a++) {
      clear_strip(f->mean.per[a], strip);
      memcpy(f->update.out[a] + at, f->update.in[a] + at, size);
    }
    clear_strip(f->step.scale, strip);
    clear_strip(f->pace.pace, strip);
  }
}

static Status take(FlipWork *work, Friction *f, float *const flux[3]) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int64_t cells = work_cells(work);
  Limits limits = {.work = work};
  TRY(scratch_take(core, scratch, &limits.limit, cells, "friction"));
  memset(limits.limit, 0, sizeof(float) * STRIP);
  TRY(scratch_take(core, scratch, &limits.loaded, work->grid->strips, "friction"));
  limits.loaded[0] = 0;
  parallel_for(core, 1, work->grid->strips, STRIP_CHUNK, limit_chunk, &limits);
  parallel_for(core, 1, work->grid->strips, STRIP_CHUNK, borne_chunk, &limits);
  TRY(flip_list_strips(work, limits.loaded, true, &f->active));
  TRY(scratch_take(core, scratch, &f->step.scale, cells, "friction"));
  TRY(scratch_take(core, scratch, &f->pace.pace, cells, "friction"));
  f->step.limit = f->mean.load = limits.limit;
  f->mean.field = work->fields.borne;
  for (int k = 0; k < STRESSES; k++) {
    f->step.x[k] = work->kept->stress[k];
    TRY(scratch_take(core, scratch, &f->step.y[k], cells, "friction"));
    TRY(scratch_take(core, scratch, &f->step.trial[k], cells, "friction"));
    f->update.s[k] = f->step.y[k];
  }
  for (int k = 0; k < 3; k++) {
    TRY(scratch_take(core, scratch, &f->mean.out[k], cells, "friction"));
    TRY(scratch_take(core, scratch, &f->mean.per[k], cells, "friction"));
    TRY(scratch_take(core, scratch, &f->grip[k], cells, "friction"));
    TRY(scratch_take(core, scratch, &f->step.slip[k], cells, "friction"));
    TRY(scratch_take(core, scratch, &f->mean.share[k], cells, "friction"));
    TRY(scratch_take(core, scratch, &f->step.part[k], cells, "friction"));
    TRY(scratch_take(core, scratch, &f->update.out[k], cells, "friction"));
    f->step.cap[k] = f->mean.out[k];
    f->step.per[k] = f->mean.per[k];
    f->step.grip[k] = f->grip[k];
    f->step.share[k] = f->mean.share[k];
    f->step.flux[k] = f->update.out[k];
    f->update.in[k] = flux[k];
    f->update.gain[k] = work->fields.ease[k];
    f->mean.lightness[k] = work->fields.lightness[k];
    f->mean.open[k] = work->fields.open[k];
  }
  parallel_for(core, 0, work->grid->strips, STRIP_CHUNK, begin_chunk, f);
  f->update.grid = f->step.grid = f->mean.grid = work->grid;
  f->update.strips = f->step.strips = f->mean.strips = f->active.strips;
  f->mean.free = work->fields.free;
  TRY(scratch_take(core, scratch, &f->walled, work->grid->strips, "friction"));
  for (int a = 0; a < 3; a++) TRY(scratch_take(core, scratch, &f->walls[a], work->grid->strips, "friction"));
  parallel_for(core, 0, work->grid->strips, STRIP_CHUNK, walls_chunk, f);
  f->step.walled = f->walled;
  f->mean.factor = work->settings->scheme == SCREE_YIELD_BOX ? 1 : SHEAR_OF_CONE;
  run(f, PASS_MEAN);
  parallel_for(core, 0, f->active.count, STRIP_CHUNK, cap_chunk, f);
  TRY(scratch_take(core, scratch, &f->excess, f->active.count / STRIP_CHUNK + 1, "sums"));
  return scratch_take(core, scratch, &f->sums, f->active.count / STRIP_CHUNK + 1, "sums");
}

/* The cells beside a body's faces feel all of these. */
static Status slow_at_bodies(FlipWork *work, const Friction *f) {
  int16_t *slowed = NULL; /* by which body last */
  TRY(scratch_take(work->core, work->step->scratch, &slowed, work_cells(work), "friction"));
  memset(slowed, 0xff, sizeof *slowed * (size_t)work_cells(work));
  for (int64_t k = 0; k < 2 * work->face_count; k++) {
    const CoupledFace *face = &work->faces[k / 2];
    int32_t cell = k % 2 ? face->low : face->face;
    float *pace = &f->pace.pace[cell],
          norm = (float)(FACES_TOUCHED * work->dt * work->dt * work->body_norm[face->body]);
    if (slowed[cell] == face->body || !(*pace > 0)) continue;
    slowed[cell] = face->body;
    *pace = f->pace.factor / (f->pace.factor / *pace + norm);
  }
  return SCREE_OK;
}

/* How far each step goes down the gradient. One length for all would be that of the lightest face, a fifth full at the
 * surface: a fifth of what the sand below allows. Cells and edges therefore have their own, by the faces round them,
 * and what bodies add counts at their faces alone. Sand must flow along its stress all the same: a cell on the cone has
 * a rate of yielding (scale = 1 / (1 + rate pace) at its centre), and the edges round it yield at that rate. */
static Status find_pace(FlipWork *work, Friction *f, double largest) {
  double dt = work->dt, cell = work->grid->cell;
  f->step.pace = f->pace.pace;
  f->pace.grid = work->grid;
  f->pace.strips = f->active.strips;
  for (int a = 0; a < 3; a++) f->pace.ease[a] = work->fields.ease[a];
  f->pace.least = (float)(largest / PACE_MOST);
  f->pace.stiffness = (float)(STRESS_STIFFNESS * dt * dt / (cell * cell));
  f->pace.factor = (float)(dt / cell);
  f->pace.limit = f->step.limit;
  run(f, PASS_PACE);
  double total = 0, count = 0;
  for (int64_t c = 0; c < parallel_chunks(0, f->active.count, STRIP_CHUNK); c++) {
    total += f->sums[c][PACE_TOTAL];
    count += f->sums[c][PACE_COUNT];
  }
  f->longer = count > 0 ? total / count * (double)f->pace.stiffness * largest / (double)f->pace.factor : 1;
  return work->face_count > 0 ? slow_at_bodies(work, f) : SCREE_OK;
}

/* The mean scales that let the iteration converge leave some cells a little outside the yield surface: the result is
 * brought inside, cell by cell and edge by edge, and measured. Where that takes away a cell's diagonal rather than the
 * shear that carries the slope above, sand at rest stays so. */
static void make_strict(Friction *f) {
  FlipWork *work = f->work;
  if (f->step.scheme != SCREE_YIELD_BOX) {
    f->step.strict = true;
    memcpy(f->step.trial, f->step.x, sizeof f->step.x);
    run(f, PASS_SCALE);
    run(f, PASS_RETURN);
  }
  run(f, PASS_EXCESS);
  int64_t chunks = parallel_chunks(0, f->active.count, STRIP_CHUNK);
  for (int64_t c = 0; c < chunks; c++)
    work->report.friction.violation = fmax(work->report.friction.violation, (double)f->excess[c] - 1);
}

static Status minimize(FlipWork *work, float *const flux[3], bool last) {
  Friction f = {.work = work};
  TRY(take(work, &f, flux));
  double dt = work->dt, largest = flip_largest_of(work, work->fields.ease);
  work->report.friction.solves++;
  if (!(largest > 0)) return SCREE_OK;
  TRY(find_pace(work, &f, largest));
  run(&f, PASS_PARTS);
  f.update.factor_s = f.pace.factor;
  f.step.scheme = work->settings->scheme;
  /* The pressure that bounds it is not yet the last one in all rounds but the last: half of the steps will do there. */
  double t = 1, change = 0, enough = work->tolerance * (last ? 0.1 : 1) * f.longer;
  int most = last ? work->settings->friction_steps : (work->settings->friction_steps + 1) / 2;
  for (int step = 0; step < most; step++) {
    double next = 0.5 * (1 + sqrt(1 + 4 * t * t)), total[FRICTION_SUMS] = {0};
    f.step.momentum = (float)((t - 1) / next);
    int64_t chunks = parallel_chunks(0, f.active.count, STRIP_CHUNK);
    memset(f.sums, 0, sizeof *f.sums * (size_t)chunks);
    run(&f, PASS_FORCE);
    if (work->face_count > 0) {
      /* dt^2 J2^T M^-1 J2 of Eq. 26, into the flux. */
      flip_change_bodies(work, NULL, f.step.y, dt);
      flip_add_bodies(work, f.update.out);
    }
    run(&f, PASS_TRIAL);
    if (f.step.scheme != SCREE_YIELD_BOX) run(&f, PASS_SCALE);
    run(&f, PASS_RETURN);
    for (int64_t c = 0; c < chunks; c++)
      for (int k = 0; k < FRICTION_SUMS; k++) total[k] += f.sums[c][k];
    t = total[FRICTION_TURNED] > 0 ? 1 : next;
    work->report.friction.steps++;
    change = total[FRICTION_SIZE] > 0 ? sqrt(total[FRICTION_MOVED] / total[FRICTION_SIZE]) : 0;
    if (change < enough) break;
  }
  work->report.friction.residual = fmax(work->report.friction.residual, change);
  make_strict(&f);
  return SCREE_OK;
}

Status flip_solve_friction(FlipWork *work, float *const flux[3], bool last) {
  int mark = scratch_mark(work->step->scratch);
  Status status = minimize(work, flux, last);
  scratch_release(work->core, work->step->scratch, mark);
  return status;
}
