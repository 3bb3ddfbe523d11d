#include "state/state.h"

#include <string.h>

#include "core/hash.h"

int32_t materials_find(const Materials *materials, const char *name) {
  for (int32_t k = 0; k < materials->count; k++)
    if (strcmp(materials->items[k].definition.name, name) == 0) return k;
  return -1;
}

void state_count(State *state, const char *name, int64_t times) {
  for (int32_t k = 0; k < state->counter_count; k++)
    if (strcmp(state->counters[k].name, name) == 0) {
      state->counters[k].count += times;
      return;
    }
  if (state->counter_count < COUNTERS_MAX) state->counters[state->counter_count++] = (ScreeCount){name, times};
}

int64_t state_counted(const State *state, const char *name) {
  for (int32_t k = 0; k < state->counter_count; k++)
    if (strcmp(state->counters[k].name, name) == 0) return state->counters[k].count;
  return 0;
}

/* Names are words of small letters, and so many times that more can be counted. */
#define COUNT_MOST (1ll << 60)
static bool counter_can_be(const char *name, int64_t count) {
  for (const char *c = name; *c; c++)
    if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_')) return false;
  return count >= 0 && count < COUNT_MOST;
}

/* Names are literals of the program; those that come from a file are kept in the state. */
Status counters_archive(Core *core, Archive *archive, State *state) {
  TRY(archive_section(core, archive, "counters"));
  if (archive->loading) state->counter_count = 0;
  for (int32_t k = 0; k < COUNTERS_MAX; k++) {
    char name[COUNTER_NAME_MAX] = {0};
    int64_t count = 0;
    if (!archive->loading && k < state->counter_count) {
      strncpy(name, state->counters[k].name, sizeof name - 1);
      count = state->counters[k].count;
    }
    TRY(archive_value(core, archive, &name));
    TRY(archive_value(core, archive, &count));
    name[COUNTER_NAME_MAX - 1] = 0;
    if (!archive->loading || !name[0]) continue;
    if (!counter_can_be(name, count)) return archive_bad(core, archive, "a warning that cannot have been counted");
    const int32_t at = state->counter_count++;
    memcpy(state->counter_names[at], name, sizeof name);
    state->counters[at] = (ScreeCount){state->counter_names[at], count};
  }
  return SCREE_OK;
}

Status state_archive(Core *core, Archive *archive, State *state) {
  TRY(archive_section(core, archive, "state"));
  Vec3 origin = state->origin;
  TRY(archive_value(core, archive, &origin));
  if (memcmp(&origin, &state->origin, sizeof origin) != 0) return archive_bad(core, archive, "another origin");
  TRY(archive_value(core, archive, &state->time));
  TRY(archive_value(core, archive, &state->step));
  TRY(archive_value(core, archive, &state->frame));
  TRY(particles_archive(core, archive, &state->particles));
  TRY(solids_archive(core, archive, &state->solids));
  if (state->terrain) TRY(terrain_archive(core, archive, state->terrain, &state->solids));
  TRY(queue_archive(core, archive, &state->queue));
  return SCREE_OK;
}

uint64_t state_hash(Core *core, const State *state) {
  uint64_t parts[2] = {particles_hash(core, &state->particles), solids_hash(&state->solids)};
  uint64_t hash = hash_bytes(parts, sizeof parts, 0);
  if (!state->terrain) return hash;
  uint64_t terrain = terrain_hash(state->terrain);
  return hash_bytes(&terrain, sizeof terrain, hash);
}

void state_destroy(Core *core, State *state) {
  queue_destroy(core, &state->queue);
  contacts_destroy(core, &state->contacts);
  solid_samples_destroy(core, &state->samples);
  solids_destroy(core, &state->solids);
  particles_destroy(core, &state->particles);
  mirror_destroy(core, state->mirror);
  state->mirror = NULL;
  terrain_destroy(core, state->terrain); /* last: it holds the address of a field */
  state->terrain = NULL;
}
