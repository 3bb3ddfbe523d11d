/* Contacts of grains with solids, by distance and by samples: ghosts. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_contacts.h"

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

/* As solid_contacts; most solids are not turned. */
static int touches_of(const Solid *solid, const PositionBody *body, Vec3 at, double reach,
                      ShapePoint touch[SHAPE_CONTACTS_MAX]) {
  if (!body->upright) return solid_contacts(solid, at, reach, touch);
  return shape_contacts(&solid->shape, vec3_sub(at, solid->position), reach, touch);
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
  int found = touches_of(solid, body, vec3_add(start, way), (double)(radius + work->margin), touch);
  if (found == 0) return 0;
  /* Both sides of a contact meet at the grain's centre, not on the surface. A grain does not turn by itself; so it
   * turns with the solid it sticks to (a point of the surface would leave it behind by its radius times the turn),
   * and friction's moment on the body is that of the force on the grain, opposite: angular momentum is kept. */
  Vec3 arm = vec3_sub(start, body_center(solid, body));
  for (int k = 0; k < found; k++) {
    PositionGhost *ghost = &ghosts[k];
    Vec3 n = touch[k].normal;
    double apart = touch[k].distance - vec3_dot(n, way);
    *ghost = (PositionGhost){.solid = index,
                             .grain = (int32_t)i,
                             .key = contact_key_from_top(POSITION_FACES * index + contact_face(solid, n)),
                             .normal = {(float)n.x, (float)n.y, (float)n.z},
                             .arm = {(float)arm.x, (float)arm.y, (float)arm.z}};
    if (!body->movable && !body->still) apart += vec3_dot(n, position_body_way(body, ghost->arm));
    ghost->gap = (float)apart - radius;
  }
  return found;
}

/* Contact with a sample of a solid: a sphere like a grain. Answers whether it may touch. */
static bool find_by_sample(PositionStep *work, int64_t i, int32_t sample, PositionGhost *ghost) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const SolidSamples *s = &state->samples;
  int32_t index = s->solid[sample];
  const Solid *solid = &state->solids.items[index];
  PositionBody *body = &work->bodies[index];
  Vec3 at = vec3((double)s->x[sample], (double)s->y[sample], (double)s->z[sample]);
  Vec3 arm = vec3_sub(at, vec3_sub(solid->center, state->origin));
  if (!body->movable && body->turns) arm = quat_rotate(quat_conjugate(body->turned), arm);
  *ghost = (PositionGhost){.solid = index,
                           .grain = (int32_t)i,
                           .key = contact_key_from_top(POSITION_FACES * state->solids.count + sample),
                           .arm = {(float)arm.x, (float)arm.y, (float)arm.z}};
  Vec3 way = position_body_way(body, ghost->arm), back = body->movable ? vec3(0, 0, 0) : way;
  const float offset[3] = {p->x[i] - s->x[sample] + p->low_x[i] + (float)back.x,
                           p->y[i] - s->y[sample] + p->low_y[i] + (float)back.y,
                           p->z[i] - s->z[sample] + p->low_z[i] + (float)back.z};
  float length = sqrtf(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]);
  float distance = p->radius[i] + s->radius;
  ghost->gap = length - distance;
  for (int k = 0; k < 3; k++) ghost->normal[k] = length > 0 ? offset[k] / length : (float)(k == 2);
  float x = offset[0] + p->dx[i] - (float)way.x, y = offset[1] + p->dy[i] - (float)way.y,
        z = offset[2] + p->dz[i] - (float)way.z;
  float reach = distance + work->margin;
  return x * x + y * y + z * z < reach * reach;
}

/* Contacts as they are found: every chunk of grains has room for all that it may find and fills it from the front. */
typedef struct GhostChunk {
  int64_t room;          /* where it begins */
  int64_t count, pushed; /* contacts, and those with bodies that are pushed as a whole */
  int64_t riding;        /* with bodies that grains can move */
  int64_t place;         /* where its contacts go, behind those of the chunks before */
  int64_t pushed_place;  /* the same in the list of the pushed */
} GhostChunk;

typedef struct Finding {
  PositionStep *work;
  SampleTouches samples;
  GhostChunk *chunks;
  PositionGhost *found;
} Finding;

/* Contacts with bodies that grains can move, of each body and in all. Those that follow each other are counted
 * together: threads that count them one by one would wait for each other. */
static void count_riding(PositionStep *work, const PositionGhost *ghost, GhostChunk *chunk) {
  const PositionGhost *end = ghost + chunk->count;
  chunk->riding = chunk->pushed = 0;
  while (ghost < end) {
    int32_t solid = ghost->solid;
    int64_t same = 0;
    for (; ghost < end && ghost->solid == solid; ghost++) same++;
    if (!work->bodies[solid].movable) continue;
    atomic_fetch_add_explicit(&work->bodies[solid].ghosts, same, memory_order_relaxed);
    chunk->riding += same;
    if (!work->bodies[solid].matched) chunk->pushed += same;
  }
}

static void find_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Finding *finding = context;
  PositionStep *work = finding->work;
  const State *state = work->step->state;
  const NeighborList *solids = &state->contacts.solids.list;
  const int64_t *near = solids->entries > 0 ? solids->start : NULL;
  int32_t first_sample[POSITION_WINDOW + 1];
  bool sampled = position_window_samples(&finding->samples, b / POSITION_WINDOW, first_sample);
  GhostChunk *chunk = &finding->chunks[b / POSITION_WINDOW];
  PositionGhost *first = finding->found + chunk->room;
  int32_t count = 0, *ends = work->ghost_start + 1;
  for (int64_t i = b; i < e; i++) {
    for (int64_t k = near ? near[i] : 0; near && k < near[i + 1]; k++)
      count += find_by_distance(work, i, k, first + count);
    for (int32_t k = sampled ? first_sample[i - b] : 0; sampled && k < first_sample[i - b + 1]; k++)
      count += find_by_sample(work, i, finding->samples.sample[k], first + count);
    ends[i] = count;
  }
  chunk->count = count;
  count_riding(work, first, chunk);
}

static int64_t contacts_most(const Solid *solid) {
  const Shape *shape = &solid->shape;
  bool faces = shape->inside && (shape->kind == SCREE_SHAPE_BOX || shape->kind == SCREE_SHAPE_CYLINDER);
  return faces ? SHAPE_CONTACTS_MAX : 1;
}

/* Room for what the chunks may find; answers for how many in all. */
static int64_t plan_chunks(const PositionStep *work, const SampleTouches *samples, GhostChunk *chunks) {
  const State *state = work->step->state;
  const NeighborList *solids = &state->contacts.solids.list;
  bool several = false;
  for (int32_t k = 0; k < state->solids.count; k++) several |= contacts_most(&state->solids.items[k]) > 1;
  int64_t room = 0;
  for (int64_t b = 0; b < work->count; b += POSITION_WINDOW) {
    int64_t e = b + POSITION_WINDOW < work->count ? b + POSITION_WINDOW : work->count;
    chunks[b / POSITION_WINDOW].room = room;
    if (solids->entries > 0) {
      room += solids->start[e] - solids->start[b];
      for (int64_t k = solids->start[b]; several && k < solids->start[e]; k++)
        room += contacts_most(&state->solids.items[solids->index[k]]) - 1;
    }
    if (samples->start) room += samples->start[b / POSITION_WINDOW + 1] - samples->start[b / POSITION_WINDOW];
  }
  return room;
}

/* Puts the contacts of a chunk behind those of the chunks before. */
static void close_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Finding *finding = context;
  PositionStep *work = finding->work;
  const GhostChunk *chunk = &finding->chunks[b / POSITION_WINDOW];
  PositionGhost *ghosts = work->ghosts + chunk->place;
  int32_t *pushed = work->pushed ? work->pushed + chunk->pushed_place : NULL;
  if (chunk->count > 0) memcpy(ghosts, finding->found + chunk->room, sizeof *ghosts * (size_t)chunk->count);
  for (int64_t i = b; i < e; i++) work->ghost_start[i + 1] += (int32_t)chunk->place;
  for (int64_t k = 0; chunk->pushed > 0 && k < chunk->count; k++) {
    const PositionBody *body = &work->bodies[ghosts[k].solid];
    if (body->movable && !body->matched) *pushed++ = (int32_t)(chunk->place + k);
  }
}

static void close_up(Finding *finding) {
  PositionStep *work = finding->work;
  int64_t chunks = parallel_chunks(0, work->count, POSITION_WINDOW);
  for (int64_t c = 0; c < chunks; c++) {
    GhostChunk *chunk = &finding->chunks[c];
    chunk->place = work->ghost_count;
    chunk->pushed_place = work->pushed_count;
    if (work->riding_start) work->riding_start[2 * c] = (int32_t)work->riding_count;
    work->ghost_count += chunk->count;
    work->pushed_count += chunk->pushed;
    work->riding_count += chunk->riding;
  }
  if (work->riding_start) work->riding_start[2 * chunks] = (int32_t)work->riding_count;
  work->ghost_start[0] = 0;
  parallel_for(work->step->core, 0, work->count, POSITION_WINDOW, close_chunk, finding);
}

static bool any_movable(const PositionStep *work) {
  for (int32_t k = 0; k < work->step->state->solids.count; k++)
    if (work->bodies[k].movable) return true;
  return false;
}

Status position_find_ghosts(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  const Contacts *contacts = &work->step->state->contacts;
  Finding finding = {.work = work};
  TRY(position_take_bodies(work));
  TRY(position_search_samples(work, &finding.samples));
  if (contacts->solids.list.entries == 0 && !finding.samples.start) return SCREE_OK;
  TRY(scratch_take(core, scratch, &work->ghost_start, work->count + 1, "contacts with solids"));
  int64_t chunks = parallel_chunks(0, work->count, POSITION_WINDOW);
  TRY(scratch_take(core, scratch, &finding.chunks, chunks, "contacts with solids"));
  int64_t room = plan_chunks(work, &finding.samples, finding.chunks);
  if (room > INT32_MAX) return fail(core, SCREE_NO_MEMORY, "too many contacts with solids: %lld", (long long)room);
  if (any_movable(work)) {
    TRY(scratch_take(core, scratch, &work->riding, room, "contacts with bodies"));
    TRY(scratch_take(core, scratch, &work->riding_start, 2 * chunks + 1, "contacts with bodies"));
    TRY(scratch_take(core, scratch, &work->pushed, room, "contacts with bodies"));
  }
  TRY(scratch_take(core, scratch, &work->ghosts, room, "contacts with solids"));
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &finding.found, room, "contacts with solids"));
  parallel_for(core, 0, work->count, POSITION_WINDOW, find_chunk, &finding);
  close_up(&finding);
  scratch_release(core, scratch, mark);
  scratch_shrink(scratch, work->ghosts, work->ghost_count);
  position_bodies_found(work);
  return SCREE_OK;
}
