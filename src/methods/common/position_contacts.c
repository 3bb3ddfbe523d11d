#include "methods/common/position_contacts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

enum { FIND_CHUNK = 512, GHOST_CHUNK = 1024 };

/* A pair gets a slot when its predicted gap is below this many nominal radii: what the corrections of one step may
 * close. */
#define SLOT_MARGIN 0.06f
#define NEVER -1e30f /* a distance that no pair can come closer than */

/* ---- solids ---- */

static void body_create(PositionStep *work, int32_t index) {
  const Solid *solid = &work->step->state->solids.items[index];
  PositionBody *body = &work->bodies[index];
  double dt = (double)work->dt;
  body->movable = solid->motion == MOTION_FREE || solid->motion == MOTION_MECHANISM;
  /* A mechanism's own forces are not known here: its velocity goes on. */
  Vec3 push = solid->motion == MOTION_FREE
                  ? vec3_madd(work->step->state->gravity, solid->outside_force, solid->mass > 0 ? 1 / solid->mass : 0)
                  : vec3(0, 0, 0);
  Vec3 way = vec3_scale(vec3_madd(solid->velocity, push, dt), dt), turn = vec3_scale(solid->spin, dt);
  const double start[6] = {way.x, way.y, way.z, turn.x, turn.y, turn.z};
  memcpy(body->start, start, sizeof start);
  memcpy(body->moved, start, sizeof start);
  atomic_init(&body->ghosts, 0);
}

static Vec3 body_way(const PositionBody *body, const float arm[3]) {
  Vec3 turn = vec3(body->moved[3], body->moved[4], body->moved[5]);
  Vec3 swing = vec3_cross(turn, vec3((double)arm[0], (double)arm[1], (double)arm[2]));
  return vec3_add(vec3(body->moved[0], body->moved[1], body->moved[2]), swing);
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
  if (ghost->solid < 0) return;
  Vec3 way = body_way(&work->bodies[ghost->solid], ghost->arm);
  float *row = work->d4[work->padded + g];
  row[0] = (float)way.x;
  row[1] = (float)way.y;
  row[2] = (float)way.z;
}

/* Contact of a grain with the surface of a solid, by distance. The pose is the end's for solids that follow a path
 * and the start's for those that are free (bodies_refresh), so the offset is set back accordingly: it is the one at
 * the step's start, when neither has moved. */
static void find_by_distance(PositionStep *work, int64_t i, int64_t entry, PositionGhost *ghosts) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  int32_t index = state->contacts.solids.list.index[entry];
  const Solid *solid = &state->solids.items[index];
  PositionBody *body = &work->bodies[index];
  float radius = p->radius[i];
  Vec3 at = vec3_add(state_position(state, i), vec3((double)p->dx[i], (double)p->dy[i], (double)p->dz[i]));
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  int found = solid_contacts(solid, at, (double)(radius * (1 + SLOT_MARGIN)), touch);
  for (int k = 0; k < found; k++) {
    PositionGhost *ghost = &ghosts[k];
    Vec3 n = touch[k].normal;
    Vec3 point = vec3_sub(vec3_madd(at, n, -touch[k].distance), solid->center);
    *ghost = (PositionGhost){.solid = index,
                             .grain = (int32_t)i,
                             .entry = k == 0 ? entry : -1,
                             .list = POSITION_SOLIDS,
                             .distance = radius,
                             .arm = {(float)point.x, (float)point.y, (float)point.z}};
    double moved = (double)p->dx[i] * n.x + (double)p->dy[i] * n.y + (double)p->dz[i] * n.z;
    if (!body->movable) moved -= vec3_dot(n, body_way(body, ghost->arm));
    double length = touch[k].distance - moved;
    /* An offset must keep its direction even where the grain's centre is inside the solid: the distance asked for is
     * raised by as much. */
    double lift = length < (double)radius * 0.5 ? (double)radius * 0.5 - length : 0;
    ghost->distance += (float)lift;
    length += lift;
    ghost->offset[0] = (float)(n.x * length);
    ghost->offset[1] = (float)(n.y * length);
    ghost->offset[2] = (float)(n.z * length);
    atomic_fetch_add_explicit(&body->ghosts, 1, memory_order_relaxed);
  }
}

/* Contact with a sample of a solid: a sphere like a grain. */
static void find_by_sample(PositionStep *work, int64_t i, int64_t entry, PositionGhost *ghost) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const SolidSamples *s = &state->samples;
  int32_t sample = state->contacts.samples.list.index[entry], index = s->solid[sample];
  const Solid *solid = &state->solids.items[index];
  PositionBody *body = &work->bodies[index];
  Vec3 center = vec3_sub(solid->center, state->origin);
  *ghost = (PositionGhost){.solid = index,
                           .grain = (int32_t)i,
                           .entry = entry,
                           .list = POSITION_SAMPLES,
                           .distance = p->radius[i] + s->radius,
                           .arm = {s->x[sample] - (float)center.x, s->y[sample] - (float)center.y,
                                   s->z[sample] - (float)center.z}};
  Vec3 way = body_way(body, ghost->arm), back = body->movable ? vec3(0, 0, 0) : way;
  const float offset[3] = {p->x[i] - s->x[sample] + p->low_x[i] + (float)back.x,
                           p->y[i] - s->y[sample] + p->low_y[i] + (float)back.y,
                           p->z[i] - s->z[sample] + p->low_z[i] + (float)back.z};
  memcpy(ghost->offset, offset, sizeof offset);
  float x = offset[0] + p->dx[i] - (float)way.x, y = offset[1] + p->dy[i] - (float)way.y,
        z = offset[2] + p->dz[i] - (float)way.z;
  float reach = ghost->distance + SLOT_MARGIN * (float)state->radius;
  if (x * x + y * y + z * z >= reach * reach) ghost->solid = -1;
  else atomic_fetch_add_explicit(&body->ghosts, 1, memory_order_relaxed);
}

static int64_t first_ghost(const State *state, int64_t i) {
  const Contacts *c = &state->contacts;
  int64_t solids = c->solids.list.entries > 0 ? c->solids.list.start[i] : 0;
  int64_t samples = c->samples.list.entries > 0 ? c->samples.list.start[i] : 0;
  return SHAPE_CONTACTS_MAX * solids + samples;
}

static void find_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  const State *state = work->step->state;
  const NeighborList *solids = &state->contacts.solids.list, *samples = &state->contacts.samples.list;
  for (int64_t i = b; i < e; i++) {
    PositionGhost *ghost = work->ghosts + first_ghost(state, i);
    if (solids->entries > 0)
      for (int64_t k = solids->start[i]; k < solids->start[i + 1]; k++, ghost += SHAPE_CONTACTS_MAX) {
        for (int m = 0; m < SHAPE_CONTACTS_MAX; m++) ghost[m].solid = -1;
        find_by_distance(work, i, k, ghost);
      }
    if (samples->entries > 0)
      for (int64_t k = samples->start[i]; k < samples->start[i + 1]; k++, ghost++) find_by_sample(work, i, k, ghost);
  }
}

Status position_find_ghosts(PositionStep *work) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  TRY(scratch_take(core, work->step->scratch, &work->bodies, state->solids.count, "bodies in the solve"));
  TRY(scratch_take(core, work->step->scratch, &work->ghosts, work->ghost_count, "contacts with solids"));
  for (int32_t k = 0; k < state->solids.count; k++) body_create(work, k);
  if (work->ghost_count == 0) return SCREE_OK;
  parallel_for(core, 0, work->count, FIND_CHUNK, find_chunk, work);
  for (int64_t g = 0; g < work->ghost_count; g++) {
    const PositionGhost *ghost = &work->ghosts[g];
    set_ghost_row(work, g);
    if (ghost->solid < 0 || !work->bodies[ghost->solid].movable) continue;
    double share = work->settings->averaging ? 1 : (double)atomic_load(&work->bodies[ghost->solid].ghosts);
    work->d4[work->padded + g][3] = (float)(share * body_weight(&state->solids.items[ghost->solid], ghost->arm));
  }
  return SCREE_OK;
}

/* ---- slots ---- */

/* Offset of a pair at the step's start; whether its gap could close in the step. */
static inline bool pair_offset(const Particles *p, int64_t i, int64_t j, float margin, float offset[3]) {
  offset[0] = (p->x[i] - p->x[j]) + (p->low_x[i] - p->low_x[j]);
  offset[1] = (p->y[i] - p->y[j]) + (p->low_y[i] - p->low_y[j]);
  offset[2] = (p->z[i] - p->z[j]) + (p->low_z[i] - p->low_z[j]);
  float x = offset[0] + (p->dx[i] - p->dx[j]), y = offset[1] + (p->dy[i] - p->dy[j]),
        z = offset[2] + (p->dz[i] - p->dz[j]);
  float reach = p->radius[i] + p->radius[j] + margin;
  return x * x + y * y + z * z < reach * reach;
}

typedef struct Layout {
  PositionStep *work;
  int32_t *contacts; /* per grain */
  float margin;
} Layout;

static void count_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Layout *layout = context;
  PositionStep *work = layout->work;
  const State *state = work->step->state;
  const NeighborList *list = &state->contacts.particles.list;
  for (int64_t i = b; i < e; i++) {
    int32_t contacts = 0;
    float offset[3];
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++)
      contacts += pair_offset(&state->particles, i, list->index[k], layout->margin, offset);
    if (work->ghost_count > 0)
      for (int64_t g = first_ghost(state, i); g < first_ghost(state, i + 1); g++) contacts += work->ghosts[g].solid >= 0;
    layout->contacts[i] = contacts;
    work->wn[i] = work->w[i] * (float)(contacts > 0 ? contacts : 1);
    work->d4[i][3] = work->settings->averaging ? work->w[i] : work->wn[i];
    work->shift[i][3] = work->wn[i];
  }
}

static inline void set_slot(PositionStep *work, int64_t slot, int32_t partner, bool flat, const float offset[3],
                            float distance, float mu_static, float mu_kinetic, const float *history) {
  PositionSlots *s = &work->slots;
  s->partner[slot] = partner;
  s->flat[slot] = flat ? -1 : 0;
  s->ox[slot] = offset[0];
  s->oy[slot] = offset[1];
  s->oz[slot] = offset[2];
  s->distance[slot] = distance;
  s->mu_static[slot] = mu_static;
  s->mu_kinetic[slot] = mu_kinetic;
  static const float none[POSITION_HISTORY] = {0};
  if (!history) history = none;
  float scale = work->history_scale;
  s->ln[slot] = history[0] * scale;
  s->ltx[slot] = history[1] * scale;
  s->lty[slot] = history[2] * scale;
  s->ltz[slot] = history[3] * scale;
}

static const float *history_of(const ContactList *list, int64_t entry) {
  return entry >= 0 && list->history ? list->history + entry * list->history_size : NULL;
}

/* sqrt(mu_i mu_j), once for every pair of materials and of material and solid. */
static float mixed(double a, double b) { return (float)sqrt(a * b); }

static int64_t lay_out_pairs(const Layout *layout, int64_t i, int64_t slot) {
  PositionStep *work = layout->work;
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const ContactList *contacts = &state->contacts.particles;
  const NeighborList *list = &contacts->list;
  const ScreeMaterialDef *own = &state->materials.items[p->material[i]].definition;
  for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
    int32_t j = list->index[k];
    float offset[3];
    if (!pair_offset(p, i, j, layout->margin, offset)) continue;
    const ScreeMaterialDef *other = &state->materials.items[p->material[j]].definition;
    bool same = own == other;
    set_slot(work, slot, j, false, offset, p->radius[i] + p->radius[j],
             same ? (float)own->friction_static : mixed(own->friction_static, other->friction_static),
             same ? (float)own->friction_kinetic : mixed(own->friction_kinetic, other->friction_kinetic),
             history_of(contacts, k));
    work->slots.entry[slot] = k;
    slot += SLICE;
  }
  return slot;
}

static int64_t lay_out_ghosts(PositionStep *work, int64_t i, int64_t slot) {
  const State *state = work->step->state;
  const ScreeMaterialDef *own = &state->materials.items[state->particles.material[i]].definition;
  for (int64_t g = first_ghost(state, i); g < first_ghost(state, i + 1); g++) {
    PositionGhost *ghost = &work->ghosts[g];
    if (ghost->solid < 0) continue;
    const Solid *solid = &state->solids.items[ghost->solid];
    bool flat = ghost->list == POSITION_SOLIDS;
    const ContactList *list = flat ? &state->contacts.solids : &state->contacts.samples;
    set_slot(work, slot, (int32_t)(work->padded + g), flat, ghost->offset, ghost->distance,
             mixed(own->friction_static, solid->friction_static), mixed(own->friction_kinetic, solid->friction_kinetic),
             history_of(list, ghost->entry));
    ghost->slot = slot;
    work->slots.entry[slot] = -1;
    slot += SLICE;
  }
  return slot;
}

static void lay_out_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Layout *layout = context;
  PositionStep *work = layout->work;
  static const float away[3] = {1, 0, 0};
  for (int64_t s = b; s < e; s++)
    for (int lane = 0; lane < SLICE; lane++) {
      int64_t i = s * SLICE + lane, slot = work->slots.begin[s] * SLICE + lane, end = work->slots.begin[s + 1] * SLICE;
      if (i < work->count) {
        slot = lay_out_pairs(layout, i, slot);
        if (work->ghost_count > 0) slot = lay_out_ghosts(work, i, slot);
      }
      for (; slot < end; slot += SLICE) {
        set_slot(work, slot, (int32_t)i, false, away, NEVER, 0, 0, NULL);
        work->slots.entry[slot] = -1;
      }
    }
}

Status position_lay_out(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  PositionSlots *slots = &work->slots;
  Layout layout = {.work = work, .margin = SLOT_MARGIN * (float)work->step->state->radius};
  slots->slices = work->padded / SLICE;
  TRY(scratch_take(core, scratch, &layout.contacts, work->padded, "contact counts"));
  TRY(scratch_take(core, scratch, &slots->begin, slots->slices + 1, "slices"));
  parallel_for(core, 0, work->count, FIND_CHUNK, count_chunk, &layout);
  slots->begin[0] = 0;
  for (int64_t s = 0; s < slots->slices; s++) {
    int32_t most = 0;
    for (int64_t i = s * SLICE; i < (s + 1) * SLICE && i < work->count; i++)
      if (layout.contacts[i] > most) most = layout.contacts[i];
    slots->begin[s + 1] = slots->begin[s] + most;
  }
  slots->groups = slots->begin[slots->slices];
  TRY(scratch_take(core, scratch, &slots->entry, slots->groups * SLICE, "slots"));
#define TAKE_SLOT_FIELD(type, name) TRY(scratch_take(core, scratch, &slots->name, slots->groups * SLICE, "slots"));
  POSITION_SLOT_FIELDS(TAKE_SLOT_FIELD)
#undef TAKE_SLOT_FIELD
  parallel_for(core, 0, slots->slices, FIND_CHUNK / SLICE, lay_out_chunk, &layout);
  return SCREE_OK;
}

/* ---- back out ---- */

/* What the contact has pushed the grain by so far, kg m. */
static Vec3 ghost_push(const PositionStep *work, int64_t g) {
  const PositionGhost *ghost = &work->ghosts[g];
  const PositionSlots *s = &work->slots;
  int64_t at = ghost->slot;
  const float *own = work->d4[ghost->grain], *other = work->d4[work->padded + g];
  float round = s->flat[at] ? 0 : 1;
  Vec3 n = vec3_normalize(vec3((double)(s->ox[at] + round * (own[0] - other[0])),
                               (double)(s->oy[at] + round * (own[1] - other[1])),
                               (double)(s->oz[at] + round * (own[2] - other[2]))));
  return vec3_madd(vec3((double)s->ltx[at], (double)s->lty[at], (double)s->ltz[at]), n, (double)s->ln[at]);
}

/* In the order of the ghosts, whatever the threads did. */
void position_move_bodies(PositionStep *work) {
  State *state = work->step->state;
  bool any = false;
  for (int32_t k = 0; k < state->solids.count; k++) {
    PositionBody *body = &work->bodies[k];
    if (!body->movable || atomic_load(&body->ghosts) == 0) continue;
    any = true;
    memcpy(body->moved, body->start, sizeof body->moved);
  }
  if (!any) return;
  for (int64_t g = 0; g < work->ghost_count; g++) {
    const PositionGhost *ghost = &work->ghosts[g];
    if (ghost->solid < 0 || !work->bodies[ghost->solid].movable) continue;
    PositionBody *body = &work->bodies[ghost->solid];
    const Solid *solid = &state->solids.items[ghost->solid];
    Vec3 push = vec3_scale(ghost_push(work, g), -1);
    Vec3 twist = vec3_cross(vec3((double)ghost->arm[0], (double)ghost->arm[1], (double)ghost->arm[2]), push);
    const double parts[6] = {push.x, push.y, push.z, twist.x, twist.y, twist.z};
    for (int r = 0; r < 6; r++)
      for (int c = 0; c < 6; c++) body->moved[r] += solid->inverse_inertia[r][c] * parts[c];
  }
  for (int64_t g = 0; g < work->ghost_count; g++)
    if (work->ghosts[g].solid >= 0 && work->bodies[work->ghosts[g].solid].movable) {
      set_ghost_row(work, g);
      memcpy(work->next[work->padded + g], work->d4[work->padded + g], sizeof *work->next);
    }
}

static void keep_slot(const PositionSlots *s, int64_t slot, float *history) {
  const float kept[POSITION_HISTORY] = {s->ln[slot], s->ltx[slot], s->lty[slot], s->ltz[slot]};
  if (kept[0] > 0) memcpy(history, kept, sizeof kept);
}

static void keep_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  ContactList *pairs = &work->step->state->contacts.particles;
  for (int64_t slot = b; slot < e; slot++)
    if (work->slots.entry[slot] >= 0)
      keep_slot(&work->slots, slot, pairs->history + work->slots.entry[slot] * POSITION_HISTORY);
}

static void forget(ContactList *list) {
  if (list->history) memset(list->history, 0, sizeof(float) * (size_t)(list->list.entries * list->history_size));
}

void position_keep_history(PositionStep *work) {
  Contacts *contacts = &work->step->state->contacts;
  if (!work->settings->memory) return;
  forget(&contacts->particles);
  forget(&contacts->samples);
  forget(&contacts->solids);
  if (contacts->particles.history)
    parallel_for(work->step->core, 0, work->slots.groups * SLICE, GHOST_CHUNK * SLICE, keep_chunk, work);
  for (int64_t g = 0; g < work->ghost_count; g++) {
    const PositionGhost *ghost = &work->ghosts[g];
    if (ghost->solid < 0 || ghost->entry < 0) continue;
    ContactList *list = ghost->list == POSITION_SOLIDS ? &contacts->solids : &contacts->samples;
    if (list->history) keep_slot(&work->slots, ghost->slot, list->history + ghost->entry * POSITION_HISTORY);
  }
}

static void push_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  Solids *solids = &work->step->state->solids;
  double per_square = 1 / ((double)work->dt * (double)work->dt);
  for (int64_t g = b; g < e; g++) {
    const PositionGhost *ghost = &work->ghosts[g];
    if (ghost->solid < 0) continue;
    Solid *solid = &solids->items[ghost->solid];
    Vec3 arm = vec3((double)ghost->arm[0], (double)ghost->arm[1], (double)ghost->arm[2]);
    wrench_add(solid, vec3_scale(ghost_push(work, g), -per_square), vec3_add(solid->center, arm));
  }
}

/* Force = multiplier / dt^2 (Holz Eq. 34), equal and opposite to what the grain got. */
void position_push_solids(PositionStep *work) {
  parallel_for(work->step->core, 0, work->ghost_count, GHOST_CHUNK, push_chunk, work);
}
