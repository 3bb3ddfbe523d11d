/* What the solves of pressure and friction share: bodies that move with the faces, bounds on eigenvalues, and the
 * strips that take part. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/stress.h"
#include "methods/flip/stress_kernels.h"

/* ---- bodies in the solves (Eq. 21, 22, 25, 26) ---- */

/* Whether a cell that may bear stress lies within one cell of the face's. */
static bool stress_reaches(const FlipWork *work, int32_t face) {
  const FlipGrid *grid = work->grid;
  const float *usable = work->fields.usable;
  int lane = face % STRIP;
  for (int row = 0; row < 9; row++) {
    int64_t at = (int64_t)grid_row(grid, face / STRIP, row % 3 - 1, row / 3 - 1) * STRIP;
    const int32_t *near = grid->near[at / STRIP];
    float before = lane > 0 ? usable[at + lane - 1] : usable[(int64_t)near[X_LOW] * STRIP + STRIP - 1];
    float behind = lane < STRIP - 1 ? usable[at + lane + 1] : usable[(int64_t)near[X_HIGH] * STRIP];
    if (usable[at + lane] > 0 || before > 0 || behind > 0) return true;
  }
  return false;
}

/* The traces of their parts of J M^-1 J^T. */
static void find_body_norms(FlipWork *work) {
  memset(work->body_norm, 0, sizeof *work->body_norm * (size_t)(work->body_count + 1));
  for (int64_t k = 0; k < work->face_count; k++) {
    const CoupledFace *face = &work->faces[k];
    double unit[6] = {0}, sum = 0;
    coupled_push(face, 1, unit);
    for (int r = 0; r < 6; r++)
      for (int c = 0; c < 6; c++) sum += unit[r] * work->bodies[face->body].inverse[r][c] * unit[c];
    work->body_norm[face->body] += work->grid->cell * (double)(face->share * face->share) * sum;
  }
}

Status flip_couple_bodies(FlipWork *work) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  if (work->face_count > 0) {
    int64_t kept = 0;
    for (int64_t k = 0; k < work->face_count; k++)
      if (stress_reaches(work, work->faces[k].face)) work->faces[kept++] = work->faces[k];
    work->face_count = kept;
  }
  int64_t parts = (parallel_chunks(0, work->face_count, FACE_CHUNK) + 1) * (work->body_count + 1);
  TRY(scratch_take(core, scratch, &work->wrench_parts, parts, "bodies"));
  TRY(scratch_take(core, scratch, &work->body_norm, work->body_count + 1, "bodies"));
  find_body_norms(work);
  TRY(scratch_take(core, scratch, &work->body_wrench, work->body_count + 1, "bodies"));
  return scratch_take(core, scratch, &work->body_change, work->body_count + 1, "bodies");
}

typedef struct Coupling {
  FlipWork *work;
  const float *pressure;
  float *const *stress;
} Coupling;

static void wrench_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Coupling *coupling = context;
  const FlipWork *work = coupling->work;
  double(*wrench)[6] = work->wrench_parts + b / FACE_CHUNK * work->body_count;
  double area = work->grid->cell * work->grid->cell;
  memset(wrench, 0, sizeof *wrench * (size_t)work->body_count);
  for (int64_t k = b; k < e; k++) {
    const CoupledFace *face = &work->faces[k];
    double force = 0;
    if (coupling->pressure) force += (double)coupling->pressure[face->low] - (double)coupling->pressure[face->face];
    if (coupling->stress) force += flip_stress_force(work, coupling->stress, face->face, face->axis);
    if (force != 0) coupled_push(face, force * area * (double)face->share, wrench[face->body]);
  }
}

void flip_move_bodies(FlipWork *work, double dt) {
  for (int32_t k = 0; k < work->body_count; k++)
    for (int r = 0; r < 6; r++) {
      double sum = 0;
      for (int c = 0; c < 6; c++) sum += work->bodies[k].inverse[r][c] * work->body_wrench[k][c];
      work->body_change[k][r] = dt * sum;
    }
}

void flip_answer_of_bodies(FlipWork *work, int64_t chunks, double dt) {
  memset(work->body_wrench, 0, sizeof *work->body_wrench * (size_t)work->body_count);
  for (int64_t c = 0; c < chunks; c++)
    for (int32_t k = 0; k < work->body_count; k++)
      for (int r = 0; r < 6; r++) work->body_wrench[k][r] += work->wrench_parts[c * work->body_count + k][r];
  flip_move_bodies(work, dt);
}

void flip_change_bodies(FlipWork *work, const float *pressure, float *const *stress, double dt) {
  Coupling coupling = {work, pressure, stress};
  parallel_for(work->core, 0, work->face_count, FACE_CHUNK, wrench_chunk, &coupling);
  flip_answer_of_bodies(work, parallel_chunks(0, work->face_count, FACE_CHUNK), dt);
}

typedef struct FaceFlux {
  const FlipWork *work;
  float *const *flux;
} FaceFlux;

static void flux_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const FaceFlux *to = context;
  for (int64_t k = b; k < e; k++) {
    const CoupledFace *face = &to->work->faces[k];
    to->flux[face->axis][face->face] +=
        (float)((double)face->share * coupled_speed(face, to->work->body_change[face->body]));
  }
}

void flip_add_bodies(const FlipWork *work, float *const flux[3]) {
  FaceFlux to = {work, flux};
  parallel_for(work->core, 0, work->face_count, FACE_CHUNK, flux_chunk, &to);
}

/* ---- what the solves share ---- */

typedef struct Largest {
  const FlipWork *work;
  float *const *field;
} Largest;

static double largest_chunk(void *context, int64_t b, int64_t e) {
  const Largest *of = context;
  float largest = 0;
  for (int a = 0; a < 3; a++)
    largest = fmaxf(largest, KERNEL_CALL(of->work->core, flip_largest)(of->field[a] + b * STRIP, (e - b) * STRIP));
  return (double)largest;
}

double flip_largest_of(const FlipWork *work, float *const field[3]) {
  Largest of = {work, field};
  return parallel_max(work->core, 1, work->grid->strips, STRIP_CHUNK, 0, largest_chunk, &of);
}

/* ---- strips that take part ---- */

typedef struct Listing {
  const FlipGrid *grid;
  const uint8_t *lanes;
  uint8_t *taken;
} Listing;

static void round_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Listing *listing = context;
  for (int64_t strip = b; strip < e; strip++)
    listing->taken[strip] = grid_any_round(listing->grid, listing->lanes, (int32_t)strip);
}

Status flip_list_strips(FlipWork *work, const uint8_t *lanes, bool round, StripList *list) {
  Core *core = work->core;
  int64_t strips = work->grid->strips;
  TRY(scratch_take(core, work->step->scratch, &list->strips, strips, "strips"));
  Listing listing = {.grid = work->grid, .lanes = lanes};
  TRY(scratch_take(core, work->step->scratch, &listing.taken, strips, "strips"));
  listing.taken[0] = 0;
  if (round) parallel_for(core, 1, strips, STRIP_CHUNK, round_chunk, &listing);
  list->taken = round ? listing.taken : lanes;
  list->count = 0;
  for (int64_t strip = 1; strip < strips; strip++)
    if (list->taken[strip]) list->strips[list->count++] = (int32_t)strip;
  return SCREE_OK;
}
