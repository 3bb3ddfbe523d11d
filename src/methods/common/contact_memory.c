#include "methods/common/contact_memory.h"

#include <string.h>

#include "core/simd.h"

Status contact_memory_reserve(Core *core, ContactMemory *memory, int64_t places) {
  int64_t room = places + places / 8 + LANES;
  if (places > INT32_MAX - LANES) return fail(core, SCREE_NO_MEMORY, "too many contacts: %lld", (long long)places);
  if (memory_size(memory->key) >= (places + LANES) * (int64_t)sizeof *memory->key &&
      memory_size(memory->kept) >= places * memory->width * (int64_t)sizeof *memory->kept)
    return SCREE_OK;
  memory->places = 0;
  memory_drop(core, &memory->key);
  memory_drop(core, &memory->kept);
  TRY(memory_new(core, &memory->key, room, "contact memory"));
  return memory_new(core, &memory->kept, room * memory->width, "contact memory");
}

Status contact_memory_create(Core *core, ContactMemory *memory, int32_t width, Particles *particles) {
  memory->width = width;
  TRY(contact_memory_reserve(core, memory, 1));
  memory->places = 1;
  TRY(particles_add_field(core, particles, "contact_row", sizeof *memory->row, false, (void **)&memory->row));
  return particles_add_field(core, particles, "contacts_held", sizeof *memory->held, false, (void **)&memory->held);
}

Status contact_memory_archive(Core *core, Archive *archive, ContactMemory *memory) {
  if (!memory->key) return SCREE_OK;
  int64_t places = memory->places, bytes = (int64_t)sizeof *memory->key + memory->width * (int64_t)sizeof(float);
  TRY(archive_section(core, archive, "contact memory"));
  TRY(archive_count(core, archive, &places, bytes));
  if (archive->loading) TRY(contact_memory_reserve(core, memory, places > 0 ? places : 1));
  memory->places = places;
  TRY(archive_array(core, archive, memory->key, places));
  TRY(archive_array(core, archive, memory->kept, places * memory->width));
  memset(memory->kept, 0, sizeof(float) * (size_t)memory->width);
  return SCREE_OK;
}

void contact_memory_destroy(Core *core, ContactMemory *memory) {
  memory_drop(core, &memory->key);
  memory_drop(core, &memory->kept);
}
