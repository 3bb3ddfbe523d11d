/* The position-based step round its passes: contacts into slots, iterations, results out. */
#include "methods/common/position.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_borders.h"
#include "methods/common/position_contacts.h"
#include "methods/common/position_kernels.h"

typedef struct Predict {
  Particles *particles;
  float dt, gain[3];
} Predict;

static void predict_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Predict *predict = context;
  Particles *p = predict->particles;
  float dt = predict->dt;
  for (int64_t i = b; i < e; i++) p->dx[i] = (p->vx[i] + predict->gain[0]) * dt;
  for (int64_t i = b; i < e; i++) p->dy[i] = (p->vy[i] + predict->gain[1]) * dt;
  for (int64_t i = b; i < e; i++) p->dz[i] = (p->vz[i] + predict->gain[2]) * dt;
}

MethodNeeds position_needs(const void *data) {
  (void)data;
  MethodNeeds needs = method_needs_default();
  needs.neighbors = NEIGHBORS_SEARCHED;
  needs.solids = 1;
  needs.skin = POSITION_SKIN;
  needs.margin = POSITION_MARGIN_MOST;
  return needs;
}

double position_largest_step(const void *data, const State *state) {
  (void)data;
  (void)state;
  return INFINITY;
}

Status position_predict(void *data, Step *step) {
  (void)data;
  Vec3 gain = vec3_scale(step->state->gravity, step->dt);
  Predict predict = {&step->state->particles, (float)step->dt, {(float)gain.x, (float)gain.y, (float)gain.z}};
  parallel_for(step->core, 0, step->state->particles.count, POSITION_WINDOW, predict_chunk, &predict);
  return SCREE_OK;
}

/* exp(-x) for x >= 0 by squaring a rational: libm's differs between machines. */
static float decay(float x) {
  float small = 1 - x / 256;
  if (small < 0) return 0;
  for (int k = 0; k < 8; k++) small *= small;
  return small;
}

/* m* = m exp(-k h): only differences of height matter, so h is taken from the lowest grain up. */
static void scale_masses(PositionStep *work, int64_t b, int64_t e) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  Vec3 up = vec3_scale(vec3_normalize(state->gravity), -1);
  float k = work->settings->mass_scaling;
  for (int64_t i = b; i < e; i++) {
    float h = (float)(up.x * (double)p->x[i] + up.y * (double)p->y[i] + up.z * (double)p->z[i]) - work->rows.lowest;
    work->rows.w[i] /= fmaxf(decay(k * h), 1e-6f);
  }
}

/* Inverse masses and rows of a window, and of its contacts with solids. */
static void load_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  const float *mass = work->step->state->particles.mass;
  for (int64_t i = b; i < e; i++) work->rows.w[i] = 1 / mass[i];
  if (work->settings->mass_scaling > 0) scale_masses(work, b, e);
  KERNEL_CALL(work->step->core, position_load_pass)(work, b, e, thread);
  position_load_boundary(work, position_window(work, b));
  if (work->bodies.riding_start) position_ride(work, b);
  position_copy_borders(work, b / SLICE, (e + SLICE - 1) / SLICE, work->rows.now);
  position_copy_borders(work, b / SLICE, (e + SLICE - 1) / SLICE, work->rows.shift);
}

static double lowest_chunk(void *context, int64_t b, int64_t e) {
  const State *state = context;
  const Particles *p = &state->particles;
  Vec3 down = vec3_normalize(state->gravity);
  double deepest = -INFINITY;
  for (int64_t i = b; i < e; i++)
    deepest = fmax(deepest, down.x * (double)p->x[i] + down.y * (double)p->y[i] + down.z * (double)p->z[i]);
  return deepest;
}

static Status load_rows(PositionStep *work) {
  Core *core = work->step->core;
  TRY(position_take_pushes(work));
  memset(work->rows.w + work->count, 0, sizeof *work->rows.w * (size_t)(work->padded - work->count));
  memset(work->rows.now + work->count, 0, sizeof *work->rows.now * (size_t)(work->padded - work->count));
  memset(work->rows.shift + work->count, 0, sizeof *work->rows.shift * (size_t)(work->padded - work->count));
  for (int64_t i = work->count; i < work->padded; i++)
    work->rows.now[i][3] = work->rows.shift[i][3] = 1; /* for divisions */
  if (work->settings->mass_scaling > 0)
    work->rows.lowest =
        -(float)parallel_max(core, 0, work->count, POSITION_WINDOW, -INFINITY, lowest_chunk, work->step->state);
  parallel_for_shares(core, work->borders.shares, 0, work->count, POSITION_WINDOW, load_window, work);
  return SCREE_OK;
}

Status position_begin(Step *step, const PositionSettings *settings, PositionSearch *search, ContactMemory *memory,
                      float history_scale, PositionStep *work) {
  const State *state = step->state;
  float radius = (float)state->radius;
  *work = (PositionStep){
      .step = step, .settings = settings, .memory = memory, .dt = (float)step->dt, .history_scale = history_scale};
  work->search = search;
  if (search->shares.whole > 0) work->borders.shares = &search->shares;
  work->count = state->particles.count;
  work->padded = (work->count + SLICE - 1) / SLICE * SLICE;
  float fall = (float)vec3_length(state->gravity) * work->dt * work->dt;
  work->margin = settings->sticky ? POSITION_MARGIN_MOST * radius
                                  : fminf(POSITION_MARGIN * radius + fall, POSITION_MARGIN_MOST * radius);
  if (settings->slop) work->slop = fminf(POSITION_SLOP_FALL * fall, POSITION_SLOP_MOST * 2 * radius);
  TRY(position_search_fill(work));
  TRY(position_take_bodies(work));
  TRY(position_search_samples(work));
  TRY(position_lay_out(work));
  position_bodies_found(work);
  return load_rows(work);
}

#define PASS(work, name) KERNEL_CALL((work)->step->core, name)

static void run_pass(PositionStep *work, ParallelBody pass) {
  parallel_for_shares(work->step->core, work->borders.shares, 0, work->layout.slots.slices, POSITION_CHUNK, pass, work);
}

static void swap_rows(float (**a)[4], float (**b)[4]) {
  float(*t)[4] = *a;
  *a = *b;
  *b = t;
}

static void shift_chunk(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  PASS(work, position_shift_pass)(work, b, e, thread);
  position_copy_borders(work, b, e, work->rows.next);
}

Status position_stabilize(PositionStep *work) {
  for (int k = 0; k < work->settings->stabilization; k++) {
    run_pass(work, shift_chunk);
    swap_rows(&work->rows.shift, &work->rows.next);
  }
  work->rows.stabilized = true;
  return SCREE_OK;
}

/* Gaps take the shift in, then the last step's forces push: a slot needs nothing of others for either. The rows of the
 * boundary contacts, which no pass writes, go into both buffers. */
static void enter_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  if (work->rows.stabilized) PASS(work, position_settle_pass)(work, b, e, thread);
  if (work->settings->memory) {
    PASS(work, position_warm_pass)(work, b, e, thread);
    position_copy_borders(work, b, e, work->rows.next);
  }
  position_copy_boundary(work, position_window(work, b * SLICE));
  if (work->bodies.pushes) position_sum_pushes(work, b, e);
}

/* A row of a boundary contact is read by its grain alone: the chunk that has the grain brings it up to date. */
static void pass_chunk(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  if (work->bodies.riding_start) position_move_boundary(work, b, e);
  work->pass(work, b, e, thread);
  if (work->last_pass) position_clear_crossings(work, b, e);
  else position_copy_borders(work, b, e, work->rows.next);
  if (work->bodies.pushes) position_sum_pushes(work, b, e);
}

Status position_iterate(PositionStep *work, ParallelBody pass) {
  const PositionSettings *settings = work->settings;
  parallel_for_shares(work->step->core, work->borders.shares, 0, work->layout.slots.slices, 2 * POSITION_CHUNK,
                      enter_window, work);
  if (settings->memory) swap_rows(&work->rows.now, &work->rows.next);
  work->pass = pass;
  for (int k = 0; k < settings->iterations; k++) {
    if (k > 0 || settings->memory) position_move_bodies(work);
    work->last_pass = k + 1 == settings->iterations;
    run_pass(work, pass_chunk);
    swap_rows(&work->rows.now, &work->rows.next);
  }
  return SCREE_OK;
}

Status position_solve(PositionStep *work) {
  bool averaging = work->settings->averaging;
  return position_iterate(work, averaging ? PASS(work, position_average_pass) : PASS(work, position_split_pass));
}

/* Rows of partners are the keys that they are remembered by; those of solids have keys of their own. */
static void keep_partners(PositionStep *work, int64_t b, int64_t e) {
  if (work->layout.renumbered)
    for (int64_t i = b; i < e; i++) work->memory->number[i] = contact_number(i);
  const PositionWindow *window = position_window(work, b);
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++)
    work->layout.slots.partner[work->layout.boundary[g].slot] = (int32_t)work->layout.boundary[g].key;
}

/* A window of grains: no other thread looks at its slots any more. */
static void finish_chunk(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  PASS(work, position_finish_pass)(work, b, e, thread);
  position_push_solids(work, position_window(work, b));
  if (work->settings->memory) keep_partners(work, b, e);
}

/* Of the pairs that had slots in the step: no other is near. */
static void measure_overlap(PositionStep *work) {
  Core *core = work->step->core;
  work->rows.placed = work->rows.next;
  parallel_for(core, 0, work->count, POSITION_WINDOW, PASS(work, position_place_pass), work);
  work->step->state->contacts.overlap =
      parallel_max(core, 0, work->layout.slots.slices, POSITION_CHUNK, 0, PASS(work, position_overlap_pass), work);
}

Status position_end(PositionStep *work) {
  if (work->step->measure_overlap) measure_overlap(work);
  parallel_for_shares(work->step->core, work->borders.shares, 0, work->count, POSITION_WINDOW, finish_chunk, work);
  position_push_matched(work);
  if (work->settings->memory) contact_memory_turn(work->memory, LANES + work->layout.slots.groups * SLICE);
  return SCREE_OK;
}
