/* Births and deaths: emitters and sinks fill the queue, the start of the next step works it off. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "sampling/radii.h"
#include "world/births.h"
#include "world/on_device.h"

enum { SINK_GRAIN = 4096, SUSPECT_GRAIN = 16384, EMIT_ATTEMPTS = 24 };

static int by_id(const void *a, const void *b) {
  uint32_t x = ((const Death *)a)->id, y = ((const Death *)b)->id;
  return x < y ? -1 : x > y;
}

static int by_id_and_reason(const void *a, const void *b) {
  int order = by_id(a, b);
  if (order != 0) return order;
  bool x = ((const Death *)a)->reason == REASON_SINK, y = ((const Death *)b)->reason == REASON_SINK;
  return (int)x - (int)y;
}

/* A particle dies once. One that split or merged and lies in a sink has heirs: these are drained in their turn. */
static void sort_deaths(Queue *queue) {
  qsort(queue->deaths, (size_t)queue->death_count, sizeof *queue->deaths, by_id_and_reason);
  int64_t kept = 0;
  for (int64_t k = 0; k < queue->death_count; k++)
    if (kept == 0 || queue->deaths[kept - 1].id != queue->deaths[k].id) queue->deaths[kept++] = queue->deaths[k];
  queue->death_count = kept;
}

/* Which ids may be among the dead: a bit for each of many shares of them. */
enum { MAYBE_BITS = 16 };
typedef struct Maybe {
  uint64_t words[1 << (MAYBE_BITS - 6)];
} Maybe;
static uint32_t maybe_bit(uint32_t id) { return id * 2654435761u >> (32 - MAYBE_BITS); }

/* Particles that may be among the dead, chunk by chunk. */
typedef struct Suspects {
  const uint32_t *id;
  Maybe maybe;
  int32_t *index; /* of a chunk: from its first particle's place on */
  int32_t *count; /* per chunk */
} Suspects;

static void suspects_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Suspects *suspects = context;
  int32_t count = 0;
  for (int64_t i = b; i < e; i++) {
    uint32_t bit = maybe_bit(suspects->id[i]);
    if (suspects->maybe.words[bit >> 6] >> (bit & 63) & 1) suspects->index[b + count++] = (int32_t)i;
  }
  suspects->count[b / SUSPECT_GRAIN] = count;
}

void world_note_death(ScreeWorld *world, uint32_t id, float x, float y, float z, float mass) {
  const Queue *queue = &world->state.queue;
  const Death key = {.id = id};
  Death *death = bsearch(&key, queue->deaths, (size_t)queue->death_count, sizeof key, by_id);
  death->x = x, death->y = y, death->z = z;
  if (death->reason == REASON_SINK) world->tally.mass_removed += (double)mass;
}

/* The indices of those who die now, ascending, and where each was. */
static Status find_the_dead(ScreeWorld *world, int32_t *dead, int64_t *found) {
  Core *core = &world->core;
  Queue *queue = &world->state.queue;
  const Particles *p = &world->state.particles;
  int64_t chunks = parallel_chunks(0, p->count, SUSPECT_GRAIN);
  Suspects suspects = {.id = p->id};
  for (int64_t k = 0; k < queue->death_count; k++) {
    uint32_t bit = maybe_bit(queue->deaths[k].id);
    suspects.maybe.words[bit >> 6] |= 1ull << (bit & 63);
  }
  TRY(scratch_take(core, &world->scratch, &suspects.index, p->count, "dead"));
  TRY(scratch_take(core, &world->scratch, &suspects.count, chunks, "dead"));
  parallel_for(core, 0, p->count, SUSPECT_GRAIN, suspects_chunk, &suspects);
  *found = 0;
  for (int64_t chunk = 0; chunk < chunks; chunk++)
    for (int32_t k = 0; k < suspects.count[chunk]; k++) {
      int32_t i = suspects.index[chunk * SUSPECT_GRAIN + k];
      Death key = {.id = p->id[i]};
      if (!bsearch(&key, queue->deaths, (size_t)queue->death_count, sizeof key, by_id)) continue;
      world_note_death(world, p->id[i], p->x[i], p->y[i], p->z[i], p->mass[i]);
      dead[(*found)++] = i;
    }
  return SCREE_OK;
}

/* Lists name particles by their places. */
static void places_changed(ScreeWorld *world) {
  if (world_needs(world).neighbors != NEIGHBORS_NONE) world->neighbors_stale = true;
}

static Status take_the_dead(ScreeWorld *world) {
  Core *core = &world->core;
  Queue *queue = &world->state.queue;
  if (queue->death_count == 0) return SCREE_OK;
  sort_deaths(queue);
  int mark = scratch_mark(&world->scratch);
  int32_t *dead = NULL;
  int64_t found = 0;
  TRY(scratch_take(core, &world->scratch, &dead, queue->death_count, "dead"));
  const bool there = world_births_are_there(world);
  TRY(there ? world_find_dead_there(world, dead, &found) : find_the_dead(world, dead, &found));
  if (there) TRY(world_remove_there(world, dead, found));
  particles_remove(&world->state.particles, dead, found);
  scratch_release(core, &world->scratch, mark);
  TRY(memory_grow(core, &queue->done_deaths, queue->done_death_count + queue->death_count, "deaths"));
  memcpy(queue->done_deaths + queue->done_death_count, queue->deaths,
         sizeof *queue->deaths * (size_t)queue->death_count);
  queue->done_death_count += queue->death_count;
  queue->death_count = 0;
  places_changed(world);
  return SCREE_OK;
}

static int by_key(const void *a, const void *b) {
  uint64_t x = ((const Birth *)a)->key, y = ((const Birth *)b)->key;
  return x < y ? -1 : x > y;
}

static Status bear(ScreeWorld *world) {
  Core *core = &world->core;
  State *state = &world->state;
  Queue *queue = &state->queue;
  Particles *p = &state->particles;
  if (queue->birth_count == 0) return SCREE_OK;
  qsort(queue->births, (size_t)queue->birth_count, sizeof *queue->births, by_key);
  int64_t first = p->count;
  TRY(particles_append(core, p, queue->birth_count));
  for (int64_t k = 0; k < queue->birth_count; k++) {
    Birth *birth = &queue->births[k];
    int64_t i = first + k;
    Vec3 local = vec3_sub(birth->position, state->origin);
    p->x[i] = (float)local.x;
    p->y[i] = (float)local.y;
    p->z[i] = (float)local.z;
    p->low_x[i] = (float)(local.x - (double)p->x[i]);
    p->low_y[i] = (float)(local.y - (double)p->y[i]);
    p->low_z[i] = (float)(local.z - (double)p->z[i]);
    p->vx[i] = (float)birth->velocity.x;
    p->vy[i] = (float)birth->velocity.y;
    p->vz[i] = (float)birth->velocity.z;
    p->radius[i] = birth->radius;
    p->mass[i] = birth->mass;
    p->material[i] = (uint8_t)birth->material;
    birth->id = p->id[i];
    if (birth->reason == REASON_EMIT) world->tally.mass_emitted += (double)birth->mass;
  }
  TRY(memory_grow(core, &queue->done_births, queue->done_birth_count + queue->birth_count, "births"));
  memcpy(queue->done_births + queue->done_birth_count, queue->births,
         sizeof *queue->births * (size_t)queue->birth_count);
  queue->done_birth_count += queue->birth_count;
  queue->birth_count = 0;
  /* Lists that are kept up take in who has left the place where they know him; NaN is the place of nobody. */
  if (world_needs(world).neighbors == NEIGHBORS_SEARCHED)
    for (int64_t i = first; i < p->count; i++) p->built_x[i] = NAN;
  else places_changed(world);
  int mark = scratch_mark(&world->scratch);
  Status status = world_births_are_there(world) ? world_place_born_there(world, first) : SCREE_OK;
  scratch_release(core, &world->scratch, mark);
  return status;
}

Status world_births_and_deaths(ScreeWorld *world) {
  TRY(take_the_dead(world));
  return bear(world);
}

Status world_crowd_reserve(ScreeWorld *world, int64_t room, Crowd *crowd) {
  TRY(scratch_take(&world->core, &world->scratch, &crowd->x, room, "crowd"));
  TRY(scratch_take(&world->core, &world->scratch, &crowd->y, room, "crowd"));
  TRY(scratch_take(&world->core, &world->scratch, &crowd->z, room, "crowd"));
  TRY(scratch_take(&world->core, &world->scratch, &crowd->radius, room, "crowd"));
  crowd->count = 0;
  return SCREE_OK;
}

static bool crowds(const Particles *p, int64_t i, const Crowding *near) {
  float x = p->x[i] - near->x, y = p->y[i] - near->y, z = p->z[i] - near->z;
  return x * x + y * y + z * z < near->reach;
}

static Status crowd_near(ScreeWorld *world, const Crowding *near, int64_t spare, Crowd *crowd) {
  const Particles *p = &world->state.particles;
  int64_t count = 0;
  for (int64_t i = 0; i < p->count; i++) count += crowds(p, i, near);
  TRY(world_crowd_reserve(world, count + spare, crowd));
  for (int64_t i = 0; i < p->count; i++)
    if (crowds(p, i, near)) crowd_add(crowd, p->x[i], p->y[i], p->z[i], p->radius[i]);
  return SCREE_OK;
}

static bool crowd_leaves_room(const Crowd *crowd, Vec3 at, float radius) {
  for (int64_t k = 0; k < crowd->count; k++) {
    float x = crowd->x[k] - (float)at.x, y = crowd->y[k] - (float)at.y, z = crowd->z[k] - (float)at.z;
    float apart = radius + crowd->radius[k];
    if (x * x + y * y + z * z < apart * apart) return false;
  }
  return true;
}

/* One grain: tries places in the disc, swept over the displacement of the stream in a step. */
static bool place(ScreeWorld *world, int32_t index, const Crowd *crowd, float radius, double dt, Vec3 *at) {
  const ScreeEmitterDef *emitter = &world->definition.scene.emitters[index];
  const ScreeDiscDef *disc = &emitter->shape.disc;
  Vec3 direction = vec3_normalize(disc->direction), t1, t2;
  vec3_frame(direction, &t1, &t2);
  double room = disc->radius > (double)radius ? disc->radius - (double)radius : 0;
  uint64_t grain = ((uint64_t)index << 48) + world->emitters[index].poured;
  for (int attempt = 0; attempt < EMIT_ATTEMPTS; attempt++) {
    uint64_t bits = rng_bits(world->state.seed, grain, (uint64_t)attempt, RNG_EMIT);
    double u = 2 * rng_unit(bits) - 1, v = 2 * rng_unit(rng_mix(bits)) - 1;
    if (u * u + v * v > 1) continue;
    double along = emitter->speed * dt * rng_unit(rng_mix(bits + 1));
    *at = vec3_madd(vec3_madd(vec3_madd(disc->center, t1, room * u), t2, room * v), direction, along);
    if (crowd_leaves_room(crowd, vec3_sub(*at, world->state.origin), radius) &&
        !world_is_in_solid(&world->state.solids, *at, (double)radius))
      return true;
  }
  return false;
}

double world_emitted_mass(const ScreeWorld *world, const ScreeEmitterDef *emitter) {
  const State *state = &world->state;
  int32_t material = materials_find(&state->materials, emitter->material);
  const ScreeMaterialDef *stuff = &state->materials.items[material].definition;
  if (state->parcels || !(stuff->radius_spread > 0)) return world_particle_mass(state, stuff, state->radius);
  return radii_mean_volume(state->radius, stuff->radius_spread, stuff->radius_distribution) * stuff->grain_density;
}

static const ScreeMaterialDef *emitted(const ScreeWorld *world, const ScreeEmitterDef *def) {
  const Materials *materials = &world->state.materials;
  return &materials->items[materials_find(materials, def->material)].definition;
}

static double emitted_spread(const ScreeWorld *world, const ScreeEmitterDef *def) {
  return world->state.parcels ? 0 : emitted(world, def)->radius_spread;
}

/* What it owes at the end of a step. */
static double debt_at(const ScreeWorld *world, int32_t index, double time, double dt) {
  const ScreeEmitterDef *def = &world->definition.scene.emitters[index];
  const double until = scree_is_auto(def->until) ? INFINITY : def->until, debt = world->emitters[index].debt;
  const double active = fmin(time, until) - fmax(time - dt, def->from);
  return active > 0 ? debt + def->rate * active : debt;
}

static bool owes_a_grain(const ScreeWorld *world, const ScreeEmitterDef *def, double debt) {
  return !(debt < world_emitted_mass(world, def) * (1 - emitted_spread(world, def)));
}

bool world_emitter_pours(const ScreeWorld *world, int32_t index, double time, double dt) {
  return owes_a_grain(world, &world->definition.scene.emitters[index], debt_at(world, index, time, dt));
}

Crowding world_emitter_crowding(const ScreeWorld *world, int32_t index, double dt) {
  const State *state = &world->state;
  const ScreeEmitterDef *def = &world->definition.scene.emitters[index];
  const double reach = def->shape.disc.radius + def->speed * dt + 3 * state->radius * (1 + emitted_spread(world, def));
  const Vec3 center = vec3_sub(def->shape.disc.center, state->origin);
  return (Crowding){(float)center.x, (float)center.y, (float)center.z, (float)(reach * reach)};
}

static Status emit_from(ScreeWorld *world, int32_t index, double dt) {
  State *state = &world->state;
  const ScreeEmitterDef *def = &world->definition.scene.emitters[index];
  Emitter *emitter = &world->emitters[index];
  emitter->debt = debt_at(world, index, state->time, dt);
  int32_t material = materials_find(&state->materials, def->material);
  const ScreeMaterialDef *stuff = emitted(world, def);
  double spread = emitted_spread(world, def);
  double typical = world_emitted_mass(world, def);
  int64_t wanted = (int64_t)(emitter->debt / typical) + 1;
  if (!owes_a_grain(world, def, emitter->debt)) return SCREE_OK;
  const Crowding near = world_emitter_crowding(world, index, dt);
  Crowd crowd = {0};
  TRY(world->on_device ? world_crowd_there(world, index, wanted, &crowd) : crowd_near(world, &near, wanted, &crowd));
  for (int64_t k = 0; k < wanted; k++) {
    uint64_t key = ((uint64_t)index << 48) + emitter->poured;
    float radius =
        (float)radii_draw(state->radius, spread, stuff->radius_distribution, rng_bits(state->seed, key, 0, RNG_RADIUS));
    float mass = (float)world_particle_mass(state, stuff, (double)radius);
    Vec3 at;
    if (emitter->debt < (double)mass) break;
    if (!place(world, index, &crowd, radius, dt, &at)) {
      state_count(state, "emitter_blocked_steps", 1);
      break;
    }
    Birth birth = {.key = key,
                   .reason = REASON_EMIT,
                   .material = material,
                   .position = at,
                   .velocity = vec3_scale(vec3_normalize(def->shape.disc.direction), def->speed),
                   .radius = radius,
                   .mass = mass};
    TRY(queue_birth(&world->core, &state->queue, &birth));
    Vec3 local = vec3_sub(at, state->origin);
    crowd_add(&crowd, (float)local.x, (float)local.y, (float)local.z, radius);
    emitter->debt -= (double)mass;
    emitter->poured++;
  }
  /* A blocked emitter does not save up: it would burst when freed. */
  if (emitter->debt > 4 * typical + def->rate * dt) emitter->debt = 4 * typical + def->rate * dt;
  return SCREE_OK;
}

Status world_emit(ScreeWorld *world, double dt) {
  for (int32_t k = 0; k < world->definition.scene.emitter_count; k++) {
    int mark = scratch_mark(&world->scratch);
    Status status = emit_from(world, k, dt);
    scratch_release(&world->core, &world->scratch, mark);
    TRY(status);
  }
  return SCREE_OK;
}

typedef struct Drain {
  const State *state;
  const Solid *sink;
  uint8_t *gone;
} Drain;

static void drain_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Drain *drain = context;
  for (int64_t i = b; i < e; i++)
    if (solid_contains(drain->sink, state_position(drain->state, i))) drain->gone[i] = 1;
}

Status world_drain(ScreeWorld *world) {
  State *state = &world->state;
  int32_t sinks = world->definition.scene.sink_count;
  if (sinks == 0) return SCREE_OK;
  int mark = scratch_mark(&world->scratch);
  uint8_t *gone = NULL;
  TRY(scratch_take(&world->core, &world->scratch, &gone, state->particles.count, "drained"));
  memset(gone, 0, (size_t)state->particles.count);
  for (int32_t k = 0; k < sinks; k++) {
    Drain drain = {state, &world->sinks.items[k], gone};
    parallel_for(&world->core, 0, state->particles.count, SINK_GRAIN, drain_chunk, &drain);
  }
  Status status = SCREE_OK;
  for (int64_t i = 0; i < state->particles.count && status == SCREE_OK; i++)
    if (gone[i]) status = queue_death(&world->core, &state->queue, state->particles.id[i], REASON_SINK, 0);
  scratch_release(&world->core, &world->scratch, mark);
  return status;
}
