/* Solids in the solve: how those that grains can move take part in the iterations, and what pushes them. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_contacts.h"
#include "methods/common/position_kernels.h"

/* Fewer samples than this cannot tell a rotation: such a body is pushed as a whole. */
enum { MATCHED_SAMPLES_MIN = 4 };

static void turn_body(PositionBody *body) {
  body->turns = body->moved[3] != 0 || body->moved[4] != 0 || body->moved[5] != 0;
  body->turned = quat_from_vector(vec3(body->moved[3], body->moved[4], body->moved[5]));
  body->turn = mat3_from_quat(body->turned);
}

static void body_create(PositionStep *work, int32_t index) {
  const Solid *solid = &work->step->state->solids.items[index];
  PositionBody *body = &work->bodies.items[index];
  double dt = (double)work->dt;
  body->movable = solid->motion == MOTION_FREE || solid->motion == MOTION_MECHANISM;
  body->matched = solid->motion == MOTION_FREE && solid->contact == SCREE_CONTACT_SAMPLES &&
                  solid->sample_end - solid->sample_begin >= MATCHED_SAMPLES_MIN;
  /* What holds or drives a part of a mechanism does so as in the last step: a bed that a motor holds against its load
   * starts with a push against that load and then yields to it, by as much. (Parts that do not yield at all
   * inside the solve were rejected: a load heavier than the part then throws it back and forth, since one returns the
   * other a step late; the lag here dies out for any ratio of the masses.) */
  const double *other = solid->driven;
  Vec3 push = vec3(other[0], other[1], other[2]), twist = vec3(other[3], other[4], other[5]);
  if (solid->motion == MOTION_FREE) {
    push = vec3_madd(work->step->state->gravity, solid->outside_force, solid->mass > 0 ? 1 / solid->mass : 0);
    twist = vec3(0, 0, 0);
  }
  Vec3 displacement = vec3_scale(vec3_madd(solid->velocity, push, dt), dt);
  Vec3 turn = vec3_scale(vec3_madd(solid->spin, twist, dt), dt);
  const double start[6] = {displacement.x, displacement.y, displacement.z, turn.x, turn.y, turn.z};
  memcpy(body->start, start, sizeof start);
  memcpy(body->moved, start, sizeof start);
  turn_body(body);
  body->still = !body->turns && displacement.x == 0 && displacement.y == 0 && displacement.z == 0;
  body->upright = solid->rotation.w == 1 && solid->rotation.x == 0 && solid->rotation.y == 0 && solid->rotation.z == 0;
  const Shape *shape = &solid->shape;
  bool faces = shape->inside && (shape->kind == SCREE_SHAPE_BOX || shape->kind == SCREE_SHAPE_CYLINDER);
  body->faces = faces ? SHAPE_CONTACTS_MAX : 1;
  atomic_init(&body->boundary, 0);
}

/* Inverse mass of a solid at a contact, at most: splitting by it keeps the iteration convergent. */
static double body_weight(const Solid *solid, const float arm[3]) {
  double linear = 0, angular = 0;
  for (int k = 0; k < 3; k++) {
    linear = fmax(linear, solid->inverse_inertia[k][k]);
    angular += solid->inverse_inertia[3 + k][3 + k];
  }
  return linear + angular * (double)(arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]);
}

static void set_boundary_row(PositionStep *work, int64_t g) {
  const BoundaryContact *contact = &work->layout.boundary[g];
  const PositionBody *body = &work->bodies.items[contact->solid];
  Vec3 displacement = position_body_displacement(body, contact->arm);
  float *row = work->rows.now[work->layout.boundary_row + g];
  row[0] = (float)displacement.x;
  row[1] = (float)displacement.y;
  row[2] = (float)displacement.z;
}

static bool is_pushed(const PositionStep *work, int64_t g) {
  return work->bodies.items[work->layout.boundary[g].solid].movable;
}

static bool is_touched(const PositionBody *body) { return body->movable && atomic_load(&body->boundary) > 0; }

static void add_outer(Mat3 *sum, Vec3 a, Vec3 b) {
  const double left[3] = {a.x, a.y, a.z}, right[3] = {b.x, b.y, b.z};
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) sum->m[r][c] += left[r] * right[c];
}

/* Shape matching (Sommer Section 3, after Mueller 2005): every sample goes where its own mass and what pushed it bring
 * it; the body takes the rotation and the centre that fit the samples best. Sample k, at a_k from the samples' centre,
 * is to go to R a_k + p_k / m_k, R being the turn without the grains and p_k what pushed it; so
 *     A = sum m_k (R a_k + p_k / m_k) a_k^T = R S + sum p_k a_k^T,   S = sum m_k a_k a_k^T,
 * and only samples that were pushed are looked at in an iteration. */
static void measure_shape(const PositionStep *work, int32_t index) {
  const State *state = work->step->state;
  const Solid *solid = &state->solids.items[index];
  PositionBody *body = &work->bodies.items[index];
  double sums[POSITION_SAMPLE_SUMS];
  KERNEL_CALL(work->step->core, position_sum_samples)
  (&state->samples, solid->sample_begin, solid->sample_end, vec3_sub(solid->center, state->origin), sums);
  Mat3 spread = {{{sums[4], sums[5], sums[6]}, {sums[5], sums[7], sums[8]}, {sums[6], sums[8], sums[9]}}};
  body->middle = vec3_scale(vec3(sums[1], sums[2], sums[3]), 1 / sums[0]);
  add_outer(&spread, vec3_scale(body->middle, -sums[0]), body->middle);
  body->unpushed = mat3_mul(body->turn, spread);
}

Status position_take_bodies(PositionStep *work) {
  const Solids *solids = &work->step->state->solids;
  TRY(scratch_take(work->step->core, work->step->scratch, &work->bodies.items, solids->count, "bodies in the solve"));
  for (int32_t k = 0; k < solids->count; k++) body_create(work, k);
  return SCREE_OK;
}

void position_bodies_found(PositionStep *work) {
  for (int32_t k = 0; k < work->step->state->solids.count; k++)
    if (work->bodies.items[k].matched && is_touched(&work->bodies.items[k])) measure_shape(work, k);
}

void position_load_boundary(PositionStep *work, const PositionWindow *window) {
  const State *state = work->step->state;
  int64_t first = window->boundary, end = first + window->boundary_count;
  memset(work->rows.shift + work->layout.boundary_row + first, 0, sizeof *work->rows.shift * (size_t)(end - first));
  memset(work->rows.next + work->layout.boundary_row + first, 0, sizeof *work->rows.next * (size_t)(end - first));
  for (int64_t g = first; g < end; g++) {
    const BoundaryContact *contact = &work->layout.boundary[g];
    float *row = work->rows.now[work->layout.boundary_row + g];
    row[3] = 0;
    set_boundary_row(work, g);
    if (!is_pushed(work, g)) continue;
    double count = (double)atomic_load(&work->bodies.items[contact->solid].boundary);
    double share = work->settings->averaging ? 1 : fmax(count / (double)work->settings->relaxation, 1);
    row[3] = (float)(share * body_weight(&state->solids.items[contact->solid], contact->arm));
  }
}

void position_copy_boundary(PositionStep *work, const PositionWindow *window) {
  int64_t first = work->layout.boundary_row + window->boundary;
  memcpy(work->rows.next + first, work->rows.now + first, sizeof *work->rows.next * (size_t)window->boundary_count);
}

/* The remembered pushes of a grain's contacts: what of them moves it, and what only squeezes it. */
typedef struct Pressed {
  float moves, squeezes;
} Pressed;

static Pressed pressed_by_memory(const PositionStep *work, int64_t i) {
  const PositionSlots *s = &work->layout.slots;
  int64_t end, first = position_slots_of(s, i, &end);
  float total = 0, x = 0, y = 0, z = 0;
  for (int64_t slot = first; slot < end; slot += SLICE) {
    float push = s->ln[slot];
    total += push;
    x += push * s->nx[slot];
    y += push * s->ny[slot];
    z += push * s->nz[slot];
  }
  float moves = sqrtf(x * x + y * y + z * z);
  return (Pressed){moves, total - moves};
}

/* Where the boundary contacts of the grain that has contact g begin and end. */
static int64_t boundary_of_grain(const PositionStep *work, int64_t g, int64_t *end) {
  int32_t grain = work->layout.boundary[g].grain;
  const PositionWindow *window = position_window(work, grain);
  int64_t first = g;
  while (first > window->boundary && work->layout.boundary[first - 1].grain == grain) first--;
  for (*end = g + 1; *end < window->boundary + window->boundary_count && work->layout.boundary[*end].grain == grain;)
    ++*end;
  return first;
}

/* Whether something that grains cannot move pressed the grain of contact `own` in the last step. */
static bool is_backed(const PositionStep *work, int64_t own) {
  int64_t end;
  for (int64_t g = boundary_of_grain(work, own, &end); g < end; g++)
    if (!is_pushed(work, g) && work->layout.slots.ln[work->layout.boundary[g].slot] > 0) return true;
  return false;
}

/* A contact tells a body of a grain by the grain's mass, so a body of ten thousand times that mass has run into the
 * grains that it pins against a floor long before they have learnt to bear it. But such a grain has the floor behind
 * it: it may count for as much as it bears, and what the body loses of its momentum the floor gets. Its weight stays
 * what it is: a grain that counts for k of its kind falls a k-th as far. (Parts of mechanisms are left out: motors push
 * them on, and what they pin is pressed deeper.) */
static void weigh_down(PositionStep *work, int64_t i, float kind) {
  const Vec3 gravity = work->step->state->gravity;
  float held = (1 - 1 / kind) * work->dt * work->dt;
  work->rows.w[i] /= kind;
  work->rows.now[i][3] /= kind;
  work->rows.shift[i][3] /= kind;
  work->rows.now[i][0] -= held * (float)gravity.x;
  work->rows.now[i][1] -= held * (float)gravity.y;
  work->rows.now[i][2] -= held * (float)gravity.z;
}

/* Where a grain slips out of such a pinch what its solids pushed with is forgotten as far as it would throw it. */
static void forget(PositionStep *work, int64_t own, float share) {
  PositionSlots *s = &work->layout.slots;
  int64_t end;
  for (int64_t g = boundary_of_grain(work, own, &end); g < end; g++) {
    int64_t slot = work->layout.boundary[g].slot;
    s->ln[slot] *= share;
    s->ltx[slot] *= share;
    s->lty[slot] *= share;
    s->ltz[slot] *= share;
  }
}

static void pin(PositionStep *work, const PositionWindow *window) {
  const State *state = work->step->state;
  float fall = (float)vec3_length(state->gravity) * work->dt * work->dt;
  float far = POSITION_THROWN * (float)state->radius;
  if (!work->settings->memory || !(fall > 0)) return;
  int64_t last = -1;
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++) {
    const BoundaryContact *contact = &work->layout.boundary[g];
    int64_t i = contact->grain;
    if (i == last || state->solids.items[contact->solid].motion != MOTION_FREE) continue;
    last = i;
    Pressed pressed = pressed_by_memory(work, i);
    float kind = fminf(pressed.squeezes * work->rows.w[i] / fall, POSITION_PINNED_MOST);
    if (kind > 1 && is_backed(work, g)) weigh_down(work, i, kind);
    float thrown = pressed.moves * work->rows.w[i];
    if (thrown > far) forget(work, g, far / thrown);
  }
}

/* Contacts of the chunk with bodies that grains can move, from `place` on; returns where the last ends. */
static int32_t list_riding(PositionStep *work, const PositionWindow *window, int64_t chunk, int32_t place) {
  int32_t first = place, pushes = 0, last = -1;
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++) {
    const BoundaryContact *contact = &work->layout.boundary[g];
    if (!is_pushed(work, g) || work->layout.slots.lane[contact->grain] / (POSITION_CHUNK * SLICE) != chunk) continue;
    work->bodies.riding[place++] = (int32_t)g;
    if (!work->bodies.pushes || !work->bodies.items[contact->solid].matched || contact->solid == last) continue;
    work->bodies.pushes[first + pushes++].solid = last = contact->solid;
  }
  if (work->bodies.pushes) work->bodies.push_count[chunk] = pushes;
  return place;
}

void position_ride(PositionStep *work, int64_t b) {
  const PositionWindow *window = position_window(work, b);
  int64_t chunk = b / (POSITION_CHUNK * SLICE);
  int32_t *start = work->bodies.riding_start + chunk;
  if (start[0] == start[2]) {
    start[1] = start[0];
    if (work->bodies.pushes) work->bodies.push_count[chunk] = work->bodies.push_count[chunk + 1] = 0;
    return;
  }
  start[1] = list_riding(work, window, chunk, start[0]);
  list_riding(work, window, chunk + 1, start[1]);
  pin(work, window);
}

/* What the contact has pushed the grain by so far, kg m. */
static Vec3 boundary_multiplier(const PositionStep *work, int64_t g) {
  const PositionSlots *s = &work->layout.slots;
  int64_t at = work->layout.boundary[g].slot;
  Vec3 n = vec3((double)s->nx[at], (double)s->ny[at], (double)s->nz[at]);
  return vec3_madd(vec3((double)s->ltx[at], (double)s->lty[at], (double)s->ltz[at]), n, (double)s->ln[at]);
}

Status position_take_pushes(PositionStep *work) {
  Core *core = work->step->core;
  bool any = false;
  for (int32_t k = 0; k < work->step->state->solids.count; k++)
    any |= work->bodies.items[k].matched && is_touched(&work->bodies.items[k]);
  if (!any) return SCREE_OK;
  TRY(scratch_take(core, work->step->scratch, &work->bodies.pushes, work->bodies.riding_count, "pushes on bodies"));
  return scratch_take(core, work->step->scratch, &work->bodies.push_count,
                      2 * parallel_chunks(0, work->count, POSITION_WINDOW), "pushes on bodies");
}

void position_move_boundary(PositionStep *work, int64_t b, int64_t e) {
  int64_t first = b / POSITION_CHUNK, end = (e + POSITION_CHUNK - 1) / POSITION_CHUNK;
  for (int32_t k = work->bodies.riding_start[first]; k < work->bodies.riding_start[end]; k++)
    set_boundary_row(work, work->bodies.riding[k]);
}

/* Contacts in a row with one body have one sum; list_riding has told whose. */
static void sum_chunk(PositionStep *work, int64_t chunk) {
  int32_t first = work->bodies.riding_start[chunk], end = work->bodies.riding_start[chunk + 1];
  PositionPush *sum = work->bodies.pushes + first;
  for (int32_t k = 0; k < work->bodies.push_count[chunk]; k++) sum[k] = (PositionPush){.solid = sum[k].solid};
  for (int32_t k = first; k < end; k++) {
    const BoundaryContact *contact = &work->layout.boundary[work->bodies.riding[k]];
    const PositionBody *body = &work->bodies.items[contact->solid];
    if (!body->matched) continue;
    if (contact->solid != sum->solid) sum++;
    Vec3 push = vec3_scale(boundary_multiplier(work, work->bodies.riding[k]), -1);
    Vec3 arm = vec3((double)contact->arm[0], (double)contact->arm[1], (double)contact->arm[2]);
    sum->push = vec3_add(sum->push, push);
    add_outer(&sum->moments, push, vec3_sub(arm, body->middle));
  }
}

void position_sum_pushes(PositionStep *work, int64_t b, int64_t e) {
  for (int64_t s = b; s < e; s += POSITION_CHUNK) sum_chunk(work, s / POSITION_CHUNK);
}

static void take_push(PositionStep *work, int64_t g) {
  const BoundaryContact *contact = &work->layout.boundary[g];
  PositionBody *body = &work->bodies.items[contact->solid];
  const Solid *solid = &work->step->state->solids.items[contact->solid];
  Vec3 push = vec3_scale(boundary_multiplier(work, g), -1);
  Vec3 twist = vec3_cross(vec3((double)contact->arm[0], (double)contact->arm[1], (double)contact->arm[2]), push);
  const double parts[6] = {push.x, push.y, push.z, twist.x, twist.y, twist.z};
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 6; c++) body->moved[r] += solid->inverse_inertia[r][c] * parts[c];
}

static void begin_bodies(PositionStep *work, bool matched) {
  for (int32_t k = 0; k < work->step->state->solids.count; k++) {
    PositionBody *body = &work->bodies.items[k];
    if (!is_touched(body) || body->matched != matched) continue;
    memcpy(body->moved, body->start, sizeof body->moved);
    if (matched) body->covariance = body->unpushed;
  }
}

/* Bodies that are pushed as a whole: in the order of the boundary contacts, whatever the threads did. */
static void move_pushed(PositionStep *work) {
  begin_bodies(work, false);
  for (int64_t k = 0; k < work->bodies.pushed_count; k++) take_push(work, work->bodies.pushed[k]);
  for (int32_t k = 0; k < work->step->state->solids.count; k++)
    if (is_touched(&work->bodies.items[k]) && !work->bodies.items[k].matched) turn_body(&work->bodies.items[k]);
}

/* Matched bodies: in the order of the chunks. The samples' centre is not quite that of the mesh: the body's own one
 * takes the sum of the pushes, exactly. */
static void match_shapes(PositionStep *work) {
  const Solids *solids = &work->step->state->solids;
  const int64_t chunks = parallel_chunks(0, work->layout.slots.slices, POSITION_CHUNK);
  begin_bodies(work, true);
  for (int64_t c = 0; c < chunks; c++)
    for (int32_t k = 0; k < work->bodies.push_count[c]; k++) {
      const PositionPush *sum = &work->bodies.pushes[work->bodies.riding_start[c] + k];
      PositionBody *body = &work->bodies.items[sum->solid];
      double per_mass = 1 / solids->items[sum->solid].mass;
      body->moved[0] += sum->push.x * per_mass;
      body->moved[1] += sum->push.y * per_mass;
      body->moved[2] += sum->push.z * per_mass;
      for (int r = 0; r < 3; r++)
        for (int i = 0; i < 3; i++) body->covariance.m[r][i] += sum->moments.m[r][i];
    }
  for (int32_t k = 0; k < solids->count; k++) {
    PositionBody *body = &work->bodies.items[k];
    if (!is_touched(body) || !body->matched) continue;
    body->turned = mat3_polar_rotation(body->covariance, body->turned);
    body->turn = mat3_from_quat(body->turned);
    body->turns = true;
  }
}

void position_move_bodies(PositionStep *work) {
  if (work->bodies.pushed_count > 0) move_pushed(work);
  if (work->bodies.pushes) match_shapes(work);
}

enum { WRENCH_SUMS = 4 };

/* Force = multiplier / dt^2 (Holz Eq. 34), equal and opposite to what the grain got. */
void position_push_solids(PositionStep *work, const PositionWindow *window) {
  Solids *solids = &work->step->state->solids;
  double per_square = 1 / ((double)work->dt * (double)work->dt);
  if (window->boundary_count == 0) return;
  WrenchSum sums[WRENCH_SUMS] = {0}; /* grains touch solids by turns: floor and tool, say */
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++) {
    const BoundaryContact *contact = &work->layout.boundary[g];
    if (work->bodies.items[contact->solid].matched) continue;
    Solid *solid = &solids->items[contact->solid];
    Vec3 arm = vec3((double)contact->arm[0], (double)contact->arm[1], (double)contact->arm[2]);
    wrench_sum_add(&sums[contact->solid % WRENCH_SUMS], solid, vec3_scale(boundary_multiplier(work, g), -per_square),
                   vec3_add(solid->center, arm));
  }
  for (int k = 0; k < WRENCH_SUMS; k++) wrench_sum_end(&sums[k]);
}

/* The force and torque that give a matched body the motion that was found for it. It is bodies/ that moves it, so that
 * walls and other bodies stop it like any other. */
static void push_matched(PositionStep *work, int32_t index) {
  Solid *solid = &work->step->state->solids.items[index];
  const PositionBody *body = &work->bodies.items[index];
  double per_square = 1 / ((double)work->dt * (double)work->dt);
  Vec3 displacement =
      vec3(body->moved[0] - body->start[0], body->moved[1] - body->start[1], body->moved[2] - body->start[2]);
  Vec3 turn = vec3_sub(quat_to_vector(body->turned), vec3(body->start[3], body->start[4], body->start[5]));
  Vec3 in_shape = quat_rotate(quat_conjugate(solid->rotation), turn);
  Vec3 torque = quat_rotate(solid->rotation, mat3_apply(&solid->inertia, in_shape));
  wrench_add_torque(solid, vec3_scale(torque, per_square));
  wrench_add(solid, vec3_scale(displacement, solid->mass * per_square), solid->center);
}

void position_push_matched(PositionStep *work) {
  if (!work->bodies.pushes) return;
  match_shapes(work);
  for (int32_t k = 0; k < work->step->state->solids.count; k++)
    if (work->bodies.items[k].matched && is_touched(&work->bodies.items[k])) push_matched(work, k);
}
