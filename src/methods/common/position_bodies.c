/* Contacts with solids: ghosts, and how bodies that grains can move take part in the iterations. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_contacts.h"

enum { FIND_CHUNK = 256, GHOST_CHUNK = 1024, MOVE_CHUNK = 128 };

/* Fewer samples than this cannot tell a rotation: such a body is pushed as a whole. */
enum { MATCHED_SAMPLES_MIN = 4 };

/* A point of a body goes where the turn brings it, not along the tangent: what sticks to a turning wall would wander
 * into it. */
static Vec3 body_way(const PositionBody *body, const float arm[3]) {
  Vec3 from = vec3((double)arm[0], (double)arm[1], (double)arm[2]);
  Vec3 way = vec3(body->moved[0], body->moved[1], body->moved[2]);
  return body->turns ? vec3_add(way, vec3_sub(mat3_apply(&body->turn, from), from)) : way;
}

static void turn_body(PositionBody *body) {
  body->turns = body->moved[3] != 0 || body->moved[4] != 0 || body->moved[5] != 0;
  body->turned = quat_from_vector(vec3(body->moved[3], body->moved[4], body->moved[5]));
  body->turn = mat3_from_quat(body->turned);
}

static void body_create(PositionStep *work, int32_t index) {
  const Solid *solid = &work->step->state->solids.items[index];
  PositionBody *body = &work->bodies[index];
  double dt = (double)work->dt;
  body->movable = solid->motion == MOTION_FREE || solid->motion == MOTION_MECHANISM;
  body->matched = solid->motion == MOTION_FREE && solid->contact == SCREE_CONTACT_SAMPLES &&
                  solid->sample_end - solid->sample_begin >= MATCHED_SAMPLES_MIN;
  /* What holds or drives a part of a mechanism does so as in the last step: a bed that a motor holds against its load
   * starts with a push against that load and then gives way to it, by as much. (Parts that do not give way at all
   * inside the solve were rejected: a load heavier than the part then throws it back and forth, since one answers the
   * other a step late; the lag here dies out for any ratio of the masses.) */
  const double *other = solid->driven;
  Vec3 push = vec3(other[0], other[1], other[2]), twist = vec3(other[3], other[4], other[5]);
  if (solid->motion == MOTION_FREE) {
    push = vec3_madd(work->step->state->gravity, solid->outside_force, solid->mass > 0 ? 1 / solid->mass : 0);
    twist = vec3(0, 0, 0);
  }
  Vec3 way = vec3_scale(vec3_madd(solid->velocity, push, dt), dt);
  Vec3 turn = vec3_scale(vec3_madd(solid->spin, twist, dt), dt);
  const double start[6] = {way.x, way.y, way.z, turn.x, turn.y, turn.z};
  memcpy(body->start, start, sizeof start);
  memcpy(body->moved, start, sizeof start);
  turn_body(body);
  atomic_init(&body->ghosts, 0);
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

static void set_ghost_row(PositionStep *work, int64_t g) {
  const PositionGhost *ghost = &work->ghosts[g];
  const PositionBody *body = &work->bodies[ghost->solid];
  Vec3 way = body_way(body, ghost->arm);
  float *row = work->d4[work->padded + g];
  row[0] = (float)way.x;
  row[1] = (float)way.y;
  row[2] = (float)way.z;
}

/* Centre of mass at the step's start. */
static Vec3 body_center(const Solid *solid, const PositionBody *body) {
  Vec3 way = vec3(body->start[0], body->start[1], body->start[2]);
  return body->movable ? solid->center : vec3_sub(solid->center, way);
}

/* Only boxes and cylinders that hold grains touch one in several places: their floor, lid and sides. */
static int32_t contact_face(const Solid *solid, Vec3 normal) {
  if (!solid->shape.inside) return 0;
  Vec3 n = quat_rotate(quat_conjugate(solid->rotation), normal);
  if (fabs(n.z) > 0.9) return n.z > 0 ? 1 : 2;
  if (solid->shape.kind != SCREE_SHAPE_BOX) return 3;
  if (fabs(n.x) > 0.9) return n.x > 0 ? 4 : 5;
  return n.y > 0 ? 6 : 7;
}

/* Contact of a grain with the surface of a solid, by distance. The pose is the end's for solids that follow a path
 * and the start's for those that are free (bodies_refresh), so the offset is set back accordingly: it is the one at
 * the step's start, when neither has moved. */
static int find_by_distance(PositionStep *work, int64_t i, int64_t entry, PositionGhost *ghosts) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  int32_t index = state->contacts.solids.list.index[entry];
  const Solid *solid = &state->solids.items[index];
  PositionBody *body = &work->bodies[index];
  float radius = p->radius[i];
  Vec3 start = state_position(state, i), way = vec3((double)p->dx[i], (double)p->dy[i], (double)p->dz[i]);
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  Vec3 center = body_center(solid, body);
  int found = solid_contacts(solid, vec3_add(start, way), (double)(radius + work->margin), touch);
  for (int k = 0; k < found; k++) {
    PositionGhost *ghost = &ghosts[k];
    Vec3 n = touch[k].normal;
    double apart = touch[k].distance - vec3_dot(n, way);
    /* Both sides of a contact meet at the grain's centre, not on the surface. A grain does not turn by itself; so it
     * turns with the solid it sticks to (a point of the surface would leave it behind by its radius times the turn),
     * and friction's moment on the body is that of the force on the grain, opposite: angular momentum is kept. */
    Vec3 arm = vec3_sub(start, center);
    *ghost = (PositionGhost){.solid = index,
                             .grain = (int32_t)i,
                             .sample = -1,
                             .face = contact_face(solid, n),
                             .list = POSITION_SOLIDS,
                             .normal = {(float)n.x, (float)n.y, (float)n.z},
                             .distance = radius,
                             .arm = {(float)arm.x, (float)arm.y, (float)arm.z}};
    if (!body->movable) apart += vec3_dot(n, body_way(body, ghost->arm));
    ghost->apart = (float)apart;
  }
  return found;
}

/* Contact with a sample of a solid: a sphere like a grain. Answers whether it may touch. */
static bool find_by_sample(PositionStep *work, int64_t i, int64_t entry, PositionGhost *ghost) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const SolidSamples *s = &state->samples;
  int32_t sample = state->contacts.samples.list.index[entry], index = s->solid[sample];
  const Solid *solid = &state->solids.items[index];
  PositionBody *body = &work->bodies[index];
  Vec3 at = vec3((double)s->x[sample], (double)s->y[sample], (double)s->z[sample]);
  Vec3 arm = vec3_sub(at, vec3_sub(solid->center, state->origin));
  if (!body->movable && body->turns) arm = quat_rotate(quat_conjugate(body->turned), arm);
  *ghost = (PositionGhost){.solid = index,
                           .grain = (int32_t)i,
                           .sample = sample,
                           .list = POSITION_SAMPLES,
                           .distance = p->radius[i] + s->radius,
                           .arm = {(float)arm.x, (float)arm.y, (float)arm.z}};
  Vec3 way = body_way(body, ghost->arm), back = body->movable ? vec3(0, 0, 0) : way;
  const float offset[3] = {p->x[i] - s->x[sample] + p->low_x[i] + (float)back.x,
                           p->y[i] - s->y[sample] + p->low_y[i] + (float)back.y,
                           p->z[i] - s->z[sample] + p->low_z[i] + (float)back.z};
  float length = sqrtf(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]);
  ghost->apart = length;
  for (int k = 0; k < 3; k++) ghost->normal[k] = length > 0 ? offset[k] / length : (float)(k == 2);
  float x = offset[0] + p->dx[i] - (float)way.x, y = offset[1] + p->dy[i] - (float)way.y,
        z = offset[2] + p->dz[i] - (float)way.z;
  float reach = ghost->distance + work->margin;
  return x * x + y * y + z * z < reach * reach;
}

/* Contacts as they are found: a chunk of grains has room for SHAPE_CONTACTS_MAX with every entry of the lists of solids
 * and one with every entry of the list of samples, and fills it from the front. */
typedef struct Finding {
  PositionStep *work;
  PositionGhost *found;
  int32_t *chunk; /* contacts of each, then those before it */
} Finding;

static int64_t first_found(const State *state, int64_t i) {
  const Contacts *c = &state->contacts;
  int64_t solids = c->solids.list.entries > 0 ? c->solids.list.start[i] : 0;
  int64_t samples = c->samples.list.entries > 0 ? c->samples.list.start[i] : 0;
  return SHAPE_CONTACTS_MAX * solids + samples;
}

/* Contacts of a solid are counted together where they follow each other: threads that all count the floor's one by one
 * would wait for each other. */
typedef struct GhostCount {
  PositionBody *body;
  int64_t count;
} GhostCount;

static void count_ghosts(GhostCount *tally, PositionBody *body, int64_t count) {
  if (tally->body != body && tally->count > 0) {
    atomic_fetch_add_explicit(&tally->body->ghosts, tally->count, memory_order_relaxed);
    tally->count = 0;
  }
  tally->body = body;
  tally->count += count;
}

static void find_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Finding *finding = context;
  PositionStep *work = finding->work;
  const State *state = work->step->state;
  const NeighborList *solids = &state->contacts.solids.list, *samples = &state->contacts.samples.list;
  PositionGhost *first = finding->found + first_found(state, b), *ghost = first;
  GhostCount tally = {NULL, 0};
  for (int64_t i = b; i < e; i++) {
    if (solids->entries > 0)
      for (int64_t k = solids->start[i]; k < solids->start[i + 1]; k++) {
        int found = find_by_distance(work, i, k, ghost);
        count_ghosts(&tally, &work->bodies[solids->index[k]], found);
        ghost += found;
      }
    if (samples->entries > 0)
      for (int64_t k = samples->start[i]; k < samples->start[i + 1]; k++)
        if (find_by_sample(work, i, k, ghost)) count_ghosts(&tally, &work->bodies[(ghost++)->solid], 1);
    work->ghost_start[i + 1] = (int32_t)(ghost - first);
  }
  count_ghosts(&tally, NULL, 0);
  finding->chunk[b / FIND_CHUNK] = (int32_t)(ghost - first);
}

static void gather_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Finding *finding = context;
  PositionStep *work = finding->work;
  int32_t before = finding->chunk[b / FIND_CHUNK];
  int64_t count = work->ghost_start[e];
  memcpy(work->ghosts + before, finding->found + first_found(work->step->state, b),
         sizeof *work->ghosts * (size_t)count);
  for (int64_t i = b; i < e; i++) work->ghost_start[i + 1] += before;
}

static bool is_pushed(const PositionStep *work, int64_t g) { return work->bodies[work->ghosts[g].solid].movable; }

/* The ghosts of bodies that grains can move, in their order. */
static Status list_pushed(PositionStep *work) {
  const State *state = work->step->state;
  int64_t count = 0;
  for (int32_t k = 0; k < state->solids.count; k++)
    if (work->bodies[k].movable) count += atomic_load(&work->bodies[k].ghosts);
  TRY(scratch_take(work->step->core, work->step->scratch, &work->pushed, count, "contacts with bodies"));
  for (int64_t g = 0; g < work->ghost_count && work->pushed_count < count; g++)
    if (is_pushed(work, g)) work->pushed[work->pushed_count++] = (int32_t)g;
  return SCREE_OK;
}

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
  const SolidSamples *s = &state->samples;
  const Solid *solid = &state->solids.items[index];
  PositionBody *body = &work->bodies[index];
  Vec3 center = vec3_sub(solid->center, state->origin), sum = vec3(0, 0, 0);
  Mat3 spread = {{{0}}};
  double total = 0;
  for (int64_t k = solid->sample_begin; k < solid->sample_end; k++) {
    double mass = (double)s->mass[k];
    Vec3 arm = vec3_sub(vec3((double)s->x[k], (double)s->y[k], (double)s->z[k]), center);
    total += mass;
    sum = vec3_madd(sum, arm, mass);
    add_outer(&spread, vec3_scale(arm, mass), arm);
  }
  body->middle = vec3_scale(sum, 1 / total);
  add_outer(&spread, vec3_scale(body->middle, -total), body->middle);
  body->unpushed = mat3_mul(body->turn, spread);
}

Status position_find_ghosts(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  const State *state = work->step->state;
  Finding finding = {.work = work};
  int64_t room = SHAPE_CONTACTS_MAX * state->contacts.solids.list.entries + state->contacts.samples.list.entries;
  int64_t chunks = parallel_chunks(0, work->count, FIND_CHUNK);
  TRY(scratch_take(core, scratch, &work->bodies, state->solids.count, "bodies in the solve"));
  for (int32_t k = 0; k < state->solids.count; k++) body_create(work, k);
  if (room == 0) return SCREE_OK;
  if (room > INT32_MAX) return fail(core, SCREE_NO_MEMORY, "too many contacts with solids: %lld", (long long)room);
  TRY(scratch_take(core, scratch, &work->ghost_start, work->count + 1, "contacts with solids"));
  TRY(scratch_take(core, scratch, &finding.found, room, "contacts with solids"));
  TRY(scratch_take(core, scratch, &finding.chunk, chunks, "contacts with solids"));
  parallel_for(core, 0, work->count, FIND_CHUNK, find_chunk, &finding);
  work->ghost_start[0] = 0;
  for (int64_t c = 0; c < chunks; c++) {
    int32_t here = finding.chunk[c];
    finding.chunk[c] = (int32_t)work->ghost_count;
    work->ghost_count += here;
  }
  TRY(scratch_take(core, scratch, &work->ghosts, work->ghost_count, "contacts with solids"));
  parallel_for(core, 0, work->count, FIND_CHUNK, gather_chunk, &finding);
  for (int32_t k = 0; k < state->solids.count; k++)
    if (work->bodies[k].matched && atomic_load(&work->bodies[k].ghosts) > 0) measure_shape(work, k);
  return list_pushed(work);
}

void position_load_ghosts(PositionStep *work, int64_t b, int64_t e) {
  const State *state = work->step->state;
  for (int64_t g = work->ghost_start[b]; g < work->ghost_start[e]; g++) {
    const PositionGhost *ghost = &work->ghosts[g];
    float *row = work->d4[work->padded + g];
    row[3] = 0;
    set_ghost_row(work, g);
    if (!is_pushed(work, g)) continue;
    double count = (double)atomic_load(&work->bodies[ghost->solid].ghosts);
    double share = work->settings->averaging ? 1 : fmax(count / (double)work->settings->relaxation, 1);
    row[3] = (float)(share * body_weight(&state->solids.items[ghost->solid], ghost->arm));
  }
}

/* What the contact has pushed the grain by so far, kg m. */
static Vec3 ghost_push(const PositionStep *work, int64_t g) {
  const PositionSlots *s = &work->slots;
  int64_t at = work->ghosts[g].slot;
  Vec3 n = vec3((double)s->nx[at], (double)s->ny[at], (double)s->nz[at]);
  return vec3_madd(vec3((double)s->ltx[at], (double)s->lty[at], (double)s->ltz[at]), n, (double)s->ln[at]);
}

/* The samples' centre is not quite that of the mesh: the body's own one takes the sum of the pushes, exactly. */
static void match_shape(PositionBody *body) {
  body->turned = mat3_polar_rotation(body->covariance, body->turned);
  body->turn = mat3_from_quat(body->turned);
  Vec3 turn = quat_to_vector(body->turned);
  body->moved[3] = turn.x;
  body->moved[4] = turn.y;
  body->moved[5] = turn.z;
  body->turns = true;
}

static void take_push(PositionStep *work, int64_t g) {
  const PositionGhost *ghost = &work->ghosts[g];
  PositionBody *body = &work->bodies[ghost->solid];
  const Solid *solid = &work->step->state->solids.items[ghost->solid];
  Vec3 push = vec3_scale(ghost_push(work, g), -1);
  Vec3 arm = vec3((double)ghost->arm[0], (double)ghost->arm[1], (double)ghost->arm[2]);
  if (body->matched) {
    body->moved[0] += push.x / solid->mass;
    body->moved[1] += push.y / solid->mass;
    body->moved[2] += push.z / solid->mass;
    add_outer(&body->covariance, push, vec3_sub(arm, body->middle));
    return;
  }
  Vec3 twist = vec3_cross(arm, push);
  const double parts[6] = {push.x, push.y, push.z, twist.x, twist.y, twist.z};
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 6; c++) body->moved[r] += solid->inverse_inertia[r][c] * parts[c];
}

/* Rows of the bodies' contacts follow the bodies. */
static void move_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  for (int64_t k = b; k < e; k++) {
    int64_t g = work->pushed[k];
    set_ghost_row(work, g);
    memcpy(work->next[work->padded + g], work->d4[work->padded + g], sizeof *work->next);
  }
}

/* In the order of the ghosts, whatever the threads did. */
void position_move_bodies(PositionStep *work) {
  const State *state = work->step->state;
  bool any = false;
  for (int32_t k = 0; k < state->solids.count; k++) {
    PositionBody *body = &work->bodies[k];
    if (!body->movable || atomic_load(&body->ghosts) == 0) continue;
    any = true;
    memcpy(body->moved, body->start, sizeof body->moved);
    turn_body(body);
    body->covariance = body->unpushed;
  }
  if (!any) return;
  for (int64_t k = 0; k < work->pushed_count; k++) take_push(work, work->pushed[k]);
  for (int32_t k = 0; k < state->solids.count; k++) {
    PositionBody *body = &work->bodies[k];
    if (!body->movable || atomic_load(&body->ghosts) == 0) continue;
    if (body->matched) match_shape(body);
    else turn_body(body);
  }
  parallel_for(work->step->core, 0, work->pushed_count, MOVE_CHUNK, move_chunk, work);
}

static void push_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  Solids *solids = &work->step->state->solids;
  double per_square = 1 / ((double)work->dt * (double)work->dt);
  WrenchSum sum = {0};
  for (int64_t g = b; g < e; g++) {
    const PositionGhost *ghost = &work->ghosts[g];
    if (work->bodies[ghost->solid].matched) continue;
    Solid *solid = &solids->items[ghost->solid];
    Vec3 arm = vec3((double)ghost->arm[0], (double)ghost->arm[1], (double)ghost->arm[2]);
    wrench_sum_add(&sum, solid, vec3_scale(ghost_push(work, g), -per_square), vec3_add(solid->center, arm));
  }
  wrench_sum_end(&sum);
}

/* The force and torque that give a matched body the motion that was found for it. It is bodies/ that moves it, so that
 * walls and other bodies stop it like any other. */
static void push_matched(PositionStep *work, int32_t index) {
  Solid *solid = &work->step->state->solids.items[index];
  const PositionBody *body = &work->bodies[index];
  double per_square = 1 / ((double)work->dt * (double)work->dt);
  Vec3 way = vec3(body->moved[0] - body->start[0], body->moved[1] - body->start[1], body->moved[2] - body->start[2]);
  Vec3 turn = vec3(body->moved[3] - body->start[3], body->moved[4] - body->start[4], body->moved[5] - body->start[5]);
  Vec3 in_shape = quat_rotate(quat_conjugate(solid->rotation), turn);
  Vec3 torque = quat_rotate(solid->rotation, mat3_apply(&solid->inertia, in_shape));
  wrench_add_torque(solid, vec3_scale(torque, per_square));
  wrench_add(solid, vec3_scale(way, solid->mass * per_square), solid->center);
}

/* Force = multiplier / dt^2 (Holz Eq. 34), equal and opposite to what the grain got. */
void position_push_solids(PositionStep *work) {
  parallel_for(work->step->core, 0, work->ghost_count, GHOST_CHUNK, push_chunk, work);
  for (int32_t k = 0; k < work->step->state->solids.count; k++)
    if (work->bodies[k].matched && atomic_load(&work->bodies[k].ghosts) > 0) push_matched(work, k);
}
