/* What a particle can touch: samples of solids, neighbour lists, solids within reach. Lists live for as long as
 * nothing has moved half the skin. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "world/world.h"

enum { SURROUND_GRAIN = 1024, PARTNER_GRAIN = 16384, SOLIDS_PER_WORD = 64 };

/* Samples ride on their solids. */
static void place_samples(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  State *state = context;
  SolidSamples *s = &state->samples;
  for (int64_t k = b; k < e; k++) {
    const Solid *solid = &state->solids.items[s->solid[k]];
    Vec3 at = solid_to_world(solid, vec3((double)s->local_x[k], (double)s->local_y[k], (double)s->local_z[k]));
    Vec3 velocity = solid_velocity_at(solid, at);
    s->x[k] = (float)(at.x - state->origin.x);
    s->y[k] = (float)(at.y - state->origin.y);
    s->z[k] = (float)(at.z - state->origin.z);
    s->vx[k] = (float)velocity.x;
    s->vy[k] = (float)velocity.y;
    s->vz[k] = (float)velocity.z;
  }
}

static double moved_chunk(void *context, int64_t b, int64_t e) {
  const Particles *p = context;
  float largest = 0;
  for (int64_t i = b; i < e; i++) {
    float x = p->x[i] + p->dx[i] - p->built_x[i], y = p->y[i] + p->dy[i] - p->built_y[i],
          z = p->z[i] + p->dz[i] - p->built_z[i];
    float square = x * x + y * y + z * z;
    /* !(<=): a NaN forces a rebuild, which refuses it */
    if (!(square <= largest)) largest = square;
  }
  return (double)largest;
}

/* Farthest that the surface of a solid may have come in a step. */
static double solids_step(const State *state, double dt) {
  double farthest = 0;
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    double spin = vec3_length(solid->spin), arm = 0;
    if (spin > 0) {
      Vec3 low = vec3_sub(solid->shape.bounds_low, solid->center_in_shape);
      Vec3 high = vec3_sub(solid->shape.bounds_high, solid->center_in_shape);
      arm = vec3_length(vec3_max(vec3_scale(low, -1), high));
      arm = fmax(arm, vec3_length(vec3_max(low, vec3_scale(high, -1))));
    }
    double way = (vec3_length(solid->velocity) + spin * (isfinite(arm) ? arm : 0)) * dt;
    if (way > farthest) farthest = way;
  }
  return farthest;
}

static bool lists_are_good(ScreeWorld *world, const MethodReach *reach, double dt) {
  const State *state = &world->state;
  world->solids_moved += solids_step(state, dt);
  if (world->neighbors_stale) return false;
  double allowed = 0.5 * (double)reach->skin * state->radius;
  if (world->solids_moved > allowed) return false;
  double moved =
      parallel_max(&world->core, 0, state->particles.count, SURROUND_GRAIN, 0, moved_chunk, (void *)&state->particles);
  return moved <= allowed * allowed;
}

/* Where the search takes place: x + dx, and radii with the skin in them. */
typedef struct Predicted {
  const Particles *particles;
  float *x, *y, *z, *radius;
  float skin; /* added to every radius */
} Predicted;

static void predict_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Predicted *to = context;
  const Particles *p = to->particles;
  for (int64_t i = b; i < e; i++) {
    to->x[i] = p->x[i] + p->dx[i];
    to->y[i] = p->y[i] + p->dy[i];
    to->z[i] = p->z[i] + p->dz[i];
    to->radius[i] = p->radius[i] + to->skin;
  }
}

static Status predict(ScreeWorld *world, float skin, Predicted *predicted) {
  const Particles *p = &world->state.particles;
  predicted->particles = p;
  predicted->skin = skin;
  TRY(scratch_take(&world->core, &world->scratch, &predicted->x, p->count, "predicted"));
  TRY(scratch_take(&world->core, &world->scratch, &predicted->y, p->count, "predicted"));
  TRY(scratch_take(&world->core, &world->scratch, &predicted->z, p->count, "predicted"));
  TRY(scratch_take(&world->core, &world->scratch, &predicted->radius, p->count, "predicted"));
  parallel_for(&world->core, 0, p->count, SURROUND_GRAIN, predict_chunk, predicted);
  return SCREE_OK;
}

static double radius_chunk(void *context, int64_t b, int64_t e) {
  const Particles *p = context;
  float largest = 0;
  for (int64_t i = b; i < e; i++) largest = p->radius[i] > largest ? p->radius[i] : largest;
  return (double)largest;
}

typedef struct PartnerIds {
  const int32_t *index;
  const uint32_t *ids; /* NULL: index + 1 */
  uint32_t *partner;
} PartnerIds;

static void partner_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PartnerIds *work = context;
  for (int64_t k = b; k < e; k++)
    work->partner[k] = work->ids ? work->ids[work->index[k]] : (uint32_t)work->index[k] + 1;
}

/* Where a list is built: over the old one, unless its history must be carried over. */
static NeighborList *list_to_build(ContactList *list, ContactList *spare, int32_t history) {
  if (history == 0) list->history_size = 0;
  return history > 0 ? &spare->list : &list->list;
}

/* Gives the entries of a list just built their partner ids and carries the history over. */
static Status finish_list(ScreeWorld *world, ContactList *list, ContactList *spare, const int32_t *order,
                          int32_t history, const uint32_t *ids) {
  Core *core = &world->core;
  if (history == 0) return SCREE_OK;
  int64_t entries = spare->list.entries;
  spare->history_size = history;
  TRY(memory_grow(core, &spare->partner, entries, "contacts"));
  TRY(memory_grow(core, &spare->history, entries * history, "contacts"));
  PartnerIds partners = {spare->list.index, ids, spare->partner};
  parallel_for(core, 0, entries, PARTNER_GRAIN, partner_chunk, &partners);
  TRY(contact_list_carry(core, list, order, spare));
  ContactList built = *spare;
  *spare = *list;
  *list = built;
  return SCREE_OK;
}

/* Which solids (by distance) are near each particle, one bit each. */
typedef struct NearSolids {
  const Core *core;
  const State *state;
  const Predicted *predicted;
  float reach;   /* in radii (skin is in the predicted radius already) */
  int64_t words; /* per particle */
  uint64_t *near;
} NearSolids;

static bool box_is_near(const Shape *shape, Vec3 local, double reach) {
  return shape->inside || shape->kind == SCREE_SHAPE_PLANE ||
         (local.x > shape->bounds_low.x - reach && local.x < shape->bounds_high.x + reach &&
          local.y > shape->bounds_low.y - reach && local.y < shape->bounds_high.y + reach &&
          local.z > shape->bounds_low.z - reach && local.z < shape->bounds_high.z + reach);
}

/* One solid: particles near its box are put together and asked about eight at a time. */
static void near_solid(const NearSolids *work, int32_t k, int64_t b, int64_t e) {
  const State *state = work->state;
  const Predicted *at = work->predicted;
  const Solid *solid = &state->solids.items[k];
  Mat3 turn = mat3_transpose(mat3_from_quat(solid->rotation));
  Vec3 shift = vec3_sub(state->origin, solid->position);
  float x[SURROUND_GRAIN], y[SURROUND_GRAIN], z[SURROUND_GRAIN], distance[SURROUND_GRAIN], normal[3][SURROUND_GRAIN];
  int32_t who[SURROUND_GRAIN];
  int64_t count = 0;
  double farthest = 0;
  for (int64_t i = b; i < e; i++) {
    double reach = (double)(work->reach * at->radius[i]);
    Vec3 world = vec3((double)at->x[i] + shift.x, (double)at->y[i] + shift.y, (double)at->z[i] + shift.z);
    Vec3 local = mat3_apply(&turn, world);
    if (!box_is_near(&solid->shape, local, reach)) continue;
    x[count] = (float)local.x;
    y[count] = (float)local.y;
    z[count] = (float)local.z;
    who[count++] = (int32_t)(i - b);
    farthest = fmax(farthest, reach);
  }
  shape_distance_range(work->core, &solid->shape, count, x, y, z, farthest, distance, normal[0], normal[1], normal[2]);
  for (int64_t c = 0; c < count; c++) {
    int64_t i = b + who[c];
    if (distance[c] < work->reach * at->radius[i])
      work->near[i * work->words + k / SOLIDS_PER_WORD] |= 1ull << (k % SOLIDS_PER_WORD);
  }
}

static void near_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const NearSolids *work = context;
  const State *state = work->state;
  memset(work->near + b * work->words, 0, sizeof(uint64_t) * (size_t)((e - b) * work->words));
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    if (solid->contact == SCREE_CONTACT_SAMPLES && solid->sample_end > solid->sample_begin) continue;
    near_solid(work, k, b, e);
  }
}

/* Bits of each particle into rows: counted per chunk, put behind each other, written. */
typedef struct SolidRows {
  const uint64_t *near;
  int64_t words;
  NeighborList *list;
  int64_t *chunk; /* entries of each, then where they begin */
} SolidRows;

static void count_rows(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const SolidRows *rows = context;
  int64_t entries = 0;
  for (int64_t k = b * rows->words; k < e * rows->words; k++) entries += __builtin_popcountll(rows->near[k]);
  rows->chunk[b / SURROUND_GRAIN] = entries;
}

static void write_rows(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const SolidRows *rows = context;
  int64_t entry = rows->chunk[b / SURROUND_GRAIN];
  for (int64_t i = b; i < e; i++) {
    for (int64_t w = 0; w < rows->words; w++)
      for (uint64_t bits = rows->near[i * rows->words + w]; bits; bits &= bits - 1)
        rows->list->index[entry++] = (int32_t)(w * SOLIDS_PER_WORD + __builtin_ctzll(bits));
    rows->list->start[i + 1] = entry;
  }
}

static Status list_solids(ScreeWorld *world, const Predicted *predicted, float reach, NeighborList *list) {
  Core *core = &world->core;
  State *state = &world->state;
  int64_t count = state->particles.count, chunks = parallel_chunks(0, count, SURROUND_GRAIN);
  NearSolids work = {.core = core, .state = state, .predicted = predicted, .reach = reach};
  work.words = (state->solids.count + SOLIDS_PER_WORD - 1) / SOLIDS_PER_WORD;
  SolidRows rows = {.words = work.words, .list = list};
  TRY(scratch_take(core, &world->scratch, &work.near, count * work.words, "near solids"));
  TRY(scratch_take(core, &world->scratch, &rows.chunk, chunks, "near solids"));
  TRY(memory_grow(core, &list->start, count + 1, "neighbours"));
  parallel_for(core, 0, count, SURROUND_GRAIN, near_chunk, &work);
  rows.near = work.near;
  list->count = count;
  list->entries = 0;
  parallel_for(core, 0, count, SURROUND_GRAIN, count_rows, &rows);
  for (int64_t c = 0; c < chunks; c++) {
    int64_t here = rows.chunk[c];
    rows.chunk[c] = list->entries;
    list->entries += here;
  }
  TRY(memory_grow(core, &list->index, list->entries, "neighbours"));
  list->start[0] = 0;
  parallel_for(core, 0, count, SURROUND_GRAIN, write_rows, &rows);
  return SCREE_OK;
}

/* Sorts the particles into cell order; `order` tells where each came from. */
static Status sort_particles(ScreeWorld *world, float cell, Predicted *predicted, int32_t *order) {
  Core *core = &world->core;
  State *state = &world->state;
  Particles *p = &state->particles;
  Points points = {p->count, predicted->x, predicted->y, predicted->z, p->id};
  TRY(cell_grid_order(core, world->grid, points, cell, order));
  TRY(particles_permute(core, p, &world->scratch, order, p->count));
  parallel_for(core, 0, p->count, SURROUND_GRAIN, predict_chunk, predicted);
  if (p->count > 0) { /* without particles there are no arrays, and memcpy takes no NULL */
    memcpy(p->built_x, predicted->x, sizeof(float) * (size_t)p->count);
    memcpy(p->built_y, predicted->y, sizeof(float) * (size_t)p->count);
    memcpy(p->built_z, predicted->z, sizeof(float) * (size_t)p->count);
  }
  points.id = p->id;
  return cell_grid_build(core, world->grid, points, cell);
}

static Status rebuild(ScreeWorld *world, const MethodReach *reach) {
  Core *core = &world->core;
  State *state = &world->state;
  Particles *p = &state->particles;
  Contacts *contacts = &state->contacts;
  float skin = reach->skin * (float)state->radius;
  float largest = (float)parallel_max(core, 0, p->count, SURROUND_GRAIN, 0, radius_chunk, p);
  float factor = reach->pairs > 0 ? reach->pairs : 1;
  Predicted predicted;
  int32_t *order = NULL;
  TRY(predict(world, 0.5f * skin / factor, &predicted));
  TRY(scratch_take(core, &world->scratch, &order, p->count, "order"));
  float cell = (factor * 2 * largest + skin) * 1.00001f; /* sums of floats differ by their order */
  TRY(sort_particles(world, cell, &predicted, order));
  Points points = {p->count, predicted.x, predicted.y, predicted.z, p->id};
  ContactList *spare = contacts->spare;
  if (reach->pairs > 0) {
    TRY(neighbor_list_build(core, world->grid, points, points, reach->pairs, predicted.radius, predicted.radius,
                            list_to_build(&contacts->particles, &spare[0], reach->history)));
    TRY(finish_list(world, &contacts->particles, &spare[0], order, reach->history, p->id));
  }
  const SolidSamples *s = &state->samples;
  if (s->count > 0 && reach->pairs > 0) {
    Points samples = {s->count, s->x, s->y, s->z, s->id};
    float sample_cell = (factor * (largest + s->radius) + skin) * 1.00001f; /* sums of floats differ by their order */
    TRY(cell_grid_build(core, world->sample_grid, samples, sample_cell));
    TRY(neighbor_list_build(core, world->sample_grid, points, samples, reach->pairs, predicted.radius,
                            world->sample_radius, list_to_build(&contacts->samples, &spare[1], reach->history)));
    TRY(finish_list(world, &contacts->samples, &spare[1], order, reach->history, s->id));
  }
  if (reach->solids > 0 && state->solids.count > 0) {
    predicted.skin = skin / reach->solids;
    parallel_for(core, 0, p->count, SURROUND_GRAIN, predict_chunk, &predicted);
    int32_t history = reach->solid_history > 0 ? reach->solid_history : reach->history;
    TRY(list_solids(world, &predicted, reach->solids, list_to_build(&contacts->solids, &spare[2], history)));
    TRY(finish_list(world, &contacts->solids, &spare[2], order, history, NULL));
  }
  contacts->reach = reach->pairs;
  contacts->skin = skin;
  contacts->builds++;
  world->neighbors_stale = false;
  world->solids_moved = 0;
  return SCREE_OK;
}

Status world_refresh_surroundings(ScreeWorld *world, double dt) {
  State *state = &world->state;
  MethodReach reach = world->method->reach(world->method_data);
  parallel_for(&world->core, 0, state->samples.count, SURROUND_GRAIN, place_samples, state);
  if (lists_are_good(world, &reach, dt)) return SCREE_OK;
  int mark = scratch_mark(&world->scratch);
  Status status = rebuild(world, &reach);
  scratch_release(&world->core, &world->scratch, mark);
  return status;
}
