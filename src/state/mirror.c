#include "state/mirror.h"

#include <string.h>

Status mirror_create(Core *core, Device *device, Mirror **mirror) {
  TRY(memory_new(core, mirror, 1, "fields on a device"));
  (*mirror)->device = device;
  for (int32_t f = 0; f < FIELDS_MAX; f++) (*mirror)->fields[f].here = true;
  return mirror_words_reserve(core, *mirror, MIRROR_METHOD_WORD);
}

void mirror_destroy(Core *core, Mirror *mirror) {
  if (!mirror) return;
  for (int32_t f = 0; f < FIELDS_MAX; f++) device_release(mirror->device, &mirror->fields[f].buffer);
  solids_mirror_drop(core, mirror->device, &mirror->solids);
  device_release(mirror->device, &mirror->words.buffer);
  list_device_close(mirror->device, &mirror->pairs);
  list_maker_close(core, mirror->lists);
  memory_drop(core, &mirror->words.here);
  memory_free(&core->memory, mirror);
}

Status mirror_words_reserve(Core *core, Mirror *mirror, int32_t count) {
  MirrorWords *words = &mirror->words;
  const int64_t bytes = 2 * count * (int64_t)sizeof *words->here;
  if (count <= words->count) return SCREE_OK;
  TRY(memory_grow(core, &words->here, count, "counters"));
  TRY(device_reserve(core, mirror->device, &words->buffer, bytes, 0, "counters"));
  words->count = count;
  return mirror_words_clear(core, mirror);
}

Status mirror_words_clear(Core *core, Mirror *mirror) {
  const MirrorWords *words = &mirror->words;
  return device_clear(core, mirror->device, &words->buffer, 2 * words->count * (int64_t)sizeof *words->here);
}

DeviceRead mirror_words_wanted(const Mirror *mirror) {
  const MirrorWords *words = &mirror->words;
  const int64_t size = (int64_t)sizeof *words->here;
  return (DeviceRead){&words->buffer, mirror_words_begin(mirror) * size, words->count * size, words->here};
}

Status mirror_words_read(Core *core, Mirror *mirror) {
  const DeviceRead read = mirror_words_wanted(mirror);
  return device_read_many(core, mirror->device, &read, 1);
}

static bool in_set(const Particles *particles, int32_t f, StateSet set) {
  return particles->fields[f].mirrored && (set & (f < STATE_SET_FIELDS ? (StateSet)1 << f : SET_ADDED)) != 0;
}

Status mirror_send(Core *core, Mirror *mirror, const Particles *particles, StateSet set) {
  for (int32_t f = 0; f < particles->field_count; f++) {
    MirrorField *own = &mirror->fields[f];
    const Field *field = &particles->fields[f];
    if (!in_set(particles, f, set) || own->there) continue;
    int64_t bytes = particles->count * field->size;
    TRY(device_reserve(core, mirror->device, &own->buffer, bytes > 0 ? bytes : field->size, 0, "particles"));
    TRY(device_write(core, mirror->device, &own->buffer, 0, bytes, *field->data));
    own->there = true;
    own->sent++;
  }
  return SCREE_OK;
}

/* Fields that are wanted and not here come down together. */
typedef struct Fetch {
  DeviceRead reads[DEVICE_READS_MAX];
  int count;
} Fetch;

static Status fetch(Core *core, Mirror *mirror, const Particles *particles, int32_t f, Fetch *all) {
  MirrorField *own = &mirror->fields[f];
  const Field *field = &particles->fields[f];
  if (own->here) return SCREE_OK;
  all->reads[all->count++] = (DeviceRead){&own->buffer, 0, particles->count * field->size, *field->data};
  own->here = true;
  if (all->count < DEVICE_READS_MAX) return SCREE_OK;
  all->count = 0;
  return device_read_many(core, mirror->device, all->reads, DEVICE_READS_MAX);
}

Status mirror_fetch(Core *core, Mirror *mirror, const Particles *particles, StateSet set) {
  Fetch all = {.count = 0};
  for (int32_t f = 0; f < particles->field_count; f++)
    if (in_set(particles, f, set)) TRY(fetch(core, mirror, particles, f, &all));
  return device_read_many(core, mirror->device, all.reads, all.count);
}

Status mirror_fetch_field(Core *core, Mirror *mirror, const Particles *particles, const char *name) {
  Fetch all = {.count = 0};
  for (int32_t f = 0; f < particles->field_count; f++)
    if (strcmp(particles->fields[f].name, name) == 0 && particles->fields[f].mirrored)
      TRY(fetch(core, mirror, particles, f, &all));
  return device_read_many(core, mirror->device, all.reads, all.count);
}

static void wrote(Mirror *mirror, const Particles *particles, StateSet set, bool here) {
  for (int32_t f = 0; f < particles->field_count; f++)
    if (in_set(particles, f, set)) {
      mirror->fields[f].here = here;
      mirror->fields[f].there = !here;
    }
}

void mirror_wrote_there(Mirror *mirror, const Particles *particles, StateSet set) {
  wrote(mirror, particles, set, false);
}

void mirror_wrote_here(Mirror *mirror, const Particles *particles, StateSet set) {
  wrote(mirror, particles, set, true);
}

MirrorField *mirror_field(Mirror *mirror, const Particles *particles, const char *name) {
  for (int32_t f = 0; f < particles->field_count; f++)
    if (strcmp(particles->fields[f].name, name) == 0) return &mirror->fields[f];
  return NULL;
}

const DeviceBuffer *mirror_buffer(Mirror *mirror, const Particles *particles, const char *name,
                                  const DeviceBuffer *otherwise) {
  const MirrorField *field = mirror_field(mirror, particles, name);
  return field && field->buffer.handle ? &field->buffer : otherwise;
}
