/* Which solids (by distance) are near each particle, one bit each. A particle's clearance says how far away the others
 * are at least: only when it is used up, or when a particle leaves the solids that it was near, solids are asked for
 * their distance. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "world/world.h"

/* How far beyond their reach particles look for solids, so that they need not look again soon; and what a clearance may
 * be wrong by, since distances of meshes are interpolated. In nominal radii. */
#define CLEARANCE 3.0
#define CLEARANCE_SLACK 0.5

/* The particles of a chunk that are asked about. */
typedef struct Asked {
  int64_t count;
  int32_t who[NEAR_GRAIN];
  double farthest; /* reach of any of them */
  Vec3 middle;     /* of a box round them; and half of its diagonal */
  double half;
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

/* Particles that follow each other mostly are neighbours: a box round them tells which solids none of them is near. */
static void bound_asked(const Particles *p, Asked *asked) {
  const float *const at[3] = {p->built_x, p->built_y, p->built_z};
  double low[3], high[3];
  for (int axis = 0; axis < 3; axis++) {
    float least = INFINITY, most = -INFINITY;
    for (int64_t a = 0; a < asked->count; a++) {
      float x = at[axis][asked->who[a]];
      least = x < least ? x : least;
      most = x > most ? x : most;
    }
    low[axis] = (double)least;
    high[axis] = (double)most;
  }
  Vec3 first = vec3(low[0], low[1], low[2]), last = vec3(high[0], high[1], high[2]);
  asked->middle = vec3_scale(vec3_add(first, last), 0.5);
  asked->half =
      0.5 * vec3_length(vec3_sub(last, first)) * (1 + 1e-9); /* and the rounding of what it is compared with */
}

/* One solid: particles near its box are put together and asked about eight at a time. */
static void near_solid(const NearSolids *work, int32_t k, const Asked *asked) {
  const State *state = work->state;
  const Particles *p = &state->particles;
  const Solid *solid = &state->solids.items[k];
  Mat3 turn = mat3_transpose(mat3_from_quat(solid->rotation));
  Vec3 shift = vec3_sub(state->origin, solid->position);
  float x[NEAR_GRAIN], y[NEAR_GRAIN], z[NEAR_GRAIN], distance[NEAR_GRAIN], normal[3][NEAR_GRAIN];
  int32_t who[NEAR_GRAIN];
  int64_t count = 0;
  double look = asked->farthest + CLEARANCE * state->radius;
  if (!box_is_near(&solid->shape, mat3_apply(&turn, vec3_add(asked->middle, shift)), look + asked->half)) return;
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
    else p->clear[i] = fminf(p->clear[i], fminf(distance[c], known));
  }
}

/* The first from k on that has moved: mostly few have. */
static int64_t next_moved(const uint8_t *moved, int64_t k, int64_t end) {
  for (uint64_t eight = 0; k + 8 <= end; k += 8) {
    memcpy(&eight, moved + k, sizeof eight);
    if (eight) break;
  }
  while (k < end && !moved[k]) k++;
  return k;
}

/* Whether particle i is near any solids. */
static bool is_near(const NearSolids *work, int64_t i) {
  uint64_t any = 0;
  for (int64_t w = 0; w < work->words; w++) any |= work->near[i * work->words + w];
  return any;
}

float world_near_slack(const State *state) { return (float)(CLEARANCE_SLACK * state->radius); }

float world_near_beyond(const State *state) { return (float)(CLEARANCE * state->radius); }

/* Solids near those that are asked about, and how far away the others are. */
static void ask(const NearSolids *work, Asked *asked) {
  const State *state = work->state;
  const Particles *p = &state->particles;
  float farthest = 0;
  if (asked->count == 0) return;
  for (int64_t a = 0; a < asked->count; a++) {
    float reach = near_reach(work, asked->who[a]);
    for (int64_t w = 0; w < work->words; w++) work->near[asked->who[a] * work->words + w] = 0;
    farthest = reach > farthest ? reach : farthest;
  }
  asked->farthest = (double)farthest;
  bound_asked(p, asked);
  float beyond = (float)(asked->farthest + CLEARANCE * state->radius);
  for (int64_t a = 0; a < asked->count; a++) p->clear[asked->who[a]] = beyond;
  for (int32_t k = 0; k < state->solids.count; k++)
    if (!solid_is_sampled(&state->solids.items[k])) near_solid(work, k, asked);
}

void world_look_near(const NearSolids *work, int64_t b, int64_t e, const uint8_t *moved) {
  const State *state = work->state;
  const Particles *p = &state->particles;
  const bool all = !moved || work->closer > 0;
  const float slack = world_near_slack(state);
  Asked asked;
  asked.count = 0;
  for (int64_t i = b; i < e; i++) {
    if (!all && (i = b + next_moved(moved, i - b, e - b)) == e) break;
    float reach = near_reach(work, i);
    p->clear[i] -= work->closer;
    bool leaves = (!moved || moved[i - b]) && is_near(work, i);
    if (p->clear[i] > reach + slack && !leaves) continue;
    asked.who[asked.count++] = (int32_t)i;
  }
  ask(work, &asked);
}

/* Bits of each particle into rows: counted per chunk, put behind each other, written. */
typedef struct SolidRows {
  NearSolids near;
  NeighborList *list; /* NULL: bits are enough */
  int64_t *chunk;     /* entries of each, then where they begin */
  bool known;         /* bits are: nobody is looked at */
} SolidRows;

static void look_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const SolidRows *rows = context;
  const NearSolids *near = &rows->near;
  if (!rows->known) world_look_near(near, b, e, NULL);
  if (!rows->list) return;
  int64_t entries = 0;
  for (int64_t k = b * near->words; k < e * near->words; k++)
    for (uint64_t bits = near->near[k]; bits; bits &= bits - 1) entries++; /* next to none */
  rows->chunk[b / NEAR_GRAIN] = entries;
}

static void write_rows(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const SolidRows *rows = context;
  const NearSolids *near = &rows->near;
  int64_t entry = rows->chunk[b / NEAR_GRAIN];
  for (int64_t i = b; i < e; i++) {
    for (int64_t w = 0; w < near->words; w++)
      for (uint64_t bits = near->near[i * near->words + w]; bits; bits &= bits - 1)
        rows->list->index[entry++] = (int32_t)(w * SOLIDS_PER_WORD + __builtin_ctzll(bits));
    rows->list->start[i + 1] = entry;
  }
}

static int64_t words_for(int64_t solids) { return (solids + SOLIDS_PER_WORD - 1) / SOLIDS_PER_WORD; }

/* Bits for all solids and one more: a body may be added later. */
Status world_near_create(ScreeWorld *world) {
  world->near_words = words_for(world->state.solids.count + 1);
  return particles_add_field(&world->core, &world->state.particles, "near_solids",
                             (int32_t)(world->near_words * (int64_t)sizeof *world->near_solids), false,
                             (void **)&world->near_solids);
}

/* A file may name solids that there are not. */
Status world_near_check(ScreeWorld *world, const Archive *archive) {
  int64_t solids = world->state.solids.count;
  for (int64_t w = solids / SOLIDS_PER_WORD; w < world->near_words; w++) {
    int64_t known = solids - w * SOLIDS_PER_WORD;
    uint64_t beyond = known > 0 ? ~0ull << known : ~0ull;
    for (int64_t i = 0; i < world->state.particles.count; i++)
      if (world->near_solids[i * world->near_words + w] & beyond)
        return archive_refuse(&world->core, archive, "grain %u is near a solid that does not exist",
                              world->state.particles.id[i]);
  }
  return SCREE_OK;
}

/* More solids than the field has bits for: these are not sorted with the particles, and live as long as their order. */
static Status forget_bits(ScreeWorld *world) {
  int64_t words = words_for(world->state.solids.count), count = words * world->state.particles.capacity;
  if (words <= world->near_words) return SCREE_OK;
  TRY(memory_grow(&world->core, &world->near_many, count, "near solids"));
  memset(world->near_many, 0, sizeof *world->near_many * (size_t)count);
  world->surfaces_moved = INFINITY;
  return SCREE_OK;
}

NearSolids world_near_solids(ScreeWorld *world, const MethodNeeds *needs, float skin, bool closer) {
  State *state = &world->state;
  NearSolids work = {.core = &world->core, .state = state, .reach = needs->solids, .skin = skin};
  int64_t words = words_for(state->solids.count);
  bool many = words > world->near_words;
  work.words = many ? words : world->near_words;
  work.near = many ? world->near_many : world->near_solids;
  /* Terrain rises and falls with the grains that it takes and gives: nobody knows how far he is from it. */
  if (closer) work.closer = state->terrain ? INFINITY : (float)world->surfaces_moved;
  state->contacts.near = work.near;
  state->contacts.near_words = work.words;
  return work;
}

static Status list_rows(ScreeWorld *world, SolidRows *rows) {
  Core *core = &world->core;
  NeighborList *list = rows->list;
  int64_t count = list->count = world->state.particles.count, chunks = parallel_chunks(0, count, NEAR_GRAIN);
  list->entries = 0;
  for (int64_t c = 0; c < chunks; c++) {
    int64_t here = rows->chunk[c];
    rows->chunk[c] = list->entries;
    list->entries += here;
  }
  TRY(memory_grow(core, &list->start, count + 1, "neighbours"));
  TRY(memory_grow(core, &list->index, list->entries, "neighbours"));
  list->start[0] = 0;
  parallel_for(core, 0, count, NEAR_GRAIN, write_rows, rows);
  return SCREE_OK;
}

static Status look_and_list(ScreeWorld *world, SolidRows *rows) {
  Core *core = &world->core;
  const int64_t count = world->state.particles.count;
  int mark = scratch_mark(&world->scratch);
  TRY(scratch_take(core, &world->scratch, &rows->chunk, parallel_chunks(0, count, NEAR_GRAIN), "near solids"));
  parallel_for(core, 0, count, NEAR_GRAIN, look_chunk, rows);
  if (rows->list) TRY(list_rows(world, rows));
  scratch_release(core, &world->scratch, mark);
  return SCREE_OK;
}

Status world_list_solids(ScreeWorld *world, const MethodNeeds *needs, float skin) {
  State *state = &world->state;
  if (!(needs->solids > 0) || state->solids.count == 0) return SCREE_OK;
  TRY(forget_bits(world));
  SolidRows rows = {.near = world_near_solids(world, needs, skin, true)};
  if (needs->neighbors == NEIGHBORS_LISTED) rows.list = &state->contacts.solids.list;
  return look_and_list(world, &rows);
}

Status world_list_known_solids(ScreeWorld *world, const MethodNeeds *needs) {
  State *state = &world->state;
  SolidRows rows = {.list = &state->contacts.solids.list, .known = true};
  if (!(needs->solids > 0) || state->solids.count == 0) return SCREE_OK;
  rows.near = world_near_solids(world, needs, state->contacts.skin, false);
  return look_and_list(world, &rows);
}
