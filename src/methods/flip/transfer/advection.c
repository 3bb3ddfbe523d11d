/* From the grid to the particles: the FLIP update of velocities (Brackbill and Ruppel 1986), and advection with the
 * velocity of the grid (Section 3, lines 6a to 6c of Fig. 8). */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/solids/boundary_contact.h"
#include "methods/flip/solids/seams.h"
#include "methods/flip/transfer/advection_kernels.h"
#include "methods/flip/transfer/shapes.h"
#include "methods/flip/transfer/transfer.h"

enum { FROM_CHUNK = 64 };

/* One pressed particle of so many may be an outlier: it may move so many times farther than half a cell, piece by
 * piece. A clump that falls on a heap has pressure when it arrives, and some dozen particles would set the step of all.
 */
enum { OUTLIER_SHARE = 1024 };
#define OUTLIER_FACTOR 2.0f

/* Squares of speeds by their exponents and the first five bits behind them: steps of 1.5 % of the speed. */
enum { SPEED_SHIFT = 18, SPEED_BINS = 1 << (31 - SPEED_SHIFT) };

typedef struct Speeds {
  float loose, pressed;      /* squares of the largest */
  float least;               /* of pressed particles that are counted: slower ones never set the step */
  int32_t count[SPEED_BINS]; /* of pressed particles */
} Speeds;

/* None where loose sand goes no farther than half a cell either. */
static float outlier_factor(const FlipWork *work) {
  return fminf(OUTLIER_FACTOR, (float)(work->settings->loose_displacement / work->settings->displacement));
}

static uint32_t speed_bin(float square) {
  uint32_t bits;
  memcpy(&bits, &square, sizeof bits);
  return bits >> SPEED_SHIFT;
}
/* No square of the bin is less. */
static float bin_from(uint32_t bin) {
  uint32_t bits = bin << SPEED_SHIFT;
  float square;
  memcpy(&square, &bits, sizeof square);
  return square;
}

/* What the step is set by: the fastest of loose particles; of pressed ones the speed that all but `outliers` keep to,
 * or that of the fastest over the factor of outliers. */
static double speed_of(const Speeds *speeds, int threads, int64_t outliers, float outlier) {
  float loose = 0, pressed = 0, kept = 0;
  for (int t = 0; t < threads; t++) {
    loose = fmaxf(loose, speeds[t].loose);
    pressed = fmaxf(pressed, speeds[t].pressed);
  }
  int64_t faster = 0;
  for (int bin = SPEED_BINS - 1; bin >= 0 && faster <= outliers; bin--) {
    for (int t = 0; t < threads; t++) faster += speeds[t].count[bin];
    if (faster > outliers) kept = bin_from((uint32_t)bin + 1);
  }
  kept = fmaxf(fminf(kept, pressed), pressed / (outlier * outlier));
  return sqrt((double)fmaxf(loose, kept));
}

typedef struct FromGrid {
  FlipWork *work;
  Gather gather;
  Speeds *speeds;      /* per thread */
  PlacedSolid *placed; /* room for all solids, per thread */
  float *buffers;      /* for the particles of a strip, per thread */
  uint8_t *kinds, *displacement_bits;
  uint8_t *stops; /* per strip: lanes whose faces stopped something */
  int64_t most;   /* particles of a strip, in whole registers */
} FromGrid;

enum { BUFFERS = 3 + 3 + 1 + 9 + STRESSES };

/* Where a thread puts what the particles of a strip take. */
static void thread_buffers(const FromGrid *from, int thread, Gathered *gathered, Stretch *stretch) {
  float *next = from->buffers + thread * BUFFERS * from->most;
  float **arrays[BUFFERS] = {&gathered->velocity[0],     &gathered->velocity[1],     &gathered->velocity[2],
                             &gathered->displacement[0], &gathered->displacement[1], &gathered->displacement[2],
                             &gathered->square};
  for (int k = 0; k < STRESSES; k++) arrays[7 + k] = &stretch->shape[k];
  for (int k = 0; k < 9; k++) arrays[7 + STRESSES + k] = &stretch->jacobian[k];
  for (int k = 0; k < BUFFERS; k++, next += from->most) *arrays[k] = next;
  for (int k = 0; k < 9; k++) {
    stretch->deformation[k] = stretch->jacobian[k]; /* in its place */
    gathered->gradient[k] = from->work->shapes ? stretch->jacobian[k] : NULL;
  }
  stretch->kind = from->kinds + thread * from->most;
}

/* How far the sand of a cell may go in a step, in cells: half a full cell's worth of it where it is pressed, and twice
 * that where it is not. */
static float largest_displacement(const FlipWork *work, int64_t cell) {
  float least = (float)work->settings->displacement, most = (float)work->settings->loose_displacement;
  if (work->kept->pressure[cell] == 0) least = fminf(UNPRESSED_FACTOR * least, most);
  float phi = work->fields.sand.phi[cell], free_volume = work->fields.solid.free_volume[cell];
  float displacement = phi > 0 ? least * free_volume / phi : most;
  return displacement < least ? least : displacement > most ? most : displacement;
}

/* Those off the grid: nothing stretches them. */
static void move_off_grid(const FromGrid *from) {
  const FlipWork *work = from->work;
  Particles *p = &work->state->particles;
  float *velocity[3] = {p->vx, p->vy, p->vz}, *displacement_of[3] = {p->dx, p->dy, p->dz}, dt = (float)work->dt;
  for (int64_t k = 0; k < work->order->off_grid; k++) {
    int32_t i = work->order->index[k];
    for (int a = 0; a < 3; a++) {
      velocity[a][i] += from->gather.gained[a];
      displacement_of[a][i] = dt * velocity[a][i];
    }
    if (work->shapes) work->advection.kind[k] = IS_STUCK;
  }
}

/* Whether the friction of what solids stop in this cell is solved for (bound_at_walls in
 * stress/yield_limits_kernels.c): its faces have sand that can bear it. */
static bool friction_on_grid(const FlipWork *work, int32_t cell) {
  const FlipFields *f = &work->fields;
  bool bearing = true;
  for (int a = 0; a < 3 && bearing; a++) {
    int32_t above = cell_above(work->grid, cell, a);
    bool low = f->sand.bearing[a][cell / STRIP] >> (cell % STRIP) & 1,
         high = f->sand.bearing[a][above / STRIP] >> (above % STRIP) & 1;
    bearing = low || high;
  }
  return bearing;
}

/* Most that distances within a cell can change over a displacement of a cell: a root of three, and something for
 * round-off. */
#define SLOPE_MOST 1.8f

/* The particles of a strip and how far they move. */
typedef struct StripDisplacements {
  int64_t strip;
  int32_t first, last; /* particles in the order of cells */
  int32_t place[3];
  uint32_t walls;       /* lanes from which half a cell may lead into a solid */
  uint32_t bits;        /* of the displacements, all together */
  float loose, pressed; /* what the largest squares of speeds count */
  const Gathered *gathered;
  const uint8_t *displacement_bits; /* of the particles from `first` on */
} StripDisplacements;

static StripDisplacements limit_displacements(const FromGrid *from, int64_t strip, const Gathered *g, uint8_t *bits) {
  const FlipWork *work = from->work;
  const FlipOrder *order = work->order;
  StripDisplacements s = {.strip = strip,
                          .first = order->start[strip * STRIP],
                          .last = order->start[(strip + 1) * STRIP],
                          .gathered = g,
                          .displacement_bits = bits};
  const StripSolids *solids = work->solids.strips[strip];
  strip_place(work->grid->key[strip], s.place);
  s.walls = work->fields.solid.near[strip] ? strip_walls(solids) : 0;
  float side = (float)work->grid->cell, half = (float)work->settings->displacement,
        outlier = outlier_factor(work) * half;
  Displacements displacements = {.x = order->x + s.first,
                                 .y = order->y + s.first,
                                 .z = order->z + s.first,
                                 .place = {(float)s.place[0], (float)s.place[1], (float)s.place[2]},
                                 .long_displacement = half * half * side * side * 1.0001f,
                                 .cell = side,
                                 .distance = s.walls ? solids->distance : NULL,
                                 .displacement = {g->displacement[0], g->displacement[1], g->displacement[2]},
                                 .square = g->square,
                                 .bits = bits};
  for (int lane = 0; lane < STRIP; lane++) {
    float most = largest_displacement(work, strip * STRIP + lane), share = half / most;
    displacements.longest[lane] = fmaxf(most, outlier) * side;
    displacements.share[lane] = share * share;
    displacements.pressed[lane] = work->kept->pressure[strip * STRIP + lane] != 0 ? 1 : 0;
    if (s.walls >> lane & 1) displacements.slack[lane] = SLOPE_MOST * contact_solid_motion(work, strip, lane);
  }
  float fastest[2];
  s.bits = KERNEL_CALL(work->core, flip_limit_displacements)(&displacements, s.last - s.first, fastest);
  s.loose = fastest[0];
  s.pressed = fastest[1];
  return s;
}

/* Pressed particles are counted down to the speed below which haste allows even the fastest more. */
static void count_speeds(const FlipWork *work, const StripDisplacements *s, Speeds *speeds) {
  const int32_t *start = work->order->start + s->strip * STRIP;
  const float *square = s->gathered->square - s->first, outlier = outlier_factor(work);
  speeds->loose = fmaxf(speeds->loose, s->loose);
  if (s->pressed < speeds->least) return;
  if (s->pressed > speeds->pressed) {
    speeds->pressed = s->pressed;
    speeds->least = bin_from(speed_bin(speeds->pressed / (outlier * outlier)));
  }
  for (int lane = 0; lane < STRIP; lane++) {
    if (work->kept->pressure[s->strip * STRIP + lane] == 0) continue;
    for (int32_t k = start[lane]; k < start[lane + 1]; k++)
      if (square[k] >= speeds->least && square[k] < INFINITY) speeds->count[speed_bin(square[k])]++;
  }
}

/* Lanes round which walls stopped something whose friction is not solved for. */
static uint32_t friction_lanes(const FromGrid *from, const StripDisplacements *s) {
  const FlipWork *work = from->work;
  const int32_t *start = work->order->start + s->strip * STRIP;
  uint32_t lanes = 0;
  if (!work->fields.solid.near[s->strip]) return 0;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(work->grid, (int32_t)s->strip, row % 3 - 1, row / 3 - 1);
    uint32_t nodes = (uint32_t)from->stops[work->grid->near[at][X_LOW]] >> (STRIP - 1) |
                     (uint32_t)from->stops[at] << 1 |
                     (uint32_t)(from->stops[work->grid->near[at][X_HIGH]] & 1) << (STRIP + 1);
    lanes |= nodes | nodes >> 1 | nodes >> 2;
  }
  for (int lane = 0; lane < STRIP; lane++)
    if (start[lane] == start[lane + 1] || friction_on_grid(work, (int32_t)s->strip * STRIP + lane))
      lanes &= ~(1u << lane);
  return lanes & 255;
}

/* Particles near solids and with long displacements. */
static void move_near_solids(const FromGrid *from, const StripDisplacements *s, int thread) {
  const FlipWork *work = from->work;
  const int32_t *start = work->order->start + s->strip * STRIP;
  uint32_t friction = friction_lanes(from, s);
  bool seams = s->walls && seams_near(work, (int32_t)s->strip);
  if (!friction && !s->bits && !seams) return;
  StopWindow window;
  if (friction) strip_stops(work, (int32_t)s->strip, &window);
  for (int lane = 0; lane < STRIP; lane++)
    for (int32_t k = start[lane]; k < start[lane + 1]; k++) {
      uint8_t bits = s->displacement_bits[k - s->first];
      bool has_friction = friction >> lane & 1, far = bits & DISPLACEMENT_IS_LONG, walled = s->walls >> lane & 1;
      bool into = walled && bits & DISPLACEMENT_INTO_SOLID, parted = walled && seams && !far;
      if (!has_friction && !far && !into && !parted) continue;
      BoundaryContact contact = contact_of(work, s->strip, s->place, k, work->fields.solid.near[s->strip]);
      contact.room = from->placed + (int64_t)thread * work->state->solids.count;
      const float norm[3] = {work->transfer.norm[1][k], work->transfer.norm[2][k], work->transfer.norm[3][k]};
      float displacement[3], v[3];
      for (int a = 0; a < 3; a++) {
        displacement[a] = s->gathered->displacement[a][k - s->first];
        v[a] = s->gathered->velocity[a][k - s->first];
      }
      if (has_friction) contact_friction(&contact, &window, norm, v, displacement);
      if (far) contact_trace(&contact, displacement, v);
      else if (into) contact_keep_out(&contact, displacement, v);
      if (parted) contact_stop_at_seams(&contact, displacement, v);
      for (int a = 0; a < 3; a++) {
        s->gathered->displacement[a][k - s->first] = displacement[a];
        s->gathered->velocity[a][k - s->first] = v[a];
      }
    }
}

static void store_particles(const FlipWork *work, const StripDisplacements *s) {
  Particles *p = &work->state->particles;
  const int32_t *index = work->order->index + s->first;
  float *const *v = s->gathered->velocity, *const *displacement = s->gathered->displacement;
  for (int32_t k = 0; k < s->last - s->first; k++) {
    int32_t i = index[k];
    p->vx[i] = v[0][k], p->vy[i] = v[1][k], p->vz[i] = v[2][k];
    p->dx[i] = displacement[0][k], p->dy[i] = displacement[1][k], p->dz[i] = displacement[2][k];
  }
}

static void stops_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const FromGrid *from = context;
  KERNEL_CALL(from->work->core, flip_stopped_lanes)(from->work->fields.stress.stopped, b, e, from->stops);
}

/* What will be read and written of the particles of the next strip: about as many as this one has. */
static void fetch_ahead(const FlipWork *work, int32_t b, int64_t e) {
  const Particles *p = &work->state->particles;
  const FlipOrder *order = work->order;
  float *const *v = order->velocity;
  const float *const fields[6] = {p->vx, p->vy, p->vz, p->dx, p->dy, p->dz};
  const float *const sorted[6] = {order->x, order->y, order->z, v[0], v[1], v[2]};
  if (e > order->count) e = order->count;
  for (int64_t k = b; k < e; k += LANES) {
    int32_t i = order->index[k];
    for (int f = 0; f < 6; f++) __builtin_prefetch(sorted[f] + k);
    for (int f = 0; f < 6; f++) __builtin_prefetch(fields[f] + i, 1);
    for (int c = 0; c < STRESSES && work->shapes; c++) __builtin_prefetch(work->shapes->a[c] + i, 1);
  }
}

static void from_grid_chunk(void *context, int64_t b, int64_t e, int thread) {
  const FromGrid *from = context;
  const FlipWork *work = from->work;
  Gathered gathered;
  Stretch stretch;
  thread_buffers(from, thread, &gathered, &stretch);
  for (int64_t strip = b; strip < e; strip++) {
    int32_t first = work->order->start[strip * STRIP], last = work->order->start[(strip + 1) * STRIP];
    if (work->shapes) work->advection.shape_counts[strip] = (ShapeCounts){0};
    if (first == last) continue;
    fetch_ahead(work, last, (int64_t)last + last - first);
    KERNEL_CALL(work->core, flip_gather)(&from->gather, (int32_t)strip, &gathered);
    StripDisplacements displacements =
        limit_displacements(from, strip, &gathered, from->displacement_bits + thread * from->most);
    count_speeds(work, &displacements, &from->speeds[thread]);
    move_near_solids(from, &displacements, thread);
    store_particles(work, &displacements);
    if (work->shapes) shapes_stretch(work->shapes, work, strip, &stretch);
  }
}

static Status take_buffers(FlipWork *work, FromGrid *from) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int64_t threads = pool_threads(core->pool);
  for (int64_t strip = 1; strip < work->grid->strips; strip++) {
    int64_t here = work->order->start[(strip + 1) * STRIP] - work->order->start[strip * STRIP];
    from->most = here > from->most ? here : from->most;
  }
  from->most = (from->most / LANES + 1) * LANES;
  TRY(scratch_take(core, scratch, &from->buffers, threads * BUFFERS * from->most, "particles of a strip"));
  memset(from->buffers, 0, sizeof(float) * (size_t)(threads * BUFFERS * from->most));
  TRY(scratch_take(core, scratch, &from->kinds, threads * from->most, "particles of a strip"));
  TRY(scratch_take(core, scratch, &from->displacement_bits, threads * from->most, "particles of a strip"));
  TRY(scratch_take(core, scratch, &from->placed, threads * work->state->solids.count + 1, "solids"));
  TRY(scratch_take(core, scratch, &from->stops, work->grid->strips, "strips"));
  if (!work->shapes) return SCREE_OK;
  TRY(scratch_take(core, scratch, &work->advection.kind, work->order->count, "shapes"));
  return scratch_take(core, scratch, &work->advection.shape_counts, work->grid->strips, "shapes");
}

Status flip_grid_to_particles(FlipWork *work) {
  Core *core = work->core;
  FlipFields *f = &work->fields;
  FromGrid from = {.work = work};
  Gather *g = &from.gather;
  *g = (Gather){.grid = work->grid,
                .start = work->order->start,
                .x = work->order->x,
                .y = work->order->y,
                .z = work->order->z,
                .dt = (float)work->dt,
                .inverse_cell = (float)(1 / work->grid->cell),
                .near = f->solid.near,
                .restricted_lanes = f->sand.restricted,
                .restricted = work->transfer.restricted};
  for (int a = 0; a < 3; a++) {
    g->norm[a] = work->transfer.norm[1 + a];
    g->valid[a] = f->solid.valid[1 + a];
    g->bearing[a] = f->sand.bearing[a];
    g->velocity[a] = f->sand.velocity[a];
    g->change[a] = f->stress.change[a];
    g->correction[a] = f->stress.correction[a];
    g->settle[a] = f->sand.settle[a];
    g->before[a] = work->order->velocity[a];
    g->gained[a] = (float)(vec3_get(work->state->gravity, a) * work->dt);
  }
  TRY(take_buffers(work, &from));
  int threads = pool_threads(core->pool);
  TRY(scratch_take(core, work->step->scratch, &from.speeds, threads, "speeds"));
  memset(from.speeds, 0, sizeof *from.speeds * (size_t)threads);
  if (work->shapes) shapes_find_flow(work->shapes, work->state);
  move_off_grid(&from);
  parallel_for(core, 0, work->grid->strips, STRIP_CHUNK, stops_chunk, &from);
  parallel_for(core, 1, work->grid->strips, FROM_CHUNK, from_grid_chunk, &from);
  work->advection.speed = speed_of(from.speeds, threads, work->order->count / OUTLIER_SHARE, outlier_factor(work));
  return SCREE_OK;
}
