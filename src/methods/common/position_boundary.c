/* Contacts of grains with solids, by distance and by samples: boundary contacts. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_contacts.h"

enum { BOUNDARY_FEW = 512 };

Vec3 position_body_center(const Solid *solid, const PositionBody *body) {
  Vec3 way = vec3(body->free.part[0], body->free.part[1], body->free.part[2]);
  return body->movable ? solid->center : vec3_sub(solid->center, way);
}

/* As solid_touches; most solids are not turned. */
static int touches_of(const Solid *solid, const PositionBody *body, Vec3 at, double reach,
                      ShapePoint touch[SHAPE_CONTACTS_MAX]) {
  if (!body->upright) return solid_touches(solid, at, reach, touch);
  return shape_touches(&solid->shape, vec3_sub(at, solid->position), reach, touch);
}

/* Contact of a grain with the surface of a solid, by distance. The pose is the end's for solids that follow a path
 * and the start's for those that are free (bodies_refresh), so the offset is set back accordingly: it is the one at
 * the step's start, when neither has moved. */
int position_find_by_distance(const PositionStep *work, const SeekingGrain *grain, int32_t index,
                              BoundaryContact *contacts) {
  const Solid *solid = &work->step->state->solids.items[index];
  const PositionBody *body = &work->bodies.items[index];
  const float radius = grain->radius;
  Vec3 start = grain->start, way = grain->way;
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  int count = touches_of(solid, body, vec3_add(start, way), (double)(radius + work->margin), touch);
  /* Both sides of a contact meet at the grain's centre, not on the surface. A grain does not turn by itself; so it
   * turns with the solid it sticks to (a point of the surface would leave it behind by its radius times the turn),
   * and friction's moment on the body is that of the force on the grain, opposite: angular momentum is kept. */
  Vec3 arm = vec3_sub(start, position_body_center(solid, body));
  if (count == 0 && work->settings->springs) { /* a spring that opens in the step pushes until it is open */
    const float from[3] = {(float)arm.x, (float)arm.y, (float)arm.z};
    way = body->movable || body->still ? vec3(0, 0, 0) : position_body_displacement(body, from);
    count = touches_of(solid, body, vec3_add(start, way), (double)radius, touch);
  }
  for (int k = 0; k < count; k++) {
    BoundaryContact *contact = &contacts[k];
    Vec3 n = touch[k].normal;
    *contact = (BoundaryContact){.solid = index,
                                 .grain = grain->number,
                                 .key = boundary_key(SOLID_FACES * index + solid_face(solid, &touch[k])),
                                 .normal = {(float)n.x, (float)n.y, (float)n.z},
                                 .arm = {(float)arm.x, (float)arm.y, (float)arm.z},
                                 .lever = {(float)arm.x, (float)arm.y, (float)arm.z}};
    const bool goes = !body->movable && !body->still;
    const Vec3 went = goes ? position_body_displacement(body, contact->arm) : vec3(0, 0, 0);
    contact->gap = boundary_gap(touch[k].distance, n, way, went, radius);
  }
  return count;
}

SampleBody position_sample_body(const State *state, const Solid *solid, const PositionBody *body) {
  return (SampleBody){.center = vec3_sub(solid->center, state->origin),
                      .way = vec3(body->free.part[0], body->free.part[1], body->free.part[2]),
                      .turn = body->free_turn,
                      .turned = body->free_turned,
                      .movable = body->movable,
                      .turns = body->turns};
}

/* Contact with a sample of a solid: a sphere like a grain. Returns whether it may touch. */
static bool find_by_sample(PositionStep *work, int64_t i, int32_t sample, BoundaryContact *contact) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const SolidSamples *s = &state->samples;
  int32_t index = s->solid[sample];
  const SampleBody body = position_sample_body(state, &state->solids.items[index], &work->bodies.items[index]);
  const Vec3 at = vec3((double)s->x[sample], (double)s->y[sample], (double)s->z[sample]);
  const SampleWay way = boundary_sample_way(body, at);
  const SampleGrain grain = {vec3((double)p->x[i], (double)p->y[i], (double)p->z[i]),
                             vec3((double)p->low_x[i], (double)p->low_y[i], (double)p->low_z[i]),
                             vec3((double)p->dx[i], (double)p->dy[i], (double)p->dz[i]), p->radius[i]};
  const SampleContact found = boundary_sample(grain, way, s->radius, work->margin);
  *contact = (BoundaryContact){.solid = index,
                               .grain = (int32_t)i,
                               .key = contact_key_from_top(SOLID_FACES * state->solids.count + sample),
                               .gap = found.gap,
                               .sampled = true};
  memcpy(contact->normal, found.normal, sizeof found.normal);
  memcpy(contact->arm, way.arm, sizeof way.arm);
  memcpy(contact->lever, way.arm, sizeof way.arm);
  return found.touches;
}

/* Grains of a window that may touch solids. */
typedef struct Seekers {
  int32_t count, who[POSITION_WINDOW];
  int64_t begin; /* of the window */
  bool sampled;
  int32_t sample[POSITION_WINDOW + 1]; /* where the samples of its grains begin, if there are any */
} Seekers;

static void find_seekers(const PositionStep *work, int64_t b, int64_t e, Seekers *seekers) {
  const Contacts *contacts = &work->step->state->contacts;
  const int64_t words = contacts->near_words;
  const uint64_t *near = contacts->near + b * words;
  const bool sampled = position_window_samples(&work->candidates.samples, b / POSITION_WINDOW, seekers->sample);
  int32_t count = 0;
  for (int64_t i = b; i < e; i++, near += words) {
    uint64_t any = near[0] | sampled;
    for (int64_t w = 1; w < words; w++) any |= near[w];
    if (any) seekers->who[count++] = (int32_t)i;
  }
  seekers->begin = b;
  seekers->sampled = sampled;
  seekers->count = count;
}

/* How many contacts they can have at most. */
static int64_t boundary_most(const PositionStep *work, const Seekers *seekers) {
  const Contacts *contacts = &work->step->state->contacts;
  const int64_t words = contacts->near_words;
  int64_t most = seekers->sampled ? seekers->sample[POSITION_WINDOW] - seekers->sample[0] : 0;
  for (int32_t k = 0; k < seekers->count; k++)
    for (int64_t w = 0; w < words; w++)
      for (uint64_t bits = contacts->near[seekers->who[k] * words + w]; bits; bits &= bits - 1)
        most += work->bodies.items[w * SOLIDS_PER_WORD + __builtin_ctzll(bits)].faces;
  return most;
}

static int32_t find_all(PositionStep *work, const Seekers *seekers, BoundaryContact *found) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const Contacts *contacts = &state->contacts;
  const int32_t words = (int32_t)contacts->near_words;
  int32_t count = 0;
  for (int32_t n = 0; n < seekers->count; n++) {
    const int64_t i = seekers->who[n];
    const SeekingGrain grain = {(int32_t)i, state_position(state, i),
                                vec3((double)p->dx[i], (double)p->dy[i], (double)p->dz[i]), p->radius[i]};
    const int32_t before = count, *sample = seekers->sample + (i - seekers->begin);
    for (int32_t w = 0; w < words; w++)
      for (uint64_t bits = contacts->near[i * words + w]; bits; bits &= bits - 1)
        count += position_find_by_distance(work, &grain, w * SOLIDS_PER_WORD + __builtin_ctzll(bits), found + count);
    for (int32_t k = seekers->sampled ? sample[0] : 0; seekers->sampled && k < sample[1]; k++)
      count += find_by_sample(work, i, work->candidates.samples.sample[k], found + count);
    if (work->layout.contacts) work->layout.contacts[i][POSITION_BOUNDARY_BATCH] = (uint16_t)(count - before);
  }
  return count;
}

/* Room for so many behind what the others have found: where that is depends on the threads. NULL: there is not enough,
 * and all windows will be gone through again. */
static BoundaryContact *take_boundary(PositionStep *work, int64_t count) {
  int64_t place = atomic_fetch_add_explicit(&work->layout.boundary_used, count, memory_order_relaxed);
  return place + count <= work->layout.boundary_room ? work->layout.boundary + place : NULL;
}

/* Found where they stand in nobody's way, unless they may be very many. */
static void find_contacts(PositionStep *work, const Seekers *seekers, PositionWindow *window) {
  BoundaryContact few[BOUNDARY_FEW], *found = few;
  int64_t most = boundary_most(work, seekers);
  if (most > BOUNDARY_FEW) found = take_boundary(work, most);
  int32_t count = found ? find_all(work, seekers, found) : 0;
  if (count == 0) return;
  for (int32_t k = 0; k < count; k++) {
    const PositionBody *body = &work->bodies.items[found[k].solid];
    window->riding_count += !body->still;
    window->pushed_count += body->movable && !body->matched;
  }
  if (found == few) {
    found = take_boundary(work, count);
    if (!found) return;
    memcpy(found, few, sizeof *found * (size_t)count);
  }
  window->boundary = (int32_t)(found - work->layout.boundary);
  window->boundary_count = count;
}

void position_find_boundary(PositionStep *work, int64_t b, int64_t e) {
  PositionWindow *window = position_window(work, b);
  Seekers seekers;
  *window = (PositionWindow){0};
  if (work->step->state->solids.count == 0) return;
  find_seekers(work, b, e, &seekers);
  find_contacts(work, &seekers, window);
}

Status position_take_riding(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  int64_t windows = parallel_chunks(0, work->count, POSITION_WINDOW);
  for (int64_t k = 0; k < windows; k++) {
    work->layout.windows[k].pushed = (int32_t)work->bodies.pushed_count;
    work->bodies.pushed_count += work->layout.windows[k].pushed_count;
    work->bodies.riding_count += work->layout.windows[k].riding_count;
  }
  if (work->bodies.riding_count == 0) return SCREE_OK;
  TRY(scratch_take(core, scratch, &work->bodies.riding, work->bodies.riding_count, "contacts with bodies"));
  TRY(scratch_take(core, scratch, &work->bodies.riding_start, 2 * windows + 1, "contacts with bodies"));
  TRY(scratch_take(core, scratch, &work->bodies.pushed, work->bodies.pushed_count, "contacts with bodies"));
  work->bodies.riding_start[0] = 0;
  for (int64_t k = 0; k < windows; k++)
    work->bodies.riding_start[2 * k + 2] = work->bodies.riding_start[2 * k] + work->layout.windows[k].riding_count;
  return SCREE_OK;
}

/* Those of a body that follow each other are counted together: threads that count them one by one would wait for each
 * other. */
void position_list_pushed(PositionStep *work, const PositionWindow *window) {
  if (window->riding_count == 0) return;
  int32_t pushed = window->pushed, g = window->boundary, end = g + window->boundary_count;
  while (g < end) {
    int32_t first = g, solid = work->layout.boundary[g].solid;
    PositionBody *body = &work->bodies.items[solid];
    while (g < end && work->layout.boundary[g].solid == solid) g++;
    if (!body->movable) continue;
    atomic_fetch_add_explicit(&body->boundary, g - first, memory_order_relaxed);
    for (int32_t k = first; k < g && !body->matched; k++) work->bodies.pushed[pushed++] = k;
  }
}
