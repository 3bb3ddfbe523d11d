/* The fine grains as a table, and the life of the upsampler. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "sampling/tile.h"
#include "state/state_bounds.h"
#include "upsample/points.h"

enum { GRAINS_CHUNK = 8192, BLOCKS_CHUNK = 64 };

Status upsample_create(Core *core, State *state, const ScreeUpsampleDef *definition, Upsample **upsample) {
  TRY(memory_new(core, upsample, 1, "upsampling"));
  Upsample *up = *upsample;
  up->definition = *definition;
  up->coarse_radius = state->parcels ? PARCEL_SPHERE * state->radius : state->radius;
  up->grains.next_id = 1;
  up->storage.unsorted = true;
  if (!(definition->radius > 0) || !isfinite(definition->radius))
    return fail(core, SCREE_BAD_INPUT, "upsample.radius must be positive");
  Particles *p = &state->particles;
  TRY(particles_add_floats(core, p, "upsample_x", 1, false, (void **)&up->seen.x));
  TRY(particles_add_floats(core, p, "upsample_y", 1, false, (void **)&up->seen.y));
  TRY(particles_add_floats(core, p, "upsample_z", 1, false, (void **)&up->seen.z));
  TRY(particles_add_field(core, p, "upsample_seen", sizeof(uint8_t), false, (void **)&up->seen.known));
  TRY(coarse_grid_create(core, &up->coarse_grid));
  TRY(coarse_grid_create(core, &up->sample_grid));
  if (definition->mode == SCREE_UPSAMPLE_POINTS) TRY(points_create(core, up, state));
  return solids_view_create(core, up, state);
}

void fine_grains_drop(Core *core, FineGrains *grains) {
#define FINE_DROP(type, name) memory_drop(core, &grains->name);
  FINE_FIELDS(FINE_DROP)
#undef FINE_DROP
  grains->capacity = 0;
}

void upsample_destroy(Core *core, Upsample *up) {
  if (!up) return;
  if (FINE_ON_DEVICE(up)) fine_device_destroy(core, up);
  fine_grains_drop(core, &up->grains);
  fine_grains_drop(core, &up->born);
  coarse_grid_destroy(core, &up->coarse_grid);
  coarse_grid_destroy(core, &up->sample_grid);
  for (int32_t k = 0; k < up->solid_count; k++) {
    distance_grid_destroy(core, up->solids[k].cache);
    block_lists_drop(core, &up->solids[k].lists);
  }
  memory_drop(core, &up->solids);
  memory_drop(core, &up->counts);
  memory_drop(core, &up->storage.resting);
  memory_drop(core, &up->storage.bounds);
  points_destroy(core, &up->points);
  memory_free(&core->memory, up);
}

/* What of the fine grains no device can do; NULL: nothing. */
static const char *lacks_form(const Upsample *up) {
  if (up->definition.mode == SCREE_UPSAMPLE_POINTS) return "render points have no device form";
  for (int32_t k = 0; k < up->solid_count; k++)
    if (!solid_has_form(&up->solids[k])) return "fine grains have none beside an open mesh or a heightfield";
  return NULL;
}

Status upsample_follow_solids(Core *core, Upsample *up, const State *state) {
  int32_t known = up->solid_count;
  Status status = solids_view_create(core, up, state);
  if (status != SCREE_OK) up->solid_count = known;
  if (status != SCREE_OK || !FINE_ON_DEVICE(up) || !lacks_form(up)) return status;
  TRY(fine_device_fetch(core, up));
  fine_device_destroy(core, up);
  up->off = lacks_form(up);
  up->storage.unsorted = true;
  log_line(core, SCREE_LOG_WARNING, "fine grains go on on the CPU: %s", up->off);
  return SCREE_OK;
}

Status upsample_use_device(Core *core, Upsample *up, State *state, Device *device) {
  up->off = lacks_form(up);
  return up->off || !FINE_HAS_FORM ? SCREE_OK : fine_device_create(core, up, state, device);
}

/* The host bears fine grains. */
bool upsample_reads_host(const Upsample *up, const State *state) {
  return !up->device || state->queue.done_birth_count > 0;
}

const char *upsample_off_device(const Upsample *up) { return up->off; }

Status upsample_fetch(Core *core, Upsample *up) { return FINE_ON_DEVICE(up) ? fine_device_fetch(core, up) : SCREE_OK; }

const FineGrains *upsample_grains(const Upsample *upsample) { return &upsample->grains; }

Status fine_too_many(Core *core, int64_t count) {
  return fail(core, SCREE_NO_MEMORY, "%lld fine grains: at most %d are possible", (long long)count,
              INT32_MAX - FINE_BLOCK);
}

Status fine_reserve(Core *core, FineGrains *grains, int64_t capacity) {
  if (capacity <= grains->capacity) return SCREE_OK;
  if (capacity > INT32_MAX - FINE_BLOCK) return fine_too_many(core, capacity);
  /* An eighth to spare once it grows, so that an emitter does not copy everything in every frame. */
  if (grains->capacity > 0 && capacity < grains->capacity + grains->capacity / 8)
    capacity = grains->capacity + grains->capacity / 8;
#define FINE_GROW(type, name)                                                                                          \
  {                                                                                                                    \
    type *block = NULL;                                                                                                \
    TRY(memory_new(core, &block, capacity, "fine grains"));                                                            \
    if (grains->name) memcpy(block, grains->name, sizeof *block *(size_t)grains->count);                               \
    memory_drop(core, &grains->name);                                                                                  \
    grains->name = block;                                                                                              \
  }
  FINE_FIELDS(FINE_GROW)
#undef FINE_GROW
  grains->capacity = capacity;
  return SCREE_OK;
}

Status fine_forget_blocks(Core *core, Upsample *up, int64_t first) {
  int64_t blocks = parallel_chunks(0, up->grains.count, FINE_BLOCK);
  TRY(memory_grow(core, &up->storage.resting, blocks, "fine blocks"));
  TRY(memory_grow(core, &up->storage.bounds, blocks, "fine blocks"));
  first /= FINE_BLOCK;
  if (first < blocks) memset(up->storage.resting + first, 0, (size_t)(blocks - first));
  return SCREE_OK;
}

typedef struct Ids {
  FineGrains *grains;
  int64_t from; /* the place of the first */
  uint32_t first;
} Ids;

static void number_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Ids *ids = context;
  for (int64_t k = b; k < e; k++) ids->grains->id[ids->from + k] = ids->first + (uint32_t)k;
}

static Status take_ids(Core *core, Upsample *up, int64_t count, uint32_t *first) {
  FineGrains *grains = &up->grains;
  if (count > (int64_t)(UINT32_MAX - grains->next_id))
    return fail(core, SCREE_FAILED, "ids of fine grains are used up: %u were given out", grains->next_id - 1);
  *first = grains->next_id;
  grains->next_id += (uint32_t)count;
  return SCREE_OK;
}

Status fine_append(Core *core, Upsample *up, int64_t count, FineGrains **table, int64_t *first) {
  FineGrains *grains = *table = FINE_ON_DEVICE(up) && fine_device_holds(up) ? &up->born : &up->grains;
  uint32_t id = 0;
  TRY(take_ids(core, up, count, &id));
  TRY(fine_reserve(core, grains, grains->count + count));
  *first = grains->count;
  grains->count += count;
  Ids ids = {grains, *first, id};
  parallel_for(core, 0, count, GRAINS_CHUNK, number_chunk, &ids);
  return grains == &up->grains ? fine_forget_blocks(core, up, *first) : SCREE_OK;
}

typedef struct Addition {
  Upsample *up;
  const Samples *samples;
  int64_t first;
  int32_t material;
  Vec3 from, velocity; /* the samples' origin in the world of the grains */
} Addition;

static void add_at(const Addition *addition, int64_t i, const float point[3], float radius) {
  FineGrains *grains = &addition->up->grains;
  grains->x[i] = (float)(addition->from.x + (double)point[0]);
  grains->y[i] = (float)(addition->from.y + (double)point[1]);
  grains->z[i] = (float)(addition->from.z + (double)point[2]);
  grains->vx[i] = (float)addition->velocity.x;
  grains->vy[i] = (float)addition->velocity.y;
  grains->vz[i] = (float)addition->velocity.z;
  grains->radius[i] = radius;
  grains->material[i] = (uint8_t)addition->material;
}

static void add_samples(const Addition *addition, int64_t i, int64_t b, int64_t e) {
  const Samples *samples = addition->samples;
  for (int64_t k = b; k < e; k++, i++) {
    const float point[3] = {samples->x[k], samples->y[k], samples->z[k]};
    add_at(addition, i, point, samples->radius ? samples->radius[k] : (float)addition->up->definition.radius);
  }
}

static void add_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Addition *addition = context;
  add_samples(addition, addition->first + b, b, e);
}

static void add_blocks(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Addition *addition = context;
  const SampleBlocks *blocks = addition->samples->blocks;
  for (int64_t block = b; block < e; block++) {
    const int32_t *c = blocks->coordinate[block], own = blocks->samples[block];
    int64_t i = addition->first + blocks->before[block], count = blocks->before[block + 1] - blocks->before[block];
    if (own >= 0) add_samples(addition, i, own, own + count);
    int64_t start = blocks->tile->start[tile_bin(c[0], c[1], c[2])];
    for (int64_t k = start; own < 0 && k < start + count; k++, i++) {
      float point[3];
      tile_point(blocks->tile, k, c, blocks->side, point);
      add_at(addition, i, point, tile_radius(blocks->tile, k, addition->up->definition.radius));
    }
  }
}

bool upsample_places_there(const Upsample *up) { return FINE_ON_DEVICE(up) && fine_device_places(up); }

Status upsample_add(Core *core, Upsample *up, const State *state, const Samples *samples, int32_t material,
                    Vec3 velocity) {
  Addition addition = {.up = up, .samples = samples, .material = material, .velocity = velocity};
  FineGrains *table = NULL;
  addition.from = vec3_sub(samples->origin, state->origin);
  if (upsample_places_there(up)) {
    FinePlacing placing = {.material = material, .radius = up->definition.radius, .velocity = velocity};
    placing.first = up->grains.count;
    placing.from = addition.from;
    TRY(take_ids(core, up, samples->count, &placing.id));
    return fine_device_place(core, up, samples, placing);
  }
  TRY(fine_append(core, up, samples->count, &table, &addition.first));
  if (samples->blocks) parallel_for(core, 0, samples->blocks->count, BLOCKS_CHUNK, add_blocks, &addition);
  else parallel_for(core, 0, samples->count, GRAINS_CHUNK, add_chunk, &addition);
  return SCREE_OK;
}

Status upsample_begin(Core *core, Upsample *up, const State *state, Scratch *scratch) {
  const Particles *p = &state->particles;
  for (int64_t i = 0; i < p->count; i++) {
    up->seen.x[i] = p->x[i];
    up->seen.y[i] = p->y[i];
    up->seen.z[i] = p->z[i];
    up->seen.known[i] = 1;
  }
  if (FINE_ON_DEVICE(up)) TRY(fine_device_begin(core, up)); /* refused now or never */
  return up->definition.mode == SCREE_UPSAMPLE_POINTS ? points_advance(core, up, state, scratch, 1) : SCREE_OK;
}

typedef struct Gather {
  void *to;
  const void *from;
  const int32_t *order;
} Gather;

static void gather_words(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Gather *g = context;
  uint32_t *to = g->to;
  const uint32_t *from = g->from;
  for (int64_t k = b; k < e; k++) to[k] = from[g->order[k]];
}

static void gather_bytes(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Gather *g = context;
  uint8_t *to = g->to;
  const uint8_t *from = g->from;
  for (int64_t k = b; k < e; k++) to[k] = from[g->order[k]];
}

static void copy_back(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Gather *g = context;
  memcpy((char *)g->to + b, (const char *)g->from + b, (size_t)(e - b));
}

Status fine_permute(Core *core, Upsample *up, Scratch *scratch, const int32_t *order, int64_t count, int64_t same) {
  FineGrains *grains = &up->grains;
  int mark = scratch_mark(scratch);
  uint32_t *sorted = NULL;
  TRY(scratch_take(core, scratch, &sorted, count, "permuted fine grains"));
#define FINE_PERMUTE(type, name)                                                                                       \
  {                                                                                                                    \
    Gather there = {sorted, grains->name, order}, back = {grains->name, sorted, NULL};                                 \
    parallel_for(core, same, count, GRAINS_CHUNK, sizeof(type) == 4 ? gather_words : gather_bytes, &there);            \
    parallel_for(core, same *(int64_t)sizeof(type), count *(int64_t)sizeof(type), GRAINS_CHUNK * 4, copy_back, &back); \
  }
  FINE_FIELDS(FINE_PERMUTE)
#undef FINE_PERMUTE
  scratch_release(core, scratch, mark);
  grains->count = count;
  return fine_forget_blocks(core, up, same);
}

Status upsample_archive(Core *core, Archive *archive, Upsample *up) {
  FineGrains *grains = &up->grains;
  TRY(archive_section(core, archive, "upsample"));
  if (!archive->loading) TRY(upsample_fetch(core, up));
  else if (FINE_ON_DEVICE(up)) fine_device_forget(up);
  int64_t count = grains->count, bytes = 0;
#define FINE_SIZE(type, name) bytes += (int64_t)sizeof(type);
  FINE_FIELDS(FINE_SIZE)
#undef FINE_SIZE
  TRY(archive_count(core, archive, &count, bytes));
  TRY(archive_value(core, archive, &grains->next_id));
  if (archive->loading) {
    grains->count = up->born.count = 0;
    TRY(fine_reserve(core, grains, count));
    grains->count = count;
    TRY(fine_forget_blocks(core, up, 0));
  }
#define FINE_ARCHIVE(type, name) TRY(archive_array(core, archive, grains->name, count));
  FINE_FIELDS(FINE_ARCHIVE)
#undef FINE_ARCHIVE
  if (up->definition.mode == SCREE_UPSAMPLE_POINTS) TRY(points_archive(core, archive, up));
  /* Storage is kept as it is, with what is known about it, so that a resumed run works on the same blocks. */
  int64_t blocks = parallel_chunks(0, count, FINE_BLOCK);
  TRY(archive_array(core, archive, up->storage.resting, blocks));
  TRY(archive_array(core, archive, up->storage.bounds, blocks));
  bool unsorted = up->storage.unsorted || up->device; /* a device counts otherwise */
  TRY(archive_bools(core, archive, &unsorted, 1));
  if (archive->loading) up->storage.unsorted = unsorted;
  TRY(archive_value(core, archive, &up->storage.effort_sorted));
  TRY(archive_value(core, archive, &up->storage.effort_wasted));
  for (int32_t k = 0; k < up->solid_count; k++) {
    TRY(archive_value(core, archive, &up->solids[k].position[0]));
    TRY(archive_value(core, archive, &up->solids[k].rotation[0]));
  }
  return SCREE_OK;
}

static Status check_storage(Core *core, const Archive *archive, const Upsample *up) {
  const FineStorage *storage = &up->storage;
  int64_t blocks = parallel_chunks(0, up->grains.count, FINE_BLOCK);
  bool good = isfinite(storage->effort_sorted) && isfinite(storage->effort_wasted);
  for (int64_t b = 0; b < blocks; b++)
    good = good && storage->resting[b] <= 1 && (!storage->resting[b] || floats_finite(storage->bounds[b], 6));
  for (int32_t k = 0; k < up->solid_count; k++)
    good = good && vec3_finite(up->solids[k].position[0]) && quat_usable(up->solids[k].rotation[0]);
  return good ? SCREE_OK : archive_refuse(core, archive, "storage of fine grains is not finite");
}

Status upsample_check(Core *core, const Archive *archive, const Upsample *up, const State *state) {
  const FineGrains *g = &up->grains;
  const float *const numbers[] = {g->x, g->y, g->z, g->vx, g->vy, g->vz};
  TRY(archive_check_ids(core, archive, g->id, g->count, g->next_id, "fine grain"));
  for (int k = 0; k < 6; k++)
    for (int64_t i = 0; i < g->count; i++)
      if (!(fabs((double)numbers[k][i]) < (k < 3 ? STATE_FAR_MOST : STATE_SPEED_MOST)))
        return archive_refuse(core, archive, "fine grain %u is farther away or faster than anything", g->id[i]);
  for (int64_t k = 0; k < g->count; k++)
    if (g->material[k] >= state->materials.count || !state_radius_possible((double)g->radius[k], up->definition.radius))
      return archive_refuse(core, archive, "fine grain %u has material %d and radius %g m", g->id[k],
                            g->material[k] + 1, (double)g->radius[k]);
  for (int64_t i = 0; i < state->particles.count; i++)
    if (up->seen.known[i] > 1) return archive_refuse(core, archive, "a grain is neither known nor unknown");
  if (up->definition.mode == SCREE_UPSAMPLE_POINTS) TRY(points_check(core, archive, up, state));
  return check_storage(core, archive, up);
}

typedef struct HashWork {
  const FineGrains *grains;
  _Atomic uint64_t sum;
} HashWork;

static void hash_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  HashWork *work = context;
  const FineGrains *grains = work->grains;
  uint64_t sum = 0;
  for (int64_t i = b; i < e; i++) {
    const float record[8] = {grains->x[i],  grains->y[i],  grains->z[i],      grains->vx[i],
                             grains->vy[i], grains->vz[i], grains->radius[i], (float)grains->material[i]};
    sum = hash_unordered(sum, hash_bytes(record, sizeof record, grains->id[i]));
  }
  atomic_fetch_add(&work->sum, sum);
}

uint64_t upsample_hash(Core *core, Upsample *up) {
  if (upsample_fetch(core, up) != SCREE_OK) return 0;
  HashWork work = {.grains = &up->grains};
  atomic_init(&work.sum, 0);
  parallel_for(core, 0, up->grains.count, GRAINS_CHUNK, hash_chunk, &work);
  uint64_t parts[2] = {atomic_load(&work.sum), (uint64_t)up->grains.count};
  return hash_bytes(parts, sizeof parts, 0);
}
