#include "state/particles.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"

enum { PARTICLE_GRAIN = 4096, PERMUTE_GRAIN = 512, CLEAR_CHUNK = 1 << 18, RECORD_MAX = 512 };

Status particles_create(Core *core, Particles *particles) {
  *particles = (Particles){.next_id = 1};
#define REGISTER_FIELD(type, name, hashed, finite, meaning)                                                            \
  TRY(particles_add_field(core, particles, #name, (int32_t)sizeof(type), hashed, (void **)&particles->name));          \
  particles->fields[particles->field_count - 1].floats = finite;
  PARTICLE_FIELDS(REGISTER_FIELD)
#undef REGISTER_FIELD
  for (int32_t f = 0; f < particles->field_count; f++) particles->fields[f].mirrored = true;
  return SCREE_OK;
}

void particles_destroy(Core *core, Particles *particles) {
  for (int32_t f = 0; f < particles->field_count; f++) memory_drop(core, particles->fields[f].data);
  for (int k = 0; k < PARTICLE_SPARES; k++) memory_drop(core, &particles->spare[k]);
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

Status particles_add_floats(Core *core, Particles *particles, const char *name, int32_t floats, bool hashed,
                            void **data) {
  TRY(particles_add_field(core, particles, name, floats * (int32_t)sizeof(float), hashed, data));
  particles->fields[particles->field_count - 1].floats = floats;
  return SCREE_OK;
}

Status particles_reserve(Core *core, Particles *particles, int64_t capacity) {
  if (capacity <= particles->capacity) return SCREE_OK;
  if (capacity > INT32_MAX)
    return fail(core, SCREE_NO_MEMORY, "%lld particles: at most %d can be simulated", (long long)capacity, INT32_MAX);
  /* A quarter to spare, so that an emitter does not copy everything in every step. */
  if (particles->capacity > 0 && capacity < particles->capacity + particles->capacity / 4)
    capacity = particles->capacity + particles->capacity / 4;
  for (int k = 0; k < PARTICLE_SPARES; k++) memory_drop(core, &particles->spare[k]); /* too small now */
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

static void clear_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  memset((char *)context + b, 0, (size_t)(e - b));
}

Status particles_append(Core *core, Particles *particles, int64_t count) {
  if (count == 0) return SCREE_OK; /* the fields may not have arrays yet */
  if (count > (int64_t)(UINT32_MAX - particles->next_id))
    return fail(core, SCREE_FAILED, "particle ids are used up: %u were given out", particles->next_id - 1);
  TRY(particles_reserve(core, particles, particles->count + count));
  for (int32_t f = 0; f < particles->field_count; f++) {
    Field *field = &particles->fields[f];
    parallel_for(core, 0, count * field->size, CLEAR_CHUNK, clear_chunk,
                 (char *)*field->data + particles->count * field->size);
  }
  for (int64_t i = 0; i < count; i++) particles->id[particles->count + i] = particles->next_id++;
  particles->count += count;
  return SCREE_OK;
}

/* Fields of one word, several at a time: each row of the order is read once for all of them. */
typedef struct Gather {
  uint32_t *to[PARTICLE_SPARES];
  const uint32_t *from[PARTICLE_SPARES];
  const int32_t *order;
  int32_t count;
} Gather;

static void gather_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Gather *g = context;
  for (int32_t f = 0; f < g->count; f++) {
    uint32_t *to = g->to[f];
    const uint32_t *from = g->from[f];
    for (int64_t k = b; k < e; k++) to[k] = from[g->order[k]];
  }
}

static Status permute_words(Core *core, Particles *particles, const int32_t *order, int64_t count, const bool *here) {
  Gather gather = {.order = order};
  Field *fields[PARTICLE_SPARES];
  for (int32_t f = 0; f < particles->field_count; f++) {
    if (here[f] && particles->fields[f].size == sizeof(uint32_t)) fields[gather.count++] = &particles->fields[f];
    if (gather.count < PARTICLE_SPARES && f < particles->field_count - 1) continue;
    for (int32_t k = 0; k < gather.count; k++) {
      if (!particles->spare[k]) TRY(memory_new(core, &particles->spare[k], particles->capacity, "particles"));
      gather.to[k] = particles->spare[k];
      gather.from[k] = *fields[k]->data;
    }
    parallel_for(core, 0, count, PERMUTE_GRAIN, gather_chunk, &gather);
    for (int32_t k = 0; k < gather.count; k++) {
      particles->spare[k] = *fields[k]->data;
      *fields[k]->data = gather.to[k];
    }
    gather.count = 0;
  }
  return SCREE_OK;
}

typedef struct GatherBytes {
  char *to;
  const char *from;
  const int32_t *order;
  size_t size;
} GatherBytes;

static void gather_bytes_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const GatherBytes *g = context;
  if (g->size == 1)
    for (int64_t k = b; k < e; k++) g->to[k] = g->from[g->order[k]];
  else
    for (int64_t k = b; k < e; k++)
      memcpy(g->to + (size_t)k * g->size, g->from + (size_t)g->order[k] * g->size, g->size);
}

static void copy_bytes_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const GatherBytes *g = context;
  memcpy(g->to + (size_t)b * g->size, g->from + (size_t)b * g->size, (size_t)(e - b) * g->size);
}

/* Fields of other sizes go through scratch: their arrays are no use to each other. */
static Status permute_others(Core *core, Particles *particles, Scratch *scratch, const int32_t *order, int64_t count,
                             const bool *here) {
  for (int32_t f = 0; f < particles->field_count; f++) {
    const Field *field = &particles->fields[f];
    if (!here[f] || field->size == sizeof(uint32_t)) continue;
    int mark = scratch_mark(scratch);
    char *sorted = NULL;
    TRY(scratch_take(core, scratch, &sorted, count * field->size, "permuted field"));
    GatherBytes gather = {.to = sorted, .from = *field->data, .order = order, .size = (size_t)field->size};
    parallel_for(core, 0, count, PERMUTE_GRAIN, gather_bytes_chunk, &gather);
    GatherBytes back = {.to = *field->data, .from = sorted, .size = (size_t)field->size};
    parallel_for(core, 0, count, PERMUTE_GRAIN, copy_bytes_chunk, &back);
    scratch_release(core, scratch, mark);
  }
  return SCREE_OK;
}

Status particles_permute_some(Core *core, Particles *particles, Scratch *scratch, const int32_t *order, int64_t count,
                              const bool *here) {
  int64_t first = 0;
  while (first < count && order[first] == first) first++;
  if (first < count) {
    TRY(permute_words(core, particles, order, count, here));
    TRY(permute_others(core, particles, scratch, order, count, here));
  }
  particles->count = count;
  return SCREE_OK;
}

Status particles_permute(Core *core, Particles *particles, Scratch *scratch, const int32_t *order, int64_t count) {
  bool here[FIELDS_MAX];
  for (int f = 0; f < FIELDS_MAX; f++) here[f] = true;
  return particles_permute_some(core, particles, scratch, order, count, here);
}

static Field *find_field(const Particles *particles, const char *name) {
  for (int32_t f = 0; f < particles->field_count; f++)
    if (strcmp(particles->fields[f].name, name) == 0) return (Field *)&particles->fields[f];
  return NULL;
}

void **particles_field(const Particles *particles, const char *name) {
  const Field *field = find_field(particles, name);
  return field ? field->data : NULL;
}

void particles_hash_field(Particles *particles, const char *name, bool hashed) {
  find_field(particles, name)->hashed = hashed;
}

void particles_mirror_field(Particles *particles, const char *name) { find_field(particles, name)->mirrored = true; }

/* What is at the end and dead itself is only cut off. */
bool particles_next_gap(ParticleGaps *gaps, int32_t *to, int32_t *from) {
  while (gaps->end > gaps->at && gaps->dead[gaps->end - 1] == gaps->last - 1) gaps->last--, gaps->end--;
  if (gaps->at >= gaps->end) return false;
  *to = gaps->dead[gaps->at++];
  *from = (int32_t)--gaps->last;
  return true;
}

void particles_remove(Particles *particles, const int32_t *dead, int64_t count) {
  ParticleGaps gaps = particles_gaps(particles, dead, count);
  int32_t to, from;
  while (particles_next_gap(&gaps, &to, &from))
    for (int32_t f = 0; f < particles->field_count; f++) {
      char *data = *particles->fields[f].data;
      const int32_t size = particles->fields[f].size;
      memcpy(data + (int64_t)to * size, data + (int64_t)from * size, (size_t)size);
    }
  particles->count = gaps.last;
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

Status particles_check(Core *core, const Archive *archive, const Particles *particles) {
  TRY(archive_check_ids(core, archive, particles->id, particles->count, particles->next_id, "grain"));
  for (int32_t f = 0; f < particles->field_count; f++) {
    const Field *field = &particles->fields[f];
    if (!floats_finite(*field->data, particles->count * field->floats))
      return archive_refuse(core, archive, "%s of a grain is not finite", field->name);
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

double particles_fastest(const Particles *particles) {
  const float *vx = particles->vx, *vy = particles->vy, *vz = particles->vz;
  float largest = 0;
  for (int64_t i = 0; i < particles->count; i++)
    largest = fmaxf(largest, vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
  return sqrt((double)largest);
}
