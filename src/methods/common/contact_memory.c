#include "methods/common/contact_memory.h"

#include <string.h>

/* A share of the places, for more contacts to come while a heap settles: getting new ones takes as long as a few
 * passes, and no other thread can help. */
enum { GROWTH = 24 };

static void places_drop(Core *core, ContactPlaces *places) {
  memory_drop(core, &places->key);
  for (int k = 0; k < CONTACT_KEPT; k++) memory_drop(core, &places->kept[k]);
}

static Status places_reserve(Core *core, ContactPlaces *places, int64_t count) {
  if (count > INT32_MAX - LANES) return fail(core, SCREE_NO_MEMORY, "too many contacts: %lld", (long long)count);
  if (memory_size(places->kept[CONTACT_KEPT - 1]) >= (count + LANES) * (int64_t)sizeof(float)) return SCREE_OK;
  int64_t room = count + count / GROWTH + LANES;
  places_drop(core, places);
  TRY(memory_new(core, &places->key, room, "contact memory"));
  for (int k = 0; k < CONTACT_KEPT; k++) TRY(memory_new(core, &places->kept[k], room, "contact memory"));
  return SCREE_OK;
}

Status contact_memory_reserve(Core *core, ContactMemory *memory, int64_t places) {
  return places_reserve(core, &memory->next, places);
}

Status contact_memory_free(Core *core, ContactMemory *memory, int64_t places) {
  return places_reserve(core, &memory->now, places);
}

void contact_memory_turn(ContactMemory *memory, int64_t places) {
  ContactPlaces last = memory->now;
  memory->now = memory->next;
  memory->next = last;
  memory->places = places;
}

Status contact_memory_create(Core *core, ContactMemory *memory, Particles *particles) {
  TRY(places_reserve(core, &memory->now, LANES));
  memory->places = LANES;
  TRY(particles_add_field(core, particles, "contact_row", sizeof *memory->row, false, (void **)&memory->row));
  TRY(particles_add_field(core, particles, "contacts_held", sizeof *memory->held, false, (void **)&memory->held));
  return particles_add_field(core, particles, "contact_number", sizeof *memory->number, false,
                             (void **)&memory->number);
}

Status contact_memory_archive(Core *core, Archive *archive, ContactMemory *memory) {
  if (!memory->row) return SCREE_OK;
  ContactPlaces *now = &memory->now;
  int64_t places = memory->places;
  TRY(archive_section(core, archive, "contact memory"));
  TRY(archive_count(core, archive, &places, (int64_t)(sizeof *now->key + CONTACT_KEPT * sizeof(float))));
  if (archive->loading) TRY(places_reserve(core, now, places > LANES ? places : LANES));
  memory->places = places;
  TRY(archive_array(core, archive, now->key, places));
  for (int k = 0; k < CONTACT_KEPT; k++) {
    TRY(archive_array(core, archive, now->kept[k], places));
    memset(now->kept[k], 0, sizeof(float) * LANES);
  }
  memset(now->key, 0, sizeof *now->key * LANES);
  return SCREE_OK;
}

Status contact_memory_check(Core *core, const Archive *archive, const ContactMemory *memory, int64_t grains) {
  if (!memory->row) return SCREE_OK;
  bool good = memory->places >= LANES;
  for (int k = 0; k < CONTACT_KEPT; k++) good = good && floats_finite(memory->now.kept[k], memory->places);
  for (int64_t i = 0; i < grains && good; i++) {
    int64_t first;
    good = contact_memory_row(memory, i, &first) == memory->held[i];
  }
  return good ? SCREE_OK : archive_refuse(core, archive, "contacts are remembered that cannot be");
}

void contact_memory_destroy(Core *core, ContactMemory *memory) {
  places_drop(core, &memory->now);
  places_drop(core, &memory->next);
  memory_drop(core, &memory->order);
  memory_drop(core, &memory->sorted_rows);
}
