#include "state/particles.h"

#include <stdatomic.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"

enum { PARTICLE_GRAIN = 4096, RECORD_MAX = 512 };

Status particles_create(Core *core, Particles *particles) {
  *particles = (Particles){.next_id = 1};
#define REGISTER_FIELD(type, name, hashed, meaning)                                                                    \
  TRY(particles_add_field(core, particles, #name, (int32_t)sizeof(type), hashed, (void **)&particles->name));
  PARTICLE_FIELDS(REGISTER_FIELD)
#undef REGISTER_FIELD
  return SCREE_OK;
}

void particles_destroy(Core *core, Particles *particles) {
  for (int32_t f = 0; f < particles->field_count; f++) memory_drop(core, particles->fields[f].data);
  particles->count = particles->capacity = 0;
  particles->field_count = 0;
}

Status particles_add_field(Core *core, Particles *particles, const char *name, int32_t size, bool hashed, void **data) {
  if (particles->field_count == FIELDS_MAX)
    return fail(core, SCREE_BAD_ARGUMENT, "no room for the particle field '%s'", name);
  *data = NULL;
  if (particles->capacity > 0) TRY(memory_new_(core, data, particles->capacity, size, "particles"));
  Field *field = &particles->fields[particles->field_count++];
  *field = (Field){.size = size, .hashed = hashed, .data = data};
  strncpy(field->name, name, sizeof field->name - 1);
  return SCREE_OK;
}

Status particles_reserve(Core *core, Particles *particles, int64_t capacity) {
  if (capacity <= particles->capacity) return SCREE_OK;
  if (capacity > INT32_MAX)
    return fail(core, SCREE_NO_MEMORY, "%lld particles: at most %d can be simulated", (long long)capacity, INT32_MAX);
  /* A quarter to spare, so that an emitter does not copy everything in every step. */
  if (particles->capacity > 0 && capacity < particles->capacity + particles->capacity / 4)
    capacity = particles->capacity + particles->capacity / 4;
  for (int32_t f = 0; f < particles->field_count; f++) {
    Field *field = &particles->fields[f];
    void *block = NULL;
    TRY(memory_new_(core, &block, capacity, field->size, "particles"));
    if (*field->data) memcpy(block, *field->data, (size_t)(particles->count * field->size));
    memory_free(&core->memory, *field->data);
    *field->data = block;
  }
  particles->capacity = capacity;
  return SCREE_OK;
}

Status particles_append(Core *core, Particles *particles, int64_t count) {
  if (count == 0) return SCREE_OK; /* the fields may not have arrays yet */
  if (count > (int64_t)(UINT32_MAX - particles->next_id))
    return fail(core, SCREE_FAILED, "particle ids are used up: %u were given out", particles->next_id - 1);
  TRY(particles_reserve(core, particles, particles->count + count));
  for (int32_t f = 0; f < particles->field_count; f++) {
    Field *field = &particles->fields[f];
    memset((char *)*field->data + particles->count * field->size, 0, (size_t)(count * field->size));
  }
  for (int64_t i = 0; i < count; i++) particles->id[particles->count + i] = particles->next_id++;
  particles->count += count;
  return SCREE_OK;
}

typedef struct Gather {
  char *to;
  const char *from;
  const int32_t *order;
  int32_t size;
} Gather;

static void gather_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Gather *g = context;
  if (g->size == 4) {
    uint32_t *to = (uint32_t *)g->to;
    const uint32_t *from = (const uint32_t *)g->from;
    for (int64_t k = b; k < e; k++) to[k] = from[g->order[k]];
  } else {
    for (int64_t k = b; k < e; k++)
      memcpy(g->to + k * g->size, g->from + (int64_t)g->order[k] * g->size, (size_t)g->size);
  }
}

static void copy_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Gather *g = context;
  memcpy(g->to + b * g->size, g->from + b * g->size, (size_t)((e - b) * g->size));
}

Status particles_permute(Core *core, Particles *particles, Scratch *scratch, const int32_t *order, int64_t count) {
  int32_t widest = 0;
  for (int32_t f = 0; f < particles->field_count; f++)
    if (particles->fields[f].size > widest) widest = particles->fields[f].size;
  int mark = scratch_mark(scratch);
  char *sorted = NULL;
  TRY(scratch_take(core, scratch, &sorted, count * widest, "permuted field"));
  for (int32_t f = 0; f < particles->field_count; f++) {
    const Field *field = &particles->fields[f];
    Gather there = {.to = sorted, .from = *field->data, .order = order, .size = field->size};
    Gather back = {.to = *field->data, .from = sorted, .size = field->size};
    parallel_for(core, 0, count, PARTICLE_GRAIN, gather_chunk, &there);
    parallel_for(core, 0, count, PARTICLE_GRAIN, copy_chunk, &back);
  }
  particles->count = count;
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}

Status particles_archive(Core *core, Archive *archive, Particles *particles) {
  TRY(archive_section(core, archive, "particles"));
  int64_t count = particles->count;
  int64_t bytes = 0;
  for (int32_t f = 0; f < particles->field_count; f++) bytes += particles->fields[f].size;
  TRY(archive_count(core, archive, &count, bytes));
  TRY(archive_value(core, archive, &particles->next_id));
  if (archive->loading) {
    particles->count = 0;
    TRY(particles_reserve(core, particles, count));
    particles->count = count;
  }
  for (int32_t f = 0; f < particles->field_count; f++) {
    TRY(archive_section(core, archive, particles->fields[f].name));
    TRY(archive_bytes(core, archive, *particles->fields[f].data, count * particles->fields[f].size));
  }
  return SCREE_OK;
}

typedef struct HashWork {
  const Particles *particles;
  _Atomic uint64_t sum;
} HashWork;

static void hash_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  HashWork *work = context;
  const Particles *p = work->particles;
  uint64_t sum = 0;
  for (int64_t i = b; i < e; i++) {
    char record[RECORD_MAX];
    int32_t used = 0;
    for (int32_t f = 0; f < p->field_count; f++) {
      const Field *field = &p->fields[f];
      if (!field->hashed || used + field->size > RECORD_MAX) continue;
      memcpy(record + used, (const char *)*field->data + i * field->size, (size_t)field->size);
      used += field->size;
    }
    sum = hash_unordered(sum, hash_bytes(record, (size_t)used, p->id[i]));
  }
  atomic_fetch_add(&work->sum, sum);
}

uint64_t particles_hash(Core *core, const Particles *particles) {
  HashWork work = {.particles = particles};
  atomic_init(&work.sum, 0);
  parallel_for(core, 0, particles->count, PARTICLE_GRAIN, hash_chunk, &work);
  uint64_t parts[2] = {atomic_load(&work.sum), (uint64_t)particles->count};
  return hash_bytes(parts, sizeof parts, 0);
}
