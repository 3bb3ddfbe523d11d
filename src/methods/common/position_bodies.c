/* Solids in the solve: how those that grains can move take part in the iterations, and what pushes them. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_contacts.h"
#include "methods/common/position_kernels.h"

/* Fewer samples than this cannot tell a rotation: such a body is pushed as a whole. */
enum { MATCHED_SAMPLES_MIN = 4 };

/* Acceleration without the grains. What holds or drives a part of a mechanism does so as in the last step: a bed that a
 * motor holds against its load starts with a push against that load and then gives way to it, by as much. (Parts that
 * do not give way at all inside the solve were rejected: a load heavier than the part then throws it back and forth,
 * since one follows the other a step late; the lag here dies out for any ratio of the masses.) */
static PositionTwist free_acceleration(const State *state, const Solid *solid) {
  PositionTwist twist;
  if (solid->motion == MOTION_FREE)
    return twist_of(vec3_madd(state->gravity, solid->outside_force, solid->mass > 0 ? 1 / solid->mass : 0),
                    vec3(0, 0, 0));
  memcpy(twist.part, solid->driven, sizeof twist.part);
  return twist;
}

static void body_create(PositionStep *work, int32_t index) {
  const State *state = work->step->state;
  const Solid *solid = &state->solids.items[index];
  PositionBody *body = &work->bodies.items[index];
  const double dt = (double)work->dt, h = (double)work->h;
  *body = (PositionBody){.movable = solid->motion == MOTION_FREE || solid->motion == MOTION_MECHANISM};
  body->matched = solid->motion == MOTION_FREE && solid->contact == SCREE_CONTACT_SAMPLES &&
                  solid->sample_end - solid->sample_begin >= MATCHED_SAMPLES_MIN;
  const PositionTwist velocity = twist_of(solid->velocity, solid->spin), none = {{0}};
  const PositionTwist acceleration = free_acceleration(state, solid);
  body->gain = body->movable ? twist_madd(none, &acceleration, h * h) : none;
  body->free = twist_madd(twist_madd(none, &velocity, dt), &acceleration, dt * dt);
  body->alone = body->movable ? twist_madd(body->gain, &velocity, h) : twist_madd(none, &body->free, h / dt);
  body->moved = body->alone;
  ride_turn(&body->ride);
  Vec3 way = twist_linear(&body->free), turn = twist_angular(&body->free);
  body->turns = turn.x != 0 || turn.y != 0 || turn.z != 0;
  body->free_turned = quat_from_vector(turn);
  body->free_turn = mat3_from_quat(body->free_turned);
  body->rotated = quat_from_vector(vec3(0, 0, 0));
  body->rotation = body->last_turn = mat3_identity();
  body->still = !body->movable && !body->turns && way.x == 0 && way.y == 0 && way.z == 0;
  body->upright = solid->rotation.w == 1 && solid->rotation.x == 0 && solid->rotation.y == 0 && solid->rotation.z == 0;
  const Shape *shape = &solid->shape;
  bool faces =
      (shape->inside && (shape->kind == SCREE_SHAPE_BOX || shape->kind == SCREE_SHAPE_CYLINDER)) || shape->faces.meet;
  body->faces = faces ? SHAPE_CONTACTS_MAX : 1;
  atomic_init(&body->boundary, 0);
}

/* Inverse mass of a solid at a contact, at most: splitting by it keeps the iteration convergent. */
void position_body_weight(const Solid *solid, double *linear, double *angular) {
  *linear = *angular = 0;
  for (int k = 0; k < 3; k++) {
    *linear = fmax(*linear, solid->inverse_inertia[k][k]);
    *angular += solid->inverse_inertia[3 + k][3 + k];
  }
}

static double body_weight(const Solid *solid, const float arm[3]) {
  double linear, angular;
  position_body_weight(solid, &linear, &angular);
  return linear + angular * (double)(arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]);
}

/* Where a contact pushes a solid, from its centre of mass, at the substep's start. A grain that touches by distance
 * has it at its own centre, wherever it has gone since the step's start: there it is pushed itself, so the moments of
 * the two pushes cancel. A sample goes with its body. */
static Vec3 lever_now(const PositionStep *work, const BoundaryContact *contact) {
  const PositionBody *body = &work->bodies.items[contact->solid];
  const Vec3 arm = position_vec3(contact->arm);
  if (contact->sampled) return mat3_apply(&body->rotation, arm);
  float *const *total = work->rows.lanes.total;
  const int32_t lane = work->layout.slots.lane[contact->grain];
  const Vec3 gone = vec3((double)total[0][lane], (double)total[1][lane], (double)total[2][lane]);
  return vec3_add(arm, vec3_sub(gone, twist_linear(&body->total)));
}

/* Rows of a boundary contact: where the body brings the point in the substep, and where it brought it in the one
 * before. A point goes where the turn brings it, not along the tangent: what sticks to a turning wall would wander into
 * it. */
typedef struct BoundaryMotion {
  Vec3 lever, last, now;
} BoundaryMotion;

static Vec3 carried(Vec3 by, const Mat3 *turn, Vec3 arm) { return vec3_add(by, vec3_sub(mat3_apply(turn, arm), arm)); }

static BoundaryMotion boundary_motion(const PositionStep *work, int64_t g) {
  const BoundaryContact *contact = &work->layout.boundary[g];
  const PositionBody *body = &work->bodies.items[contact->solid];
  Vec3 lever = position_vec3(contact->lever), now = lever_now(work, contact);
  return (BoundaryMotion){now, carried(body->last_shift, &body->last_turn, lever),
                          carried(twist_linear(&body->moved), &body->turn, now)};
}

/* Grains that do not turn meet a solid at their centres, those that do where they touch: at minus the radius times the
 * normal from there. A sample is met at its own centre. */
static Vec3 touch_from_center(const PositionStep *work, const BoundaryContact *contact) {
  if (!work->turning || contact->sampled) return vec3(0, 0, 0);
  return boundary_touch_from_center(position_vec3(contact->normal),
                                    (double)work->step->state->particles.radius[contact->grain]);
}

/* What the surface of a solid moves by there, besides its row, which is that at the grain's centre: as the way of a
 * rim, see position_turning_slide. */
static Vec3 boundary_rim(const PositionStep *work, const BoundaryContact *contact) {
  const PositionBody *body = &work->bodies.items[contact->solid];
  if (contact->sampled) return vec3(0, 0, 0);
  return vec3_scale(twist_angular(&body->moved), -(double)work->step->state->particles.radius[contact->grain]);
}

static void set_row(float *row, Vec3 to) { row[0] = (float)to.x, row[1] = (float)to.y, row[2] = (float)to.z; }

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
void position_measure_shape(const PositionStep *work, int32_t index) {
  const State *state = work->step->state;
  const Solid *solid = &state->solids.items[index];
  PositionBody *body = &work->bodies.items[index];
  double sums[POSITION_SAMPLE_SUMS];
  KERNEL_CALL(work->step->core, position_sum_samples)
  (&state->samples, solid->sample_begin, solid->sample_end, vec3_sub(solid->center, state->origin), sums);
  Mat3 spread = {{{sums[4], sums[5], sums[6]}, {sums[5], sums[7], sums[8]}, {sums[6], sums[8], sums[9]}}};
  body->middle = vec3_scale(vec3(sums[1], sums[2], sums[3]), 1 / sums[0]);
  add_outer(&spread, vec3_scale(body->middle, -sums[0]), body->middle);
  body->spread = spread;
}

Status position_take_bodies(PositionStep *work) {
  const Solids *solids = &work->step->state->solids;
  TRY(scratch_take(work->step->core, work->step->scratch, &work->bodies.items, solids->count, "bodies in the solve"));
  for (int32_t k = 0; k < solids->count; k++) body_create(work, k);
  return SCREE_OK;
}

void position_bodies_found(PositionStep *work) {
  for (int32_t k = 0; k < work->step->state->solids.count; k++) {
    if (!work->bodies.items[k].matched || !is_touched(&work->bodies.items[k])) continue;
    position_measure_shape(work, k);
    work->bodies.match = true;
  }
}

void position_load_boundary(PositionStep *work, const PositionWindow *window) {
  const State *state = work->step->state;
  int64_t first = window->boundary, end = first + window->boundary_count;
  memset(work->rows.last + work->layout.boundary_row + first, 0, sizeof *work->rows.last * (size_t)(end - first));
  memset(work->rows.last_next + work->layout.boundary_row + first, 0, sizeof *work->rows.last * (size_t)(end - first));
  memset(work->rows.next + work->layout.boundary_row + first, 0, sizeof *work->rows.next * (size_t)(end - first));
  for (int64_t g = first; g < end; g++) {
    const BoundaryContact *contact = &work->layout.boundary[g];
    const int64_t at = work->layout.boundary_row + g;
    float *row = work->rows.now[at];
    memset(row, 0, sizeof *work->rows.now);
    const PositionBody *body = &work->bodies.items[contact->solid];
    if (!body->still) set_row(row, carried(twist_linear(&body->moved), &body->turn, position_vec3(contact->arm)));
    if (!is_pushed(work, g)) continue;
    double count = (double)atomic_load(&body->boundary);
    double share =
        work->settings->averaging ? 1 : fmax(count / (double)position_relaxation(work, POSITION_BOUNDARY_BATCH), 1);
    row[3] = (float)(share * body_weight(&state->solids.items[contact->solid], contact->arm));
  }
}

void position_load_boundary_turns(PositionStep *work, const PositionWindow *window) {
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++) {
    const int64_t row = work->layout.boundary_row + g;
    const BoundaryContact *contact = &work->layout.boundary[g];
    set_row(work->turns.now[row], boundary_rim(work, contact));
    work->turns.now[row][3] = 1;
    memcpy(work->turns.next[row], work->turns.now[row], sizeof *work->turns.now);
  }
}

void position_copy_boundary(PositionStep *work, const PositionWindow *window) {
  int64_t first = work->layout.boundary_row + window->boundary, end = first + window->boundary_count;
  memcpy(work->rows.next + first, work->rows.now + first, sizeof *work->rows.next * (size_t)(end - first));
  for (int64_t row = first; row < end; row++) work->rows.last[row][3] = work->rows.last_next[row][3] = POSITION_FAR;
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

/* Where the boundary contacts of the grain of contact g begin and end. */
static int64_t contacts_of_grain(const PositionStep *work, int64_t g, int64_t *end) {
  int32_t grain = work->layout.boundary[g].grain;
  const PositionWindow *window = position_window(work, grain);
  int64_t first = g;
  while (first > window->boundary && work->layout.boundary[first - 1].grain == grain) first--;
  for (*end = g + 1; *end < window->boundary + window->boundary_count && work->layout.boundary[*end].grain == grain;)
    ++*end;
  return first;
}

/* Whether something that stands still pressed the grain of contact `own` in the last step. */
static bool is_backed(const PositionStep *work, int64_t own) {
  int64_t end;
  for (int64_t g = contacts_of_grain(work, own, &end); g < end; g++)
    if (work->bodies.items[work->layout.boundary[g].solid].still &&
        work->layout.slots.ln[work->layout.boundary[g].slot] > 0)
      return true;
  return false;
}

/* A contact tells a body of a grain by the grain's mass, so a body of ten thousand times that mass has run into the
 * grains that it pins against a floor long before they have learnt to bear it. But such a grain has the floor behind
 * it: it counts for as much as the body does at one of its contacts, and what the body loses of its momentum the floor
 * gets. Its weight stays what it is: a grain that counts for k of its kind falls a k-th as far. (Counting it for as
 * much as it bears was tried: it then changes with every rocking of the body, and feeds it. Parts of mechanisms and
 * what follows a path are left out: they are pushed on, and what they pin is pressed deeper.) */
static void weigh_down(PositionStep *work, int64_t i, float kind) {
  const int32_t lane = work->layout.slots.lane[i];
  const float part = 1 / kind;
  work->rows.w[i] *= part;
  work->rows.now[i][3] *= part;
  work->rows.last[i][3] *= part;
  work->rows.lanes.w[lane] *= part;
  work->rows.lanes.falls[lane] = part;
  for (int batch = 0; batch < POSITION_BATCHES; batch++) work->rows.lanes.split[batch][lane] *= part;
  for (int k = 0; k < 3; k++) work->rows.now[i][k] -= (1 - part) * work->fall[k];
}

/* Where a grain slips out of such a pinch what its solids pushed with is forgotten as far as it would throw it. */
static void forget(PositionStep *work, int64_t own, float share) {
  PositionSlots *s = &work->layout.slots;
  int64_t end;
  for (int64_t g = contacts_of_grain(work, own, &end); g < end; g++) {
    int64_t slot = work->layout.boundary[g].slot;
    s->ln[slot] *= share;
    s->ltx[slot] *= share;
    s->lty[slot] *= share;
    s->ltz[slot] *= share;
  }
}

/* The part of a free body's mass that one of its contacts has. */
static float mass_at_contact(const PositionStep *work, int32_t solid) {
  return (float)(work->step->state->solids.items[solid].mass /
                 (double)atomic_load(&work->bodies.items[solid].boundary));
}

static void pin(PositionStep *work, const PositionWindow *window) {
  const State *state = work->step->state;
  const float far = POSITION_THROWN * (float)state->radius;
  if (!work->settings->memory) return;
  int64_t last = -1;
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++) {
    const BoundaryContact *contact = &work->layout.boundary[g];
    int64_t i = contact->grain;
    if (i == last || state->solids.items[contact->solid].motion != MOTION_FREE) continue;
    last = i;
    Pressed pressed = pressed_by_memory(work, i);
    float kind = fminf(mass_at_contact(work, contact->solid) * work->rows.w[i], POSITION_PINNED_MOST);
    if (kind > 1 && pressed.squeezes > 0 && is_backed(work, g)) weigh_down(work, i, kind);
    float thrown = pressed.moves * work->rows.w[i] * (float)work->substeps;
    if (thrown > far) forget(work, g, far / thrown);
  }
}

/* Contacts of the chunk with solids that move, from `place` on; returns where the last ends. */
static int32_t list_riding(PositionStep *work, const PositionWindow *window, int64_t chunk, int32_t place) {
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++) {
    const BoundaryContact *contact = &work->layout.boundary[g];
    if (work->bodies.items[contact->solid].still ||
        work->layout.slots.lane[contact->grain] / (POSITION_CHUNK * SLICE) != chunk)
      continue;
    work->bodies.riding[place++] = (int32_t)g;
  }
  return place;
}

void position_ride(PositionStep *work, int64_t b) {
  const PositionWindow *window = position_window(work, b);
  int64_t chunk = b / (POSITION_CHUNK * SLICE);
  int32_t *start = work->bodies.riding_start + chunk;
  if (start[0] == start[2]) {
    start[1] = start[0];
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

void position_move_boundary(PositionStep *work, int64_t b, int64_t e) {
  int64_t first = b / POSITION_CHUNK, end = (e + POSITION_CHUNK - 1) / POSITION_CHUNK;
  for (int32_t k = work->bodies.riding_start[first]; k < work->bodies.riding_start[end]; k++) {
    const int64_t row = work->layout.boundary_row + work->bodies.riding[k];
    const BoundaryMotion motion = boundary_motion(work, work->bodies.riding[k]);
    set_row(work->layout.boundary[work->bodies.riding[k]].lever, motion.lever);
    set_row(work->rows.last[row], motion.last);
    set_row(work->rows.last_next[row], motion.last);
    set_row(work->rows.now[row], motion.now);
    set_row(work->rows.next[row], motion.now);
    if (!work->turning) continue;
    const Vec3 rim = boundary_rim(work, &work->layout.boundary[work->bodies.riding[k]]);
    set_row(work->turns.now[row], rim);
    set_row(work->turns.next[row], rim);
  }
}

/* Contacts in a row with one body are summed up before it is told. */
static void sum_chunk(PositionStep *work, int64_t chunk) {
  const double per_square = 1 / ((double)work->h * (double)work->h);
  PositionBody *told = NULL;
  int64_t sum[MATCH_SUMS];
  for (int32_t k = work->bodies.riding_start[chunk]; k < work->bodies.riding_start[chunk + 1]; k++) {
    const BoundaryContact *contact = &work->layout.boundary[work->bodies.riding[k]];
    PositionBody *body = &work->bodies.items[contact->solid];
    WrenchUnits parts[MATCH_SUMS];
    if (!body->matched) continue;
    if (body != told) {
      if (told) position_add_match(told, sum);
      memset(sum, 0, sizeof sum);
      told = body;
    }
    const Vec3 push = vec3_scale(boundary_multiplier(work, work->bodies.riding[k]), -1);
    boundary_match(push, vec3_sub(position_vec3(contact->arm), body->middle), per_square, parts);
    for (int c = 0; c < MATCH_SUMS; c++) sum[c] = (int64_t)((uint64_t)sum[c] + (uint64_t)parts[c]);
  }
  if (told) position_add_match(told, sum);
}

void position_sum_pushes(PositionStep *work, int64_t b, int64_t e) {
  for (int64_t s = b; s < e; s += POSITION_CHUNK) sum_chunk(work, s / POSITION_CHUNK);
}

static void take_push(PositionStep *work, int64_t g) {
  const BoundaryContact *contact = &work->layout.boundary[g];
  PositionBody *body = &work->bodies.items[contact->solid];
  const Solid *solid = &work->step->state->solids.items[contact->solid];
  Vec3 push = vec3_scale(boundary_multiplier(work, g), -1);
  Vec3 twist = vec3_cross(vec3_add(position_vec3(contact->lever), touch_from_center(work, contact)), push);
  const double parts[6] = {push.x, push.y, push.z, twist.x, twist.y, twist.z};
  for (int r = 0; r < 6; r++) {
    body->push.part[r] += parts[r];
    for (int c = 0; c < 6; c++) body->moved.part[r] += solid->inverse_inertia[r][c] * parts[c];
  }
  if (!work->turning) return;
  const float rolling = position_of_kind(work, work->layout.rolling, contact->slot);
  const float load = fmaxf(work->layout.slots.ln[contact->slot], 0);
  body->resistance += (double)(rolling * load * work->step->state->particles.radius[contact->grain]);
}

static void resist_rolling(PositionStep *work, int32_t index) {
  const Solid *solid = &work->step->state->solids.items[index];
  if (solid->motion == MOTION_FREE)
    ride_resist_rolling(&work->bodies.items[index].ride, solid->rotation, &solid->inertia);
}

/* Bodies that are pushed as a whole: in the order of the boundary contacts, whatever the threads did. */
static void move_pushed(PositionStep *work) {
  const int32_t count = work->step->state->solids.count;
  for (int32_t k = 0; k < count; k++)
    if (is_touched(&work->bodies.items[k]) && !work->bodies.items[k].matched) {
      work->bodies.items[k].moved = work->bodies.items[k].alone;
      work->bodies.items[k].push = (PositionTwist){{0}};
      work->bodies.items[k].resistance = 0;
    }
  for (int64_t k = 0; k < work->bodies.pushed_count; k++) take_push(work, work->bodies.pushed[k]);
  for (int32_t k = 0; k < count; k++)
    if (is_touched(&work->bodies.items[k]) && !work->bodies.items[k].matched) {
      resist_rolling(work, k);
      ride_turn(&work->bodies.items[k].ride);
    }
}

void position_move_by(PositionStep *work, int32_t index, const double moved[6], const double push[6],
                      double resistance) {
  PositionBody *body = &work->bodies.items[index];
  memcpy(body->moved.part, moved, sizeof body->moved.part);
  memcpy(body->push.part, push, sizeof body->push.part);
  body->resistance = resistance;
  resist_rolling(work, index);
  ride_turn(&body->ride);
}

/* The sums so far, which begin anew, in kg m and kg m^2. */
static void take_match(const PositionStep *work, PositionBody *body, double sums[MATCH_SUMS]) {
  const double unit = 0x1p-30 * ((double)work->h * (double)work->h);
  for (int k = 0; k < MATCH_SUMS; k++)
    sums[k] = (double)atomic_exchange_explicit(&body->match[k], 0, memory_order_relaxed) * unit;
}

/* The samples' centre is not quite that of the mesh: the body's own one takes the sum of the pushes. Arms are those of
 * the step's start, so both sides are turned on by the rotation since then. */
void position_match(PositionStep *work, int32_t index) {
  PositionBody *body = &work->bodies.items[index];
  const double per_mass = 1 / work->step->state->solids.items[index].mass;
  double sums[MATCH_SUMS];
  take_match(work, body, sums);
  body->moved = body->alone;
  ride_turn(&body->ride);
  body->covariance = mat3_mul(mat3_mul(body->turn, body->rotation), body->spread);
  for (int r = 0; r < 3; r++) {
    body->moved.part[r] += sums[r] * per_mass;
    for (int c = 0; c < 3; c++) body->covariance.m[r][c] += sums[3 + 3 * r + c];
  }
  Mat3 turned_back = mat3_transpose(body->rotation);
  body->turned = mat3_polar_rotation(mat3_mul(body->covariance, turned_back), body->turned);
  body->turn = mat3_from_quat(body->turned);
  Vec3 turn = quat_to_vector(body->turned);
  body->moved = twist_of(twist_linear(&body->moved), turn);
}

void position_move_bodies(PositionStep *work) {
  if (work->bodies.pushed_count > 0) move_pushed(work);
  for (int32_t k = 0; k < work->step->state->solids.count && work->bodies.match; k++)
    if (work->bodies.items[k].matched && is_touched(&work->bodies.items[k])) position_match(work, k);
}

/* In the first substep the multipliers of the last step push; later ones go on with what pushed in the one before. */
void position_begin_substep(PositionStep *work) {
  if (work->substep == 0 && work->settings->memory) position_move_bodies(work);
}

void position_end_substep(PositionStep *work) {
  position_move_bodies(work);
  for (int32_t k = 0; k < work->step->state->solids.count; k++) {
    PositionBody *body = &work->bodies.items[k];
    if (body->still) continue;
    ride_end_substep(&body->ride, work->substep + 1 < work->substeps && body->movable, work->settings->memory);
  }
}

enum { WRENCH_SUMS = 4 };

/* What the contact has pushed the grain with in all substeps, kg m. */
static Vec3 boundary_sum(const PositionStep *work, const BoundaryContact *contact) {
  const float *const *sum = (const float *const *)work->rows.boundary_sum;
  return vec3((double)sum[0][contact->sum], (double)sum[1][contact->sum], (double)sum[2][contact->sum]);
}

/* Force = multiplier / h^2 (Holz Eq. 34), its mean over the substeps, equal and opposite to what the grain got. */
void position_push_solids(PositionStep *work, const PositionWindow *window) {
  Solids *solids = &work->step->state->solids;
  double per_square = 1 / ((double)work->dt * (double)work->h); /* the mean over the substeps */
  if (window->boundary_count == 0) return;
  WrenchSum sums[WRENCH_SUMS] = {0}; /* grains touch solids by turns: floor and tool, say */
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++) {
    const BoundaryContact *contact = &work->layout.boundary[g];
    if (is_pushed(work, g)) continue; /* position_push_bodies */
    Solid *solid = &solids->items[contact->solid];
    const BoundaryPush push = boundary_push(boundary_sum(work, contact), per_square, solid->center,
                                            position_vec3(contact->arm), touch_from_center(work, contact));
    wrench_sum_push(&sums[contact->solid % WRENCH_SUMS], solid, push.force, push.torque);
  }
  for (int k = 0; k < WRENCH_SUMS; k++) wrench_sum_end(&sums[k]);
}

/* The force and torque that give a matched body the motion that was found for it. It is bodies/ that moves it, so that
 * walls and other bodies stop it like any other. */
static void push_matched(PositionStep *work, int32_t index) {
  const State *state = work->step->state;
  Solid *solid = &work->step->state->solids.items[index];
  const PositionBody *body = &work->bodies.items[index];
  const double dt = (double)work->dt, per_second = 1 / (double)work->h;
  const PositionTwist before = twist_of(solid->velocity, solid->spin), free = free_acceleration(state, solid);
  PositionTwist gained = twist_madd((PositionTwist){{0}}, &body->moved, per_second);
  gained = twist_madd(twist_madd(gained, &before, -1), &free, -dt);
  Vec3 in_shape = quat_rotate(quat_conjugate(solid->rotation), twist_angular(&gained));
  Vec3 torque = quat_rotate(solid->rotation, mat3_apply(&solid->inertia, in_shape));
  wrench_add_torque(solid, vec3_scale(torque, 1 / dt));
  wrench_add(solid, vec3_scale(twist_linear(&gained), solid->mass / dt), solid->center);
}

/* The mean of what pushed it in the substeps. */
static void push_whole(PositionStep *work, int32_t index) {
  Solid *solid = &work->step->state->solids.items[index];
  const PositionBody *body = &work->bodies.items[index];
  const double per_square = 1 / ((double)work->dt * (double)work->h);
  wrench_add_torque(solid, vec3_scale(twist_angular(&body->pushed), per_square));
  wrench_add(solid, vec3_scale(twist_linear(&body->pushed), per_square), solid->center);
}

/* By how much its velocities at the step's end exceed their means over the substeps. */
static void set_gain(const PositionStep *work, int32_t index) {
  Solid *solid = &work->step->state->solids.items[index];
  const PositionBody *body = &work->bodies.items[index];
  PositionTwist gain = twist_madd(body->moved, &body->total, -1 / (double)work->substeps);
  solid->velocity_gain = vec3_scale(twist_linear(&gain), 1 / (double)work->h);
  solid->spin_gain = vec3_scale(twist_angular(&gain), 1 / (double)work->h);
}

void position_push_bodies(PositionStep *work) {
  const Solids *solids = &work->step->state->solids;
  for (int32_t k = 0; k < solids->count; k++) {
    if (!is_touched(&work->bodies.items[k])) continue;
    if (work->bodies.items[k].matched) push_matched(work, k);
    else push_whole(work, k);
    if (solids->items[k].motion == MOTION_FREE && work->settings->iterations > 0) set_gain(work, k);
  }
}
