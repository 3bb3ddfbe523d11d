/* The position-based step round its passes: contacts into slots, iterations, results out. */
#define LANE_SCALAR /* grains are looked at one by one */
#include "methods/common/position.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/cohesion.h"
#include "methods/common/position_borders.h"
#include "methods/common/position_contacts.h"
#include "methods/common/position_kernels.h"
#include "methods/common/position_law.h"

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

Status position_predict(void *data, Step *step) {
  (void)data;
  Vec3 gain = vec3_scale(step->state->gravity, step->dt);
  Predict predict = {&step->state->particles, (float)step->dt, {(float)gain.x, (float)gain.y, (float)gain.z}};
  parallel_for(step->core, 0, step->state->particles.count, POSITION_WINDOW, predict_chunk, &predict);
  return SCREE_OK;
}

/* m* = m exp(-k h): only differences of height matter, so h is taken from the lowest grain up. */
static void scale_masses(PositionStep *work, int64_t b, int64_t e) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  Vec3 up = vec3_scale(vec3_normalize(state->gravity), -1);
  float k = work->settings->mass_scaling;
  for (int64_t i = b; i < e; i++) {
    float h = (float)(up.x * (double)p->x[i] + up.y * (double)p->y[i] + up.z * (double)p->z[i]) - work->rows.lowest;
    work->rows.w[i] = position_scaled_mass(work->rows.w[i], k, h);
  }
}

/* Inverse masses and rows of a window, and of its contacts with solids. */
static void load_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  const float *mass = work->step->state->particles.mass;
  const int64_t first = b / SLICE, end = (e + SLICE - 1) / SLICE;
  for (int64_t i = b; i < e; i++) work->rows.w[i] = 1 / mass[i];
  if (work->settings->mass_scaling > 0) scale_masses(work, b, e);
  KERNEL_CALL(work->step->core, position_load_pass)(work, first, end, thread);
  position_load_boundary(work, position_window(work, b));
  if (work->bodies.riding_start) position_ride(work, b);
  position_copy_borders(work, first, end, work->rows.now);
  position_copy_borders(work, first, end, work->rows.last);
  if (work->turning) position_load_boundary_turns(work, position_window(work, b));
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
  memset(work->rows.w + work->count, 0, sizeof *work->rows.w * (size_t)(work->padded - work->count));
  if (work->settings->mass_scaling > 0)
    work->rows.lowest =
        -(float)parallel_max(core, 0, work->count, POSITION_WINDOW, -INFINITY, lowest_chunk, work->step->state);
  parallel_for_shares(core, work->borders.shares, 0, work->count, POSITION_WINDOW, load_window, work);
  return SCREE_OK;
}

double position_material_tension(const PositionSettings *settings, const ScreeMaterialDef *material) {
  return settings->adhesion && material->adhesion > 0 ? 0 : cohesion_tension(material);
}

bool position_cohesive(const PositionSettings *settings, const Materials *materials) {
  for (int32_t k = 0; k < materials->count; k++)
    if (position_material_tension(settings, &materials->items[k].definition) > 0) return true;
  return false;
}

static bool any_turns(const PositionSettings *settings, const Materials *materials) {
  for (int32_t k = 0; k < materials->count && !settings->averaging; k++)
    if (position_turns(&materials->items[k])) return true;
  return false;
}

static const char *const spin_names[3] = {"spin_x", "spin_y", "spin_z"};

/* A world in which grains do not turn has the hash of one without spins; those of before are forgotten. */
static void follow_materials(const PositionSettings *settings, State *state, PositionSpin *spin) {
  const bool turning = any_turns(settings, &state->materials);
  if (spin->turning == turning) return;
  for (int c = 0; c < 3; c++) {
    particles_hash_field(&state->particles, spin_names[c], turning);
    if (state->particles.count > 0) memset(spin->of[c], 0, sizeof *spin->of[c] * (size_t)state->particles.count);
  }
  spin->turning = turning;
}

Status position_add_spin(Core *core, State *state, const PositionSettings *settings, PositionSpin *spin) {
  for (int c = 0; c < 3 && !settings->averaging; c++)
    TRY(particles_add_floats(core, &state->particles, spin_names[c], 1, false, (void **)&spin->of[c]));
  follow_materials(settings, state, spin);
  return SCREE_OK;
}

void position_set_up(Step *step, const PositionSettings *settings, PositionSearch *search, ContactMemory *memory,
                     PositionSpin *spin, float history_scale, PositionStep *work) {
  State *state = step->state;
  float radius = (float)state->radius;
  follow_materials(settings, state, spin);
  *work = (PositionStep){
      .step = step, .settings = settings, .memory = memory, .dt = (float)step->dt, .history_scale = history_scale};
  work->search = search;
  memcpy(work->turns.spin, spin->of, sizeof spin->of);
  if (search->shares.whole > 0) work->borders.shares = &search->shares;
  work->count = state->particles.count;
  work->padded = (work->count + SLICE - 1) / SLICE * SLICE;
  work->substeps = position_substeps(settings, step);
  const double h = position_substep(settings, step);
  work->h = (float)h;
  work->recovered = 1 / (float)work->substeps;
  const Vec3 gain = vec3_scale(state->gravity, h * h);
  work->fall[0] = (float)gain.x, work->fall[1] = (float)gain.y, work->fall[2] = (float)gain.z;
  float fall = (float)vec3_length(state->gravity) * work->dt * work->dt;
  work->cohesive = position_cohesive(settings, &state->materials);
  work->turning = spin->turning;
  work->margin = settings->sticky || work->cohesive
                     ? POSITION_MARGIN_MOST * radius
                     : fminf(POSITION_MARGIN * radius + fall, POSITION_MARGIN_MOST * radius);
  work->carried = POSITION_CARRIED_MOST * radius;
  if (settings->slop)
    work->slop = fminf(POSITION_SLOP_FALL * fall / (float)work->substeps, POSITION_SLOP_MOST * 2 * radius);
}

Status position_begin(Step *step, const PositionSettings *settings, PositionSearch *search, ContactMemory *memory,
                      PositionSpin *spin, float history_scale, PositionStep *work) {
  position_set_up(step, settings, search, memory, spin, history_scale, work);
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
    swap_rows(&work->rows.last, &work->rows.next);
  }
  return SCREE_OK;
}

/* The remembered multipliers push: a slot needs nothing of others for that. Rows of boundary contacts, which no pass
 * writes, go into both buffers. */
static void enter_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  PASS(work, position_warm_pass)(work, b, e, thread);
  position_copy_borders(work, b, e, work->rows.next);
  position_copy_borders(work, b, e, work->rows.last);
  if (work->turning) position_copy_borders(work, b, e, work->turns.now);
  position_copy_boundary(work, position_window(work, b * SLICE));
  if (work->bodies.match) position_sum_pushes(work, b, e);
}

static void enter(PositionStep *work) {
  parallel_for_shares(work->step->core, work->borders.shares, 0, work->layout.slots.slices, 2 * POSITION_CHUNK,
                      enter_window, work);
  swap_rows(&work->rows.now, &work->rows.next);
}

/* A row of a boundary contact is read by its grain alone: the chunk that has the grain brings it up to date. */
static void batch_chunk(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  bool boundary = work->batch == POSITION_BOUNDARY_BATCH - 1; /* solved with the last batch of pairs */
  if (boundary && work->bodies.riding_start) position_move_boundary(work, b, e);
  work->pass(work, b, e, thread);
  if (boundary) {
    PASS(work, position_sum_boundary)(work, b, e);
    if (work->bodies.match) position_sum_pushes(work, b, e);
    position_copy_borders(work, b, e, work->rows.last_next);
  }
  if (boundary && work->substep + 1 == work->substeps) {
    position_clear_crossings(work, b, e);
    return;
  }
  position_copy_borders(work, b, e, work->rows.next);
  if (work->turning) position_copy_borders(work, b, e, work->turns.next);
}

static void add_displacements(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  for (int64_t i = b; i < e; i++)
    for (int k = 0; k < 3; k++) work->rows.total[i][k] = work->rows.last[i][k] + work->rows.now[i][k];
}

static void add_to_totals(PositionStep *work) {
  parallel_for(work->step->core, 0, work->count, POSITION_WINDOW, add_displacements, work);
}

Status position_iterate(PositionStep *work, ParallelBody pass) {
  enter(work);
  if (work->settings->iterations == 0) { /* nothing is solved: grains fall */
    add_to_totals(work);
    return SCREE_OK;
  }
  work->pass = pass;
  for (work->substep = 0; work->substep < work->substeps; work->substep++) {
    position_begin_substep(work);
    for (work->batch = 0; work->batch < POSITION_BOUNDARY_BATCH; work->batch++) {
      run_pass(work, batch_chunk);
      swap_rows(&work->rows.now, &work->rows.next);
      swap_rows(&work->turns.now, &work->turns.next);
    }
    swap_rows(&work->rows.last, &work->rows.last_next);
    position_end_substep(work);
  }
  return SCREE_OK;
}

static void average_chunk(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  if (work->bodies.riding_start) position_move_boundary(work, b, e);
  work->pass(work, b, e, thread);
  if (work->bodies.match) position_sum_pushes(work, b, e);
  if (work->last_pass) position_clear_crossings(work, b, e);
  else position_copy_borders(work, b, e, work->rows.next);
}

/* What boundary contacts pushed with in all, and where grains end. */
static void average_end(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  PASS(work, position_sum_boundary)(work, b, e);
}

Status position_iterate_averaged(PositionStep *work, ParallelBody pass) {
  const PositionSettings *settings = work->settings;
  enter(work);
  work->pass = pass;
  position_begin_substep(work);
  for (int k = 0; k < settings->iterations; k++) {
    if (k > 0) position_move_bodies(work);
    work->last_pass = k + 1 == settings->iterations;
    run_pass(work, average_chunk);
    swap_rows(&work->rows.now, &work->rows.next);
  }
  parallel_for_shares(work->step->core, work->borders.shares, 0, work->layout.slots.slices, 2 * POSITION_CHUNK,
                      average_end, work);
  add_to_totals(work);
  position_end_substep(work);
  return SCREE_OK;
}

Status position_solve(PositionStep *work) {
  if (work->settings->averaging) return position_iterate_averaged(work, PASS(work, position_average_pass));
  if (work->turning)
    return position_iterate(work, work->layout.tension ? PASS(work, position_turning_bond_pass)
                                                       : PASS(work, position_turning_batch_pass));
  if (work->layout.tension) return position_iterate(work, PASS(work, position_bond_pass));
  return position_iterate(work, PASS(work, position_batch_pass));
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
  position_push_bodies(work);
  if (work->settings->memory) contact_memory_turn(work->memory, LANES + work->layout.slots.rows * SLICE);
  return SCREE_OK;
}
