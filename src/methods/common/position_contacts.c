/* Contacts of a step into slots, and their multipliers back into the memory. */
#include "methods/common/position_contacts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_kernels.h"

enum { FIND_CHUNK = 256, KEEP_CHUNK = 32 };

/* sqrt(mu_i mu_j), once for every pair of materials (Sommer Section 3). */
static float mixed(double a, double b) { return (float)sqrt(a * b); }

static Status mix_friction(PositionStep *work) {
  const Materials *materials = &work->step->state->materials;
  work->materials = materials->count;
  int64_t pairs = (int64_t)materials->count * materials->count;
  TRY(scratch_take(work->step->core, work->step->scratch, &work->mu, pairs, "friction"));
  for (int64_t k = 0; k < pairs; k++) {
    const ScreeMaterialDef *a = &materials->items[k / materials->count].definition;
    const ScreeMaterialDef *b = &materials->items[k % materials->count].definition;
    work->mu[k][0] = mixed(a->friction_static, b->friction_static);
    work->mu[k][1] = mixed(a->friction_kinetic, b->friction_kinetic);
  }
  return SCREE_OK;
}

/* Solids and samples count down from the top, where ids of grains are never seen. */
static uint32_t ghost_key(const PositionStep *work, int64_t g) {
  const PositionGhost *ghost = &work->ghosts[g];
  int32_t faces = POSITION_FACES * work->step->state->solids.count;
  return ~(uint32_t)(ghost->sample >= 0 ? faces + ghost->sample : POSITION_FACES * ghost->solid + ghost->face);
}

static int32_t count_ghosts(const PositionStep *work, int64_t i) {
  if (work->ghost_count == 0) return 0;
  const State *state = work->step->state;
  int32_t count = 0;
  int64_t end = position_first_ghost(state, i + 1);
  for (int64_t g = position_first_ghost(state, i); g < end; g++) count += work->ghosts[g].solid >= 0;
  return count;
}

/* Weights of the grains and, per slice, how many contacts the busiest of its grains has. */
static void weigh_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  for (int64_t s = b; s < e; s++) {
    int32_t most = 0;
    for (int64_t i = s * SLICE; i < (s + 1) * SLICE && i < work->count; i++) {
      int32_t contacts = work->found_count[i] + count_ghosts(work, i);
      if (contacts > most) most = contacts;
      work->wn[i] = work->w[i] * fmaxf((float)contacts / work->settings->relaxation, 1);
      work->d4[i][3] = work->settings->averaging ? work->w[i] : work->wn[i];
      work->shift[i][3] = work->wn[i];
    }
    work->slots.begin[s + 1] = most;
  }
}

/* Where the memory has the force of grain i with a partner; 0, where it is zero, when it has none. */
static int64_t kept_place(const PositionMemory *memory, int64_t i, uint32_t key) {
  int64_t first = memory->row[i], held = memory->held[i];
  if (first + held > memory->places || key == 0) return 0;
  for (int64_t k = first; k < first + held; k++)
    if (memory->key[k] == key) return k;
  return 0;
}

static void set_ghost_slot(PositionStep *work, int64_t g, int64_t slot) {
  const State *state = work->step->state;
  PositionSlots *s = &work->slots;
  PositionGhost *ghost = &work->ghosts[g];
  const ScreeMaterialDef *own = &state->materials.items[state->particles.material[ghost->grain]].definition;
  const Solid *solid = &state->solids.items[ghost->solid];
  static const float none[POSITION_KEPT] = {0};
  const float *kept =
      work->memory ? work->memory->kept[kept_place(work->memory, ghost->grain, ghost_key(work, g))] : none;
  float scale = work->history_scale;
  const float *n = ghost->normal;
  float along = kept[1] * n[0] + kept[2] * n[1] + kept[3] * n[2];
  ghost->slot = slot;
  s->partner[slot] = (int32_t)(work->padded + g);
  s->nx[slot] = n[0];
  s->ny[slot] = n[1];
  s->nz[slot] = n[2];
  s->apart[slot] = ghost->apart;
  s->distance[slot] = ghost->distance;
  s->mu_static[slot] = mixed(own->friction_static, solid->friction_static);
  s->mu_kinetic[slot] = mixed(own->friction_kinetic, solid->friction_kinetic);
  s->ln[slot] = kept[0] * scale;
  s->ltx[slot] = (kept[1] - along * n[0]) * scale;
  s->lty[slot] = (kept[2] - along * n[1]) * scale;
  s->ltz[slot] = (kept[3] - along * n[2]) * scale;
}

/* Ghosts come behind the pairs of their grain. */
static void ghosts_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  const State *state = work->step->state;
  for (int64_t i = b; i < e; i++) {
    int64_t end = position_first_ghost(state, i + 1);
    int64_t slot = (work->slots.begin[i / SLICE] + work->found_count[i]) * SLICE + i % SLICE;
    for (int64_t g = position_first_ghost(state, i); g < end; g++)
      if (work->ghosts[g].solid >= 0) {
        set_ghost_slot(work, g, slot);
        slot += SLICE;
      }
  }
}

Status position_lay_out(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  PositionSlots *slots = &work->slots;
  const NeighborList *list = &work->step->state->contacts.particles.list;
  slots->slices = work->padded / SLICE;
  TRY(mix_friction(work));
  TRY(scratch_take(core, scratch, &slots->begin, slots->slices + 1, "slices"));
  TRY(scratch_take(core, scratch, &work->found_count, work->padded, "contact counts"));
  TRY(scratch_take(core, scratch, &work->found, list->entries, "pairs that may touch"));
  parallel_for(core, 0, work->count, FIND_CHUNK, KERNEL_CALL(core, position_find_pass), work);
  parallel_for(core, 0, slots->slices, FIND_CHUNK / SLICE, weigh_chunk, work);
  slots->begin[0] = 0;
  for (int64_t s = 0; s < slots->slices; s++) slots->begin[s + 1] += slots->begin[s];
  slots->groups = slots->begin[slots->slices];
#define TAKE_SLOT_FIELD(type, name) TRY(scratch_take(core, scratch, &slots->name, slots->groups *SLICE, "slots"));
  POSITION_SLOT_FIELDS(TAKE_SLOT_FIELD)
#undef TAKE_SLOT_FIELD
  parallel_for(core, 0, slots->slices, FIND_CHUNK / SLICE, KERNEL_CALL(core, position_slot_pass), work);
  if (work->ghost_count > 0) parallel_for(core, 0, work->count, FIND_CHUNK, ghosts_chunk, work);
  return SCREE_OK;
}

/* The rows of a slice take the places of its slots, grain by grain: no two slices meet, and no count is needed. */
static void keep_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  const uint32_t *id = work->step->state->particles.id;
  PositionMemory *memory = work->memory;
  for (int64_t s = b; s < e; s++) {
    int64_t width = slots->begin[s + 1] - slots->begin[s], slot = slots->begin[s] * SLICE;
    for (int64_t i = s * SLICE; i < (s + 1) * SLICE && i < work->count; i++, slot++) {
      int64_t first = 1 + slots->begin[s] * SLICE + (i % SLICE) * width, place = first;
      for (int64_t k = 0; k < width; k++) {
        int64_t at = slot + k * SLICE;
        if (slots->ln[at] == 0) continue; /* it presses or, by adhesion, pulls */
        int32_t partner = slots->partner[at];
        const float kept[POSITION_KEPT] = {slots->ln[at], slots->ltx[at], slots->lty[at], slots->ltz[at]};
        memory->key[place] = partner < work->padded ? id[partner] : ghost_key(work, partner - work->padded);
        memcpy(memory->kept[place++], kept, sizeof kept);
      }
      memory->row[i] = (uint32_t)first;
      memory->held[i] = (uint32_t)(place - first);
    }
  }
}

/* Room for so many places; what was there is forgotten. Keys are looked at eight at a time. */
static Status memory_reserve(Core *core, PositionMemory *memory, int64_t places) {
  int64_t room = places + places / 8 + LANES;
  if (places > INT32_MAX - LANES) return fail(core, SCREE_NO_MEMORY, "too many contacts: %lld", (long long)places);
  if (memory_size(memory->key) >= (places + LANES) * (int64_t)sizeof *memory->key &&
      memory_size(memory->kept) >= places * (int64_t)sizeof *memory->kept)
    return SCREE_OK;
  memory->places = 0;
  memory_drop(core, &memory->key);
  memory_drop(core, &memory->kept);
  TRY(memory_new(core, &memory->key, room, "contact memory"));
  return memory_new(core, &memory->kept, room, "contact memory");
}

Status position_keep(PositionStep *work) {
  PositionMemory *memory = work->memory;
  if (!memory) return SCREE_OK;
  int64_t places = 1 + work->slots.groups * SLICE;
  TRY(memory_reserve(work->step->core, memory, places));
  parallel_for(work->step->core, 0, work->slots.slices, KEEP_CHUNK, keep_chunk, work);
  memory->places = places;
  return SCREE_OK;
}

Status position_memory_create(Core *core, PositionMemory *memory, Particles *particles) {
  TRY(memory_reserve(core, memory, 1));
  memory->places = 1;
  TRY(particles_add_field(core, particles, "contact_row", sizeof *memory->row, false, (void **)&memory->row));
  return particles_add_field(core, particles, "contacts_held", sizeof *memory->held, false, (void **)&memory->held);
}

Status position_memory_archive(Core *core, Archive *archive, PositionMemory *memory) {
  if (!memory->key) return SCREE_OK;
  int64_t places = memory->places;
  TRY(archive_count(core, archive, &places, (int64_t)(sizeof *memory->key + sizeof *memory->kept)));
  if (archive->loading) TRY(memory_reserve(core, memory, places > 0 ? places : 1));
  memory->places = places;
  TRY(archive_array(core, archive, memory->key, places));
  TRY(archive_array(core, archive, memory->kept, places));
  memset(memory->kept[0], 0, sizeof memory->kept[0]);
  return SCREE_OK;
}

void position_memory_destroy(Core *core, PositionMemory *memory) {
  memory_drop(core, &memory->key);
  memory_drop(core, &memory->kept);
}
