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
 * times the speed of what is beside it. Faces with that little bear no stress here (transfer/bearing_faces.c), so the
 * matrix is good without the weight.
 *
 * The strips that may bear some stress are numbered anew and packed, with all that the solve needs of them; a step is
 * one sweep over these, see friction_kernels.h. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/solids/solids.h"
#include "methods/flip/stress/friction_law.h"
#include "methods/flip/stress/stress.h"
#include "methods/flip/stress/yield_limits_kernels.h"

/* The matrix has no eigenvalue above this over density and cell^2, shear counted twice. */
#define STRESS_STIFFNESS 12
/* Unknowns at a face, two at the centres and four at the edges, these by half. */
#define FACES_TOUCHED 4
/* The longest step is that of the lightest face times this. */
#define STEP_MOST 20
/* A sweep computes about one slice more than its block has: blocks have at least so many, and twice as many blocks as
 * threads, so that who is quicker does more, are made of more. */
enum { BLOCK_LEAST = 4, BLOCK_THICK = 24 };
/* Slices of more strips are swept in bands, of so many rows at least. */
enum { BAND_STRIPS = 200, BAND_ROWS = 24 };

typedef struct Friction {
  FlipWork *work;
  FrictionBounds bounds;
  FrictionSweep sweep;
  int32_t count;   /* numbers of strips: 0, which is empty, and those that may bear stress */
  int32_t *strips; /* on the grid */
  int32_t *number; /* of the strips of the grid; 0: has none */
  FaceGroup *groups;
  int64_t group_count;
  int32_t *slice; /* number of the first strip of each, and one behind the last */
  FrictionBlock *block;
  int64_t blocks;
  FrictionSlot *slots; /* per thread */
  int64_t slots_each;
  int32_t thickest;                 /* slice, in strips */
  double (*strip_sums)[STRIP_SUMS]; /* per chunk */
  int32_t wall_count, *first_wall;  /* strips at walls: numbers, with 0; the first of each chunk */
  float *excess;                    /* per block */
  double longer;                    /* steps are so many times as long, in the mean, as the lightest face allows */
} Friction;

/* ---- where there is friction, and how much at most ---- */

/* Whether a wall stands across a face: it leaves less of the face free than of the cells beside it. A wall along the
 * axis narrows faces and cells alike. */
static bool stands_across(const FrictionBounds *bounds, int64_t face, int axis) {
  const float *free = bounds->fields->solid.free_volume;
  float beside = fmaxf(free[face], free[cell_below(bounds->grid, (int32_t)face, axis)]);
  return bounds->fields->solid.open[axis][face] < WALL_STANDS_ACROSS * beside;
}

/* Faces at walls, and in them: a bit per lane. */
static void walls_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const FrictionBounds *bounds = context;
  const FlipFields *fields = bounds->fields;
  for (int64_t strip = b; strip < e; strip++)
    for (int a = 0; a < 3; a++) {
      uint32_t walls = 0, across = 0, closed = 0;
      for (int lane = 0; lane < STRIP && fields->solid.near[strip]; lane++) {
        int64_t at = strip * STRIP + lane;
        bool owned = fields->solid.owner[a][at] >= 0;
        walls |= (owned && fields->solid.open[a][at] < WALL_NARROWS ? 1u : 0u) << lane;
        across |= (owned && stands_across(bounds, at, a) ? 1u : 0u) << lane;
        closed |= (owned && !(fields->solid.open[a][at] > 0) ? 1u : 0u) << lane;
      }
      bounds->walls[a][strip] = (uint8_t)walls;
      bounds->across[a][strip] = (uint8_t)across;
      bounds->closed[a][strip] = (uint8_t)closed;
    }
}

static void cells_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Friction *f = context;
  KERNEL_CALL(f->work->core, flip_limit_cells)(&f->bounds, b, e);
  walls_chunk(&f->bounds, b, e, thread);
}

static void surface_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Friction *f = context;
  KERNEL_CALL(f->work->core, flip_limit_surface)(&f->bounds, b, e);
}

static Status bound_cells(FlipWork *work, Friction *f) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  FrictionBounds *bounds = &f->bounds;
  int64_t strips = work->grid->strips;
  const Solids *solids = &work->state->solids;
  double cell = work->grid->cell;
  float *friction = NULL;
  bounds->grid = work->grid;
  bounds->fields = &work->fields;
  bounds->kept = work->kept;
  bounds->axis = work_downward(work, &bounds->down);
  if (bounds->axis >= 0) bounds->gravity = (float)(fabs(vec3_get(work->state->gravity, bounds->axis)) * cell);
  bounds->per_area = (float)(0.5 / (work->dt * cell * cell));
  bounds->shear_factor = work->settings->scheme == SCREE_YIELD_BOX ? 1 : CONE_SHEAR;
  TRY(scratch_take(core, scratch, &friction, solids->count + 1, "friction"));
  for (int32_t k = 0; k < solids->count; k++) friction[k] = (float)solids->items[k].friction_static;
  bounds->friction = friction;
  bounds->solids = work->solids.strips;
  TRY(scratch_take(core, scratch, &bounds->limit, work_cells(work), "friction"));
  memset(bounds->limit, 0, sizeof(float) * STRIP);
  TRY(scratch_take(core, scratch, &bounds->loaded, strips, "friction"));
  bounds->loaded[0] = 0;
  for (int a = 0; a < 3; a++) {
    TRY(scratch_take(core, scratch, &bounds->walls[a], strips, "friction"));
    TRY(scratch_take(core, scratch, &bounds->across[a], strips, "friction"));
    TRY(scratch_take(core, scratch, &bounds->closed[a], strips, "friction"));
    bounds->walls[a][0] = bounds->across[a][0] = bounds->closed[a][0] = 0;
  }
  parallel_for(core, 1, strips, STRIP_CHUNK, cells_chunk, f);
  parallel_for(core, 1, strips, STRIP_CHUNK, surface_chunk, f);
  return SCREE_OK;
}

/* ---- the strips of the solve ---- */

static uint64_t slice_of(const FlipGrid *grid, int32_t strip) { return grid->key[strip] >> (2 * GRID_BITS); }

/* Slices of the list, whose strips have the numbers from 1 on: the first of each, and one behind the last. */
static int64_t cut_slices(const FlipGrid *grid, const StripList *list, int32_t *slice) {
  int64_t slices = 0;
  for (int64_t k = 0; k < list->count; k++)
    if (k == 0 || slice_of(grid, list->strips[k]) != slice_of(grid, list->strips[k - 1]))
      slice[slices++] = (int32_t)k + 1;
  slice[slices] = (int32_t)list->count + 1;
  return slices;
}

/* Numbers and slots in the order of the grid. */
static Status number_strips(FlipWork *work, Friction *f) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  StripList list = {0};
  int32_t *slice = NULL, *slot = NULL, most = 0;
  TRY(grid_list_strips(work->core, work->step->scratch, work->grid, f->bounds.loaded, true, &list));
  f->count = (int32_t)list.count + 1;
  TRY(scratch_take(core, scratch, &slice, f->count, "friction"));
  TRY(scratch_take(core, scratch, &slot, f->count, "friction"));
  TRY(scratch_take(core, scratch, &f->strips, f->count, "friction"));
  TRY(scratch_take(core, scratch, &f->number, work->grid->strips, "friction"));
  memset(f->number, 0, sizeof *f->number * (size_t)work->grid->strips);
  int64_t slices = cut_slices(work->grid, &list, slice);
  for (int64_t at = 0; at < slices; at++) most = slice[at + 1] - slice[at] > most ? slice[at + 1] - slice[at] : most;
  f->strips[0] = slot[0] = 0;
  for (int64_t at = 0; at < slices; at++)
    for (int32_t n = slice[at]; n < slice[at + 1]; n++) {
      f->strips[n] = list.strips[n - 1];
      f->number[f->strips[n]] = n;
      slot[n] = (1 + (int32_t)(at % SWEEP_DEPTH) * most + n - slice[at]) * SLOT_REGISTERS;
    }
  f->bounds.slot = slot;
  f->slice = slice;
  f->sweep.slices = (int32_t)slices;
  f->thickest = most;
  f->slots_each = 1 + SWEEP_DEPTH * most;
  return scratch_take(core, scratch, &f->slots, f->slots_each * pool_threads(core->pool), "friction");
}

static void strips_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Friction *f = context;
  KERNEL_CALL(f->work->core, flip_limit_strips)(&f->bounds, b, e, f->strip_sums[b / STRIP_CHUNK]);
}

/* Strip 0, which stands for all that take no part, bears nothing. */
static Status take_strips(FlipWork *work, Friction *f) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  FrictionStrips *to = &f->sweep.strips;
  for (int k = 0; k < 2; k++) {
    TRY(scratch_take(core, scratch, &to->y[k], f->count, "friction"));
    memset(to->y[k], 0, sizeof *to->y[k]);
  }
  TRY(scratch_take(core, scratch, &to->x, f->count, "friction"));
  TRY(scratch_take(core, scratch, &to->faces, f->count, "friction"));
  TRY(scratch_take(core, scratch, &to->steps, f->count, "friction"));
  TRY(scratch_take(core, scratch, &to->returns, f->count, "friction"));
  TRY(scratch_take(core, scratch, &to->parts, f->count, "friction"));
  TRY(scratch_take(core, scratch, &to->wall_weight, f->count, "friction"));
  TRY(scratch_take(core, scratch, &to->tilts, f->count, "friction"));
  TRY(scratch_take(core, scratch, &f->sweep.links, f->count, "friction"));
  memset(to->steps, 0, sizeof *to->steps);
  memset(to->wall_weight, 0, sizeof *to->wall_weight);
  for (int k = 0; k < 3 * STRIP; k++) to->parts[0][k / STRIP][k % STRIP] = 0.25f;
  memset(f->sweep.links, 0, sizeof *f->sweep.links);
  f->bounds.to = *to;
  f->bounds.links = f->sweep.links;
  return scratch_take(core, scratch, &f->strip_sums, f->count / STRIP_CHUNK + 1, "sums");
}

/* How far each step goes down the gradient. One length for all would be that of the lightest face, a fifth full at the
 * surface: a fifth of what the sand below allows. Cells and edges therefore have their own, by the faces round them,
 * and what bodies add counts at their faces alone. Sand must flow along its stress all the same: a cell on the cone has
 * a rate of yielding (scale = 1 / (1 + rate step) at its centre), and the edges round it yield at that rate. */
static Status pack_strips(FlipWork *work, Friction *f, float *const flux[3], double largest) {
  FrictionBounds *bounds = &f->bounds;
  double dt = work->dt, cell = work->grid->cell;
  TRY(take_strips(work, f));
  for (int a = 0; a < 3; a++) bounds->flux[a] = flux[a];
  bounds->strips = f->strips;
  bounds->number = f->number;
  bounds->least_mobility = (float)(largest / STEP_MOST);
  bounds->stiffness = (float)(STRESS_STIFFNESS * dt * dt / (cell * cell));
  bounds->step_factor = f->sweep.factor = (float)(dt / cell);
  parallel_for(work->core, 1, f->count, STRIP_CHUNK, strips_chunk, f);
  double total = 0, count = 0;
  for (int64_t c = 0; c < parallel_chunks(1, f->count, STRIP_CHUNK); c++) {
    total += f->strip_sums[c][STEP_TOTAL];
    count += f->strip_sums[c][STEP_COUNT];
  }
  f->longer = count > 0 ? total / count * (double)bounds->stiffness * largest / (double)bounds->step_factor : 1;
  return SCREE_OK;
}

/* ---- walls ---- */

static void walls_of_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Friction *f = context;
  KERNEL_CALL(f->work->core, flip_friction_walls)(&f->sweep, b, e);
}

/* Strips at walls have numbers of their own: chunk by chunk, by how many of them each has. */
static Status number_walls(FlipWork *work, Friction *f) {
  int64_t chunks = parallel_chunks(1, f->count, STRIP_CHUNK);
  f->wall_count = 1;
  TRY(scratch_take(work->core, work->step->scratch, &f->first_wall, chunks + 1, "friction"));
  for (int64_t c = 0; c < chunks; c++) {
    f->first_wall[c] = f->wall_count;
    f->wall_count += (int32_t)f->strip_sums[c][STRIPS_WALLED];
  }
  return scratch_take(work->core, work->step->scratch, &f->sweep.walls, f->wall_count, "friction");
}

static void parts_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Friction *f = context;
  int32_t wall = f->first_wall[b / STRIP_CHUNK];
  KERNEL_CALL(f->work->core, flip_friction_parts)(&f->sweep, b, e);
  for (int32_t n = (int32_t)b; n < (int32_t)e; n++) {
    if (!f->sweep.links[n].walled) continue;
    f->sweep.walls[wall].strip = n;
    f->sweep.links[n].wall = wall++;
  }
}

/* ---- bodies ---- */

/* The cells beside a body's faces feel all of these. */
static Status shorten_at_bodies(FlipWork *work, const Friction *f) {
  int16_t *shortened = NULL; /* by which body last */
  float factor = f->bounds.step_factor;
  TRY(scratch_take(work->core, work->step->scratch, &shortened, work_cells(work), "friction"));
  memset(shortened, 0xff, sizeof *shortened * (size_t)work_cells(work));
  for (int64_t k = 0; k < 2 * work->solids.face_count; k++) {
    const CoupledFace *face = &work->solids.faces[k / 2];
    int32_t cell = k % 2 ? face->low : face->face;
    float *step_size = &f->sweep.strips.steps[f->number[cell / STRIP]].step_size[cell % STRIP],
          norm = (float)(FACES_TOUCHED * work->dt * work->dt * work->stress.body_norm[face->body]);
    if (shortened[cell] == face->body || !(*step_size > 0)) continue;
    shortened[cell] = face->body;
    *step_size = factor / (factor / *step_size + norm);
  }
  return SCREE_OK;
}

/* The group of the strip's that the face belongs to; a new one if there is none. */
static FaceGroup *group_of(Friction *f, int32_t n, const CoupledFace *face) {
  FrictionLinks *links = &f->sweep.links[n];
  if (links->groups == 0) links->first_group = (int32_t)f->group_count;
  for (int k = 0; k < links->groups; k++) {
    FaceGroup *group = &f->groups[links->first_group + k];
    if (group->axis == face->axis && group->body == face->body) return group;
  }
  links->groups++;
  FaceGroup *group = &f->groups[f->group_count++];
  *group = (FaceGroup){.strip = n, .axis = face->axis, .body = face->body, .arm = {0, face->arm[1], face->arm[2]}};
  group->arm[0] = face->arm[0] - (float)(face->face % STRIP * f->work->grid->cell);
  return group;
}

/* Faces that feel some stress of this solve, those of a strip together: they come in the order of the strips. */
static Status group_faces(FlipWork *work, Friction *f) {
  TRY(scratch_take(work->core, work->step->scratch, &f->groups, work->solids.face_count + 1, "friction"));
  for (int64_t k = 0; k < work->solids.face_count; k++) {
    const CoupledFace *face = &work->solids.faces[k];
    int32_t n = f->number[face->face / STRIP];
    if (f->sweep.links[n].flows) group_of(f, n, face)->share[face->face % STRIP] = face->share;
  }
  f->sweep.groups = f->groups;
  f->sweep.body_change = work->stress.body_change;
  return SCREE_OK;
}

static void wrench_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Friction *f = context;
  double(*wrench)[6] = f->work->stress.wrench_parts + b / FACE_CHUNK * f->work->solids.body_count;
  memset(wrench, 0, sizeof *wrench * (size_t)f->work->solids.body_count);
  KERNEL_CALL(f->work->core, flip_friction_wrench)(&f->sweep, b, e, wrench);
}

/* ---- the solve ---- */

/* How long a sweep takes for a strip, about. */
static int64_t cost_of(const FrictionLinks *links) { return links->bears ? 8 : links->flows ? 2 : 1; }

static int32_t row_of(const Friction *f, int32_t n) {
  int32_t place[3];
  strip_place(f->work->grid->key[f->strips[n]], place);
  return place[1];
}

/* The first strip of a slice that lies in this row or above it. */
static int32_t first_from(const Friction *f, int32_t slice, int32_t row) {
  int32_t low = f->slice[slice], high = f->slice[slice + 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (row_of(f, middle) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Bands, so that four slices of one fit the core's own cache. They do not depend on the number of threads: sums are
 * made band by band. */
static Status cut_bands(FlipWork *work, Friction *f) {
  int32_t(*border)[2 * BLOCK_RIM + 1] = NULL, low = INT32_MAX, high = INT32_MIN, slices = f->sweep.slices;
  for (int32_t at = 0; at < slices; at++) {
    int32_t first = row_of(f, f->slice[at]), last = row_of(f, f->slice[at + 1] - 1);
    low = first < low ? first : low;
    high = last > high ? last : high;
  }
  int32_t rows = slices > 0 ? high - low + 1 : 1, bands = 1 + f->thickest / BAND_STRIPS;
  if (bands * BAND_ROWS > rows) bands = rows / BAND_ROWS > 1 ? rows / BAND_ROWS : 1;
  f->sweep.bands = bands;
  TRY(scratch_take(work->core, work->step->scratch, &border, (int64_t)slices * (bands + 1), "friction"));
  for (int32_t at = 0; at < slices; at++)
    for (int32_t g = 0; g <= bands; g++)
      for (int d = 0; d <= 2 * BLOCK_RIM; d++) {
        int32_t row = low + (int32_t)((int64_t)rows * g / bands) + d - BLOCK_RIM;
        border[(int64_t)at * (bands + 1) + g][d] = g == 0       ? f->slice[at]
                                                   : g == bands ? f->slice[at + 1]
                                                                : first_from(f, at, row);
      }
  f->sweep.border = (const int32_t(*)[2 * BLOCK_RIM + 1]) border;
  return scratch_take(work->core, work->step->scratch, &f->sweep.sums, (int64_t)slices * bands + 1, "sums");
}

static void add_blocks(Friction *f, int32_t first, int32_t end) {
  for (int32_t band = 0; band < f->sweep.bands; band++) f->block[f->blocks++] = (FrictionBlock){first, end, band};
}

/* Blocks of slices that take about as long: one a thread if they are not too thin, and two if they are thick. Where
 * there are as many bands as threads, or twice as many and so on, these are enough. */
static Status cut_blocks(FlipWork *work, Friction *f) {
  Core *core = work->core;
  int64_t slices = f->sweep.slices, threads = pool_threads(core->pool), cuts = 2 * threads, sum = 0, cut = 0, *until;
  TRY(cut_bands(work, f));
  if (cuts * BLOCK_THICK > slices) cuts /= 2;
  if (cuts * BLOCK_LEAST > slices) cuts = slices / BLOCK_LEAST;
  if (cuts < 1 || f->sweep.bands % threads == 0) cuts = 1;
  TRY(scratch_take(core, work->step->scratch, &f->block, cuts * f->sweep.bands, "friction"));
  TRY(scratch_take(core, work->step->scratch, &f->excess, cuts * f->sweep.bands, "sums"));
  if (cuts == 1) {
    add_blocks(f, 0, (int32_t)slices);
    return SCREE_OK;
  }
  TRY(scratch_take(core, work->step->scratch, &until, slices, "sums"));
  for (int64_t at = 0; at < slices; at++) {
    for (int32_t n = f->slice[at]; n < f->slice[at + 1]; n++) sum += cost_of(&f->sweep.links[n]);
    until[at] = sum;
  }
  int32_t first = 0;
  for (int32_t at = 0; at < slices; at++) {
    if (until[at] * cuts < (cut + 1) * sum) continue;
    add_blocks(f, first, at + 1);
    first = at + 1;
    cut++;
  }
  return SCREE_OK;
}

typedef enum Pass { PASS_STEP, PASS_STRICT, PASS_EXCESS } Pass;
typedef struct Sweeping {
  Friction *friction;
  Pass pass;
} Sweeping;

static void block_chunk(void *context, int64_t b, int64_t e, int thread) {
  const Sweeping *sweeping = context;
  Friction *f = sweeping->friction;
  const Core *core = f->work->core;
  FrictionSlot *slots = f->slots + thread * f->slots_each;
  (void)e;
  switch (sweeping->pass) {
  case PASS_STEP: KERNEL_CALL(core, flip_friction_sweep)(&f->sweep, &f->block[b], slots); break;
  case PASS_STRICT: KERNEL_CALL(core, flip_friction_strict)(&f->sweep, &f->block[b], slots); break;
  case PASS_EXCESS: f->excess[b] = KERNEL_CALL(core, flip_friction_excess)(&f->sweep, &f->block[b], slots); break;
  }
}

static void run(Friction *f, Pass pass) {
  Sweeping sweeping = {f, pass};
  parallel_for(f->work->core, 0, f->blocks, 1, block_chunk, &sweeping);
}

/* Nesterov's momentum grows with the number of steps, t - 1 to t. It begins as if some were done: what is left to find
 * are the slow, wide changes of a stress that is right in the small. (From nothing, too, 20 steps leave 2.2 instead of
 * 3.0 % of what friction can take; with 15 it is 3.4.) When it turns back it begins with none. */
#define MOMENTUM_FROM 8

/* The last round ends when a step changes the stress by less than a tenth of the tolerance; at rest, when that is
 * tightened, by less than a hundredth: a body's part in the stress of a whole bed is small, and the steps change little
 * long before they end. With a tenth a block of 6,000 kg/m^3 at rest on a bed rocks by 1 mm/s. */
static double enough_change(const FlipWork *work) {
  double tightened = work->stress.tolerance / work->settings->tolerance;
  return work->stress.tolerance * fmax(0.01, 0.1 * tightened);
}

/* Accelerated projected gradients; the result is the next y. */
static void iterate(FlipWork *work, Friction *f, bool last) {
  /* The pressure that bounds it is not yet the last one in all rounds but the last: half of the steps will do there. */
  double t = MOMENTUM_FROM, change = 0, enough = (last ? enough_change(work) : work->stress.tolerance) * f->longer;
  int most = last ? work->settings->friction_steps : (work->settings->friction_steps + 1) / 2;
  for (int step = 0; step < most; step++) {
    double next = 0.5 * (1 + sqrt(1 + 4 * t * t)), total[FRICTION_SUMS] = {0};
    f->sweep.momentum = (float)((t - 1) / next);
    f->sweep.now = step % 2;
    if (f->group_count > 0) {
      /* dt^2 J2^T M^-1 J2 of Eq. 26: the sweep adds it to the flux. */
      parallel_for(work->core, 0, f->group_count, FACE_CHUNK, wrench_chunk, f);
      flip_accelerate_bodies_by_parts(work, parallel_chunks(0, f->group_count, FACE_CHUNK), work->dt);
    }
    run(f, PASS_STEP);
    for (int64_t at = 0; at < (int64_t)f->sweep.slices * f->sweep.bands; at++)
      for (int k = 0; k < FRICTION_SUMS; k++) total[k] += f->sweep.sums[at][k];
    t = total[FRICTION_TURNED] > 0 ? 1 : next;
    work->report.friction.steps++;
    change = total[FRICTION_SIZE] > 0 ? sqrt(total[FRICTION_MOVED] / total[FRICTION_SIZE]) : 0;
    if (change < enough) break;
  }
  work->report.friction.residual = fmax(work->report.friction.residual, change);
}

/* The mean scales that let the iteration converge leave some cells a little outside the yield surface: the result is
 * brought inside, cell by cell and edge by edge, and measured. Where that takes away a cell's diagonal rather than the
 * shear that carries the slope above, sand at rest stays so. */
static void make_strict(Friction *f) {
  run(f, PASS_STRICT);
  run(f, PASS_EXCESS);
  for (int64_t k = 0; k < f->blocks; k++)
    f->work->report.friction.violation = fmax(f->work->report.friction.violation, (double)f->excess[k] - 1);
}

/* There is no stress where the solve found none. */
static void result_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Friction *f = context;
  for (int64_t strip = b; strip < e; strip++) {
    int32_t n = f->number[strip];
    float(*y)[STRIP] = f->sweep.strips.y[!f->sweep.now][n];
    for (int k = 0; k < STRESSES; k++) memcpy(f->work->kept->stress[k] + strip * STRIP, y[k], sizeof *y);
  }
}

static Status minimize(FlipWork *work, float *const flux[3], bool last) {
  Friction f = {.work = work};
  double largest = flip_largest_of(work, work->fields.sand.mobility);
  work->report.friction.solves++;
  if (!(largest > 0)) return SCREE_OK;
  TRY(bound_cells(work, &f));
  TRY(number_strips(work, &f));
  TRY(pack_strips(work, &f, flux, largest));
  if (work->solids.face_count > 0) TRY(shorten_at_bodies(work, &f));
  TRY(number_walls(work, &f));
  parallel_for(work->core, 1, f.count, STRIP_CHUNK, parts_chunk, &f);
  if (work->solids.face_count > 0) TRY(group_faces(work, &f));
  parallel_for(work->core, 1, f.wall_count, STRIP_CHUNK, walls_of_chunk, &f);
  TRY(cut_blocks(work, &f));
  f.sweep.cell = work->grid->cell;
  f.sweep.scheme = work->settings->scheme;
  iterate(work, &f, last);
  make_strict(&f);
  parallel_for(work->core, 0, work->grid->strips, STRIP_CHUNK, result_chunk, &f);
  return SCREE_OK;
}

Status flip_solve_friction(FlipWork *work, float *const flux[3], bool last) {
  int mark = scratch_mark(work->step->scratch);
  Status status = minimize(work, flux, last);
  scratch_release(work->core, work->step->scratch, mark);
  return status;
}
