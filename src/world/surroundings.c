/* What a particle can touch: samples of solids, neighbour lists, solids within reach. Lists live for as long as
 * nothing has moved half the skin. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "world/world.h"

enum { SURROUND_GRAIN = 256, SOLIDS_PER_WORD = 64 };

/* Of what the skin must last for: speeds change within a frame. */
#define SKIN_RESERVE 1.2
/* Of what may be moved: sums of floats may be off by a little. */
#define WAYS_SUFFICE 0.999
/* How far beyond their reach particles look for solids, so that they need not look again soon; and what a clearance may
 * be wrong by. In nominal radii. */
#define CLEARANCE 3.0
#define CLEARANCE_SLACK 0.5

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
  float largest = 0, check = 0;
  for (int64_t i = b; i < e; i++) {
    float x = p->x[i] + p->dx[i] - p->built_x[i], y = p->y[i] + p->dy[i] - p->built_y[i],
          z = p->z[i] + p->dz[i] - p->built_z[i];
    float square = x * x + y * y + z * z;
    largest = square > largest ? square : largest;
    check += square - square; /* a NaN forces a rebuild, which refuses it */
  }
  return (double)(largest + check);
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
  if (!(reach->pairs > 0) && !(reach->solids > 0)) return true; /* sorted once a frame, for memory's sake */
  double allowed = 0.5 * (double)state->contacts.skin;
  if (world->solids_moved > allowed) return false;
  /* Where the farthest way of each step is known, there is nothing to look at until they add up to too much. */
  world->grains_moved += state->contacts.way >= 0 ? state->contacts.way : (double)INFINITY;
  if (world->grains_moved <= WAYS_SUFFICE * allowed) return true;
  double square =
      parallel_max(&world->core, 0, state->particles.count, SURROUND_GRAIN, 0, moved_chunk, (void *)&state->particles);
  world->grains_moved = sqrt(square);
  return square <= allowed * allowed;
}

/* In nominal radii. As thick as the rest of the frame needs at the speeds of now, when that is not too much to search;
 * otherwise as thin as may be, since the lists must be built anew in the next step anyhow. */
static float choose_skin(const ScreeWorld *world, const MethodReach *reach, double dt) {
  if (!(reach->skin_least > 0)) return reach->skin;
  const State *state = &world->state;
  double way = (world->tally.speed + vec3_length(state->gravity) * dt) * dt;
  way = fmax(way, solids_step(state, dt));
  double wanted = SKIN_RESERVE * 2 * way * (double)(world->steps_left - 1) / state->radius + (double)reach->skin_least;
  return wanted <= (double)reach->skin ? (float)wanted : reach->skin_least;
}

/* Where the search takes place: x + dx, and radii with the skin in them. */
typedef struct Predicted {
  Particles *particles;
  float *x, *y, *z, *radius;
  float skin;         /* added to every radius */
  float solids_moved; /* since the lists were last built, m */
} Predicted;

static double predict_chunk(void *context, int64_t b, int64_t e) {
  const Predicted *to = context;
  const Particles *p = to->particles;
  float largest = 0;
  for (int64_t i = b; i < e; i++) {
    to->x[i] = p->x[i] + p->dx[i];
    to->y[i] = p->y[i] + p->dy[i];
    to->z[i] = p->z[i] + p->dz[i];
    largest = p->radius[i] > largest ? p->radius[i] : largest;
  }
  return (double)largest;
}

/* The same once the particles are sorted, and what the lists remember of it. A particle has come nearer to solids by at
 * most what it and they have moved. */
static void settle_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Predicted *to = context;
  Particles *p = to->particles;
  for (int64_t i = b; i < e; i++) {
    float x = p->x[i] + p->dx[i], y = p->y[i] + p->dy[i], z = p->z[i] + p->dz[i];
    float mx = x - p->built_x[i], my = y - p->built_y[i], mz = z - p->built_z[i];
    p->clear[i] -= sqrtf(mx * mx + my * my + mz * mz) + to->solids_moved;
    p->built_x[i] = to->x[i] = x;
    p->built_y[i] = to->y[i] = y;
    p->built_z[i] = to->z[i] = z;
    to->radius[i] = p->radius[i] + to->skin;
  }
}

/* Answers the largest radius. */
static Status predict(ScreeWorld *world, Predicted *predicted, float *largest) {
  Particles *p = &world->state.particles;
  predicted->particles = p;
  TRY(scratch_take(&world->core, &world->scratch, &predicted->x, p->count, "predicted"));
  TRY(scratch_take(&world->core, &world->scratch, &predicted->y, p->count, "predicted"));
  TRY(scratch_take(&world->core, &world->scratch, &predicted->z, p->count, "predicted"));
  TRY(scratch_take(&world->core, &world->scratch, &predicted->radius, p->count, "predicted"));
  *largest = (float)parallel_max(&world->core, 0, p->count, SURROUND_GRAIN, 0, predict_chunk, predicted);
  return SCREE_OK;
}

/* Which solids (by distance) are near each particle, one bit each. Most particles are far from all of them and known to
 * be: only those whose clearance is used up are asked about. */
typedef struct NearSolids {
  const Core *core;
  State *state;
  float reach, skin; /* radii, m */
  float slack;       /* m: a clearance must be larger by that much, since distances of meshes are interpolated */
  int64_t words;     /* per particle */
  uint64_t *near;
} NearSolids;

/* The particles of a chunk that are asked about. */
typedef struct Asked {
  int64_t count;
  int32_t who[SURROUND_GRAIN];
  double farthest; /* reach of any of them */
} Asked;

static float near_reach(const NearSolids *work, int64_t i) {
  return work->reach * work->state->particles.radius[i] + work->skin;
}

static bool box_is_near(const Shape *shape, Vec3 local, double reach) {
  return shape->inside || shape->kind == SCREE_SHAPE_PLANE ||
         (local.x > shape->bounds_low.x - reach && local.x < shape->bounds_high.x + reach &&
          local.y > shape->bounds_low.y - reach && local.y < shape->bounds_high.y + reach &&
          local.z > shape->bounds_low.z - reach && local.z < shape->bounds_high.z + reach);
}

/* One solid: particles near its box are put together and asked about eight at a time. */
static void near_solid(const NearSolids *work, int32_t k, const Asked *asked) {
  const State *state = work->state;
  const Particles *p = &state->particles;
  const Solid *solid = &state->solids.items[k];
  Mat3 turn = mat3_transpose(mat3_from_quat(solid->rotation));
  Vec3 shift = vec3_sub(state->origin, solid->position);
  float x[SURROUND_GRAIN], y[SURROUND_GRAIN], z[SURROUND_GRAIN], distance[SURROUND_GRAIN], normal[3][SURROUND_GRAIN];
  int32_t who[SURROUND_GRAIN];
  int64_t count = 0;
  double look = asked->farthest + CLEARANCE * state->radius;
  for (int64_t a = 0; a < asked->count; a++) {
    int32_t i = asked->who[a];
    Vec3 world =
        vec3((double)p->built_x[i] + shift.x, (double)p->built_y[i] + shift.y, (double)p->built_z[i] + shift.z);
    Vec3 local = mat3_apply(&turn, world);
    if (!box_is_near(&solid->shape, local, look)) continue;
    x[count] = (float)local.x;
    y[count] = (float)local.y;
    z[count] = (float)local.z;
    who[count++] = i;
  }
  shape_distance_range(work->core, &solid->shape, count, x, y, z, asked->farthest, distance, normal[0], normal[1],
                       normal[2]);
  float known = (float)shape_distance_known(&solid->shape, asked->farthest);
  for (int64_t c = 0; c < count; c++) {
    int32_t i = who[c];
    if (distance[c] < near_reach(work, i))
      work->near[i * work->words + k / SOLIDS_PER_WORD] |= 1ull << (k % SOLIDS_PER_WORD);
    p->clear[i] = fminf(p->clear[i], fminf(distance[c], known));
  }
}

static void near_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const NearSolids *work = context;
  const State *state = work->state;
  const Particles *p = &state->particles;
  Asked asked = {.count = 0};
  memset(work->near + b * work->words, 0, sizeof(uint64_t) * (size_t)((e - b) * work->words));
  for (int64_t i = b; i < e; i++) {
    float reach = near_reach(work, i);
    if (p->clear[i] > reach + work->slack) continue;
    asked.who[asked.count++] = (int32_t)i;
    asked.farthest = fmax(asked.farthest, (double)reach);
  }
  float beyond = (float)(asked.farthest + CLEARANCE * state->radius);
  for (int64_t a = 0; a < asked.count; a++) p->clear[asked.who[a]] = beyond;
  for (int32_t k = 0; k < state->solids.count && asked.count > 0; k++) {
    const Solid *solid = &state->solids.items[k];
    if (solid->contact == SCREE_CONTACT_SAMPLES && solid->sample_end > solid->sample_begin) continue;
    near_solid(work, k, &asked);
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

static Status list_solids(ScreeWorld *world, float reach, float skin, NeighborList *list) {
  Core *core = &world->core;
  State *state = &world->state;
  int64_t count = state->particles.count, chunks = parallel_chunks(0, count, SURROUND_GRAIN);
  NearSolids work = {.core = core, .state = state, .reach = reach, .skin = skin};
  work.slack = (float)(CLEARANCE_SLACK * state->radius);
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

/* Sorts the particles into cell order. */
static Status sort_particles(ScreeWorld *world, float cell, Predicted *predicted) {
  Core *core = &world->core;
  Particles *p = &world->state.particles;
  Points points = {p->count, predicted->x, predicted->y, predicted->z, p->id};
  int32_t *order = NULL;
  TRY(scratch_take(core, &world->scratch, &order, p->count, "order"));
  TRY(cell_grid_order(core, world->grid, points, cell, order));
  TRY(particles_permute(core, p, &world->scratch, order, p->count));
  parallel_for(core, 0, p->count, SURROUND_GRAIN, settle_chunk, predicted);
  points.id = p->id;
  return cell_grid_build(core, world->grid, points, cell);
}

/* Samples of solids near each particle. */
static Status list_samples(ScreeWorld *world, const MethodReach *reach, const Predicted *predicted, float largest,
                           float skin) {
  Core *core = &world->core;
  State *state = &world->state;
  const SolidSamples *s = &state->samples;
  if (s->count == 0) return SCREE_OK;
  Points points = {state->particles.count, predicted->x, predicted->y, predicted->z, state->particles.id};
  Points samples = {s->count, s->x, s->y, s->z, s->id};
  float *radius = NULL;
  TRY(scratch_take(core, &world->scratch, &radius, s->count, "sample radii"));
  for (int64_t k = 0; k < s->count; k++) radius[k] = s->radius + 0.5f * skin / reach->pairs;
  float cell = (reach->pairs * (largest + s->radius) + skin) * 1.00001f; /* sums of floats differ by their order */
  TRY(cell_grid_build(core, world->sample_grid, samples, cell));
  return neighbor_list_build(core, world->sample_grid, points, samples, reach->pairs, predicted->radius, radius,
                             &state->contacts.samples.list);
}

static Status rebuild(ScreeWorld *world, const MethodReach *reach, double dt) {
  Core *core = &world->core;
  State *state = &world->state;
  Particles *p = &state->particles;
  Contacts *contacts = &state->contacts;
  float skin = choose_skin(world, reach, dt) * (float)state->radius, largest = 0;
  float factor = reach->pairs > 0 ? reach->pairs : 1;
  /* Terrain rises and falls with the grains that it takes and gives: nobody knows how far he is from it. */
  Predicted predicted = {.skin = 0.5f * skin / factor,
                         .solids_moved = state->terrain ? INFINITY : (float)world->solids_moved};
  TRY(predict(world, &predicted, &largest));
  float cell = (factor * 2 * largest + skin) * 1.00001f; /* sums of floats differ by their order */
  TRY(sort_particles(world, cell, &predicted));
  if (reach->pairs > 0) {
    Points points = {p->count, predicted.x, predicted.y, predicted.z, p->id};
    TRY(neighbor_list_build(core, world->grid, points, points, reach->pairs, predicted.radius, predicted.radius,
                            &contacts->particles.list));
    TRY(list_samples(world, reach, &predicted, largest, skin));
  }
  if (reach->solids > 0 && state->solids.count > 0)
    TRY(list_solids(world, reach->solids, skin, &contacts->solids.list));
  contacts->reach = reach->pairs;
  contacts->skin = skin;
  contacts->builds++;
  world->neighbors_stale = false;
  world->grains_moved = 0;
  world->solids_moved = 0;
  return SCREE_OK;
}

Status world_refresh_surroundings(ScreeWorld *world, double dt) {
  State *state = &world->state;
  MethodReach reach = world->method->reach(world->method_data);
  parallel_for(&world->core, 0, state->samples.count, SURROUND_GRAIN, place_samples, state);
  if (lists_are_good(world, &reach, dt)) return SCREE_OK;
  int mark = scratch_mark(&world->scratch);
  Status status = rebuild(world, &reach, dt);
  scratch_release(&world->core, &world->scratch, mark);
  return status;
}
