/* Contacts of a step into slots, and their multipliers back into the memory. */
#include "methods/common/position_contacts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_kernels.h"

enum { KEEP_CHUNK = 32, COUNTS = 64 };

/* sqrt(mu_i mu_j), once for every pair of materials and every solid with a material (Sommer Section 3). */
static float mixed(double a, double b) { return (float)sqrt(a * b); }

static Status mix_friction(PositionStep *work) {
  const State *state = work->step->state;
  const Materials *materials = &state->materials;
  int64_t count = work->materials = materials->count;
  TRY(scratch_take(work->step->core, work->step->scratch, &work->mu, (count + state->solids.count) * count,
                   "friction"));
  for (int64_t k = 0; k < count * (count + state->solids.count); k++) {
    const ScreeMaterialDef *own = &materials->items[k % count].definition;
    double other_static, other_kinetic;
    if (k < count * count) {
      other_static = materials->items[k / count].definition.friction_static;
      other_kinetic = materials->items[k / count].definition.friction_kinetic;
    } else {
      other_static = state->solids.items[k / count - count].friction_static;
      other_kinetic = state->solids.items[k / count - count].friction_kinetic;
    }
    work->mu[k][0] = mixed(own->friction_static, other_static);
    work->mu[k][1] = mixed(own->friction_kinetic, other_kinetic);
  }
  return SCREE_OK;
}

/* Lanes of a window by falling number of contacts, grains with equally many in their own order. Those with COUNTS or
 * more are not told apart: there are next to none. */
static void fill_lanes(PositionStep *work, int64_t b, int64_t e, const int32_t *contacts) {
  PositionSlots *slots = &work->slots;
  int32_t places[COUNTS + 1] = {0};
  for (int64_t i = b; i < e; i++) places[COUNTS - (contacts[i - b] < COUNTS ? contacts[i - b] : COUNTS - 1)]++;
  for (int c = 0; c < COUNTS; c++) places[c + 1] += places[c];
  for (int64_t i = b; i < e; i++) {
    int32_t lane = (int32_t)b + places[COUNTS - 1 - (contacts[i - b] < COUNTS ? contacts[i - b] : COUNTS - 1)]++;
    slots->grain[lane] = (int32_t)i;
    slots->lane[i] = lane;
  }
  for (int64_t s = b / SLICE; s < e / SLICE; s++) {
    int32_t most = 0;
    for (int64_t l = s * SLICE; l < (s + 1) * SLICE; l++)
      if (contacts[slots->grain[l] - b] > most) most = contacts[slots->grain[l] - b];
    slots->begin[s + 1] = most;
  }
}

/* Contacts of a window of grains, their weights and lanes. */
static void find_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  int64_t last = e < work->count ? e : work->count;
  int32_t contacts[POSITION_WINDOW] = {0};
  KERNEL_CALL(work->step->core, position_find_pass)(work, b, last, thread);
  for (int64_t i = b; i < last; i++) {
    int32_t here = contacts[i - b] = position_contacts_of(work, i);
    work->wn[i] = work->w[i] * fmaxf((float)here / work->settings->relaxation, 1);
    work->d4[i][3] = work->settings->averaging ? work->w[i] : work->wn[i];
    work->shift[i][3] = work->wn[i];
  }
  fill_lanes(work, b, e, contacts);
}

static void set_ghost_slot(PositionStep *work, int64_t g, int64_t slot) {
  const State *state = work->step->state;
  PositionSlots *s = &work->slots;
  PositionGhost *ghost = &work->ghosts[g];
  const float *mu =
      work->mu[(work->materials + ghost->solid) * work->materials + state->particles.material[ghost->grain]];
  static const float none[POSITION_KEPT] = {0};
  const ContactMemory *memory = work->memory;
  uint32_t key = position_ghost_key(work, g);
  const float *kept = none;
  if (memory) kept = memory->kept + contact_memory_find(memory, ghost->grain, key) * POSITION_KEPT;
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
  s->mu_static[slot] = mu[0];
  s->mu_kinetic[slot] = mu[1];
  s->ln[slot] = kept[0] * scale;
  s->ltx[slot] = (kept[1] - along * n[0]) * scale;
  s->lty[slot] = (kept[2] - along * n[1]) * scale;
  s->ltz[slot] = (kept[3] - along * n[2]) * scale;
}

/* Slots of some slices. Ghosts come behind the pairs of their grain. */
static void slot_chunk(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  KERNEL_CALL(work->step->core, position_slot_pass)(work, b, e, thread);
  if (!work->ghost_start) return;
  for (int64_t l = b * SLICE; l < e * SLICE; l++) {
    int64_t i = work->slots.grain[l];
    if (i >= work->count) continue;
    int64_t slot = (work->slots.begin[l / SLICE] + work->found_count[i]) * SLICE + l % SLICE;
    for (int64_t g = work->ghost_start[i]; g < work->ghost_start[i + 1]; g++, slot += SLICE)
      set_ghost_slot(work, g, slot);
  }
}

Status position_lay_out(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  PositionSlots *slots = &work->slots;
  const NeighborList *list = &work->step->state->contacts.particles.list;
  int64_t windows = parallel_chunks(0, work->padded, POSITION_WINDOW);
  slots->slices = work->padded / SLICE;
  TRY(mix_friction(work));
  TRY(scratch_take(core, scratch, &slots->begin, slots->slices + 1, "slices"));
  TRY(scratch_take(core, scratch, &slots->grain, work->padded, "slices"));
  TRY(scratch_take(core, scratch, &slots->lane, work->padded, "slices"));
  TRY(scratch_take(core, scratch, &work->found_count, work->padded, "contact counts"));
  TRY(scratch_take(core, scratch, &work->found, list->entries + (windows + 1) * LANES, "pairs that may touch"));
  parallel_for(core, 0, work->padded, POSITION_WINDOW, find_window, work);
  slots->begin[0] = 0;
  for (int64_t s = 0; s < slots->slices; s++) slots->begin[s + 1] += slots->begin[s];
  slots->groups = slots->begin[slots->slices];
#define TAKE_SLOT_FIELD(type, name) TRY(scratch_take(core, scratch, &slots->name, slots->groups *SLICE, "slots"));
  POSITION_SLOT_FIELDS(TAKE_SLOT_FIELD)
#undef TAKE_SLOT_FIELD
  parallel_for(core, 0, slots->slices, POSITION_WINDOW / SLICE, slot_chunk, work);
  return SCREE_OK;
}

Status position_keep(PositionStep *work) {
  ContactMemory *memory = work->memory;
  if (!memory) return SCREE_OK;
  int64_t places = 1 + work->slots.groups * SLICE;
  TRY(contact_memory_reserve(work->step->core, memory, places));
  parallel_for(work->step->core, 0, work->slots.slices, KEEP_CHUNK, KERNEL_CALL(work->step->core, position_keep_pass),
               work);
  memory->places = places;
  return SCREE_OK;
}
