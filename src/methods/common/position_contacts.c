/* Contacts of a step into slots, and their multipliers back into the memory. */
#include "methods/common/position_contacts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_kernels.h"

enum { COUNTS = 64, LANES_TOLERANCE = 32 };

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

/* Groups of slots that the lanes [b, e) take, for each slice and in all. */
static int64_t count_groups(PositionSlots *slots, int64_t b, int64_t e, const int32_t *contacts) {
  int64_t groups = 0;
  for (int64_t s = b / SLICE; s < e / SLICE; s++) {
    int32_t most = 0;
    for (int64_t l = s * SLICE; l < (s + 1) * SLICE; l++)
      if (contacts[slots->grain[l] - b] > most) most = contacts[slots->grain[l] - b];
    groups += slots->begin[s + 1] = most;
  }
  return groups;
}

/* Lanes of a window by falling number of contacts, grains with equally many in their own order. Those with COUNTS or
 * more are not told apart: there are next to none. The lanes of the last step are kept as long as they take hardly more
 * slots. */
static void fill_lanes(PositionStep *work, int64_t b, int64_t e, const int32_t *contacts) {
  PositionSlots *slots = &work->slots;
  int32_t places[COUNTS + 1] = {0};
  for (int64_t i = b; i < e; i++) places[COUNTS - (contacts[i - b] < COUNTS ? contacts[i - b] : COUNTS - 1)]++;
  for (int c = 0; c < COUNTS; c++) places[c + 1] += places[c];
  if (work->lanes_known) {
    int64_t least = 0;
    for (int c = 1; c < COUNTS; c++) least += (places[COUNTS - c] + SLICE - 1) / SLICE;
    if (count_groups(slots, b, e, contacts) <= least + least / LANES_TOLERANCE) return;
  }
  for (int64_t i = b; i < e; i++)
    slots->grain[b + places[COUNTS - 1 - (contacts[i - b] < COUNTS ? contacts[i - b] : COUNTS - 1)]++] = (int32_t)i;
  count_groups(slots, b, e, contacts);
}

/* Contacts of a window of grains, their weights and lanes. */
static void find_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  int64_t last = e < work->count ? e : work->count;
  int32_t contacts[POSITION_WINDOW] = {0};
  KERNEL_CALL(work->step->core, position_find_pass)(work, b, last, thread);
  for (int64_t i = b; i < last; i++) {
    int32_t here = contacts[i - b] = position_contacts_of(work, i);
    work->wn[i] = work->w[i] * position_split(work->settings, (float)here);
    work->d4[i][3] = work->settings->averaging ? work->w[i] : work->wn[i];
    work->shift[i][3] = work->wn[i];
  }
  for (int64_t i = last; i < e; i++) work->found_count[i] = 0;
  fill_lanes(work, b, e, contacts);
  for (int64_t l = b; l < e; l++) work->slots.lane[work->slots.grain[l]] = (int32_t)l;
}

static void set_ghost_slot(PositionStep *work, int64_t g, int64_t slot) {
  const State *state = work->step->state;
  PositionSlots *s = &work->slots;
  PositionGhost *ghost = &work->ghosts[g];
  const float *mu =
      work->mu[(work->materials + ghost->solid) * work->materials + state->particles.material[ghost->grain]];
  const ContactMemory *memory = work->memory;
  float kept[CONTACT_KEPT] = {0};
  if (memory) {
    s->key[slot] = ghost->key;
    int64_t place = contact_memory_find(memory, ghost->grain, s->key[slot]);
    for (int k = 0; k < CONTACT_KEPT && memory->now.kept[0][place] != 0; k++) kept[k] = memory->now.kept[k][place];
  }
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

/* Slots of a window. Ghosts come behind the pairs of their grain. When a grain has found what it remembers, its row of
 * the memory becomes that of its new slots. */
static void slot_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  ContactMemory *memory = work->memory;
  int64_t first = b * SLICE, last = e * SLICE < work->count ? e * SLICE : work->count;
  KERNEL_CALL(work->step->core, position_slot_pass)(work, b, e, thread);
  if (work->ghost_start)
    for (int64_t g = work->ghost_start[first]; g < work->ghost_start[last]; g++) {
      int64_t i = work->ghosts[g].grain, end, slot = position_slots_of(slots, i, &end);
      set_ghost_slot(work, g, slot + (work->found_count[i] + g - work->ghost_start[i]) * SLICE);
    }
  if (!memory) return;
  for (int64_t i = first; i < last; i++) {
    memory->row[i] = (uint32_t)(LANES + slots->begin[slots->lane[i] / SLICE] * SLICE + slots->lane[i] % SLICE);
    memory->held[i] = (uint32_t)position_contacts_of(work, i);
  }
}

/* Multipliers are worked on where they are remembered. */
static Status take_kept(PositionStep *work) {
  Core *core = work->step->core;
  PositionSlots *slots = &work->slots;
  int64_t count = slots->groups * SLICE;
  if (work->memory) {
    const ContactPlaces *next = &work->memory->next;
    TRY(contact_memory_reserve(core, work->memory, LANES + count));
    slots->key = next->key + LANES;
    slots->ln = next->kept[0] + LANES;
    slots->ltx = next->kept[1] + LANES;
    slots->lty = next->kept[2] + LANES;
    slots->ltz = next->kept[3] + LANES;
    return SCREE_OK;
  }
#define TAKE_SLOT_FIELD(type, name) TRY(scratch_take(core, work->step->scratch, &slots->name, count, "slots"));
  POSITION_KEPT_FIELDS(TAKE_SLOT_FIELD)
#undef TAKE_SLOT_FIELD
  return SCREE_OK;
}

/* The lanes of the last step, where they are remembered. */
static Status take_lanes(PositionStep *work) {
  Core *core = work->step->core;
  ContactMemory *memory = work->memory;
  PositionSlots *slots = &work->slots;
  if (!memory) return scratch_take(core, work->step->scratch, &slots->grain, work->padded, "slices");
  TRY(memory_grow(core, &memory->order, work->padded, "slices"));
  work->lanes_known = memory->ordered == work->padded;
  memory->ordered = work->padded;
  slots->grain = memory->order;
  return SCREE_OK;
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
  TRY(take_lanes(work));
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
  TRY(take_kept(work));
  parallel_for(core, 0, slots->slices, POSITION_WINDOW / SLICE, slot_window, work);
  return SCREE_OK;
}

void position_keep(PositionStep *work) {
  if (work->memory) contact_memory_turn(work->memory, LANES + work->slots.groups * SLICE);
}
