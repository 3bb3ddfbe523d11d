/* Contacts of a step into slots, and their multipliers back into the history of the lists. */
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

static void set_ghost_slot(PositionStep *work, int64_t g, int64_t slot) {
  const State *state = work->step->state;
  PositionSlots *s = &work->slots;
  PositionGhost *ghost = &work->ghosts[g];
  const ScreeMaterialDef *own = &state->materials.items[state->particles.material[ghost->grain]].definition;
  const Solid *solid = &state->solids.items[ghost->solid];
  const ContactList *list = ghost->list == POSITION_SOLIDS ? &state->contacts.solids : &state->contacts.samples;
  static const float none[POSITION_HISTORY] = {0};
  const float *history = ghost->entry >= 0 && list->history ? list->history + ghost->entry * POSITION_HISTORY : none;
  float scale = work->history_scale;
  const float *n = ghost->normal;
  float along = history[1] * n[0] + history[2] * n[1] + history[3] * n[2];
  ghost->slot = slot;
  s->partner[slot] = (int32_t)(work->padded + g);
  s->entry[slot] = -1;
  s->nx[slot] = n[0];
  s->ny[slot] = n[1];
  s->nz[slot] = n[2];
  s->apart[slot] = ghost->apart;
  s->distance[slot] = ghost->distance;
  s->mu_static[slot] = mixed(own->friction_static, solid->friction_static);
  s->mu_kinetic[slot] = mixed(own->friction_kinetic, solid->friction_kinetic);
  s->ln[slot] = history[0] * scale;
  s->ltx[slot] = (history[1] - along * n[0]) * scale;
  s->lty[slot] = (history[2] - along * n[1]) * scale;
  s->ltz[slot] = (history[3] - along * n[2]) * scale;
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

static void keep_slot(const PositionSlots *s, int64_t slot, float *history) {
  const float kept[POSITION_HISTORY] = {s->ln[slot], s->ltx[slot], s->lty[slot], s->ltz[slot]};
  memcpy(history, kept, sizeof kept);
}

/* The rows of a slice lie together in the list: forget them all, then keep those that press. */
static void keep_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  ContactList *pairs = &work->step->state->contacts.particles;
  for (int64_t s = b; s < e; s++) {
    int64_t first = s * SLICE, last = first + SLICE < work->count ? first + SLICE : work->count;
    int64_t row = pairs->list.start[first], end = pairs->list.start[last];
    memset(pairs->history + row * POSITION_HISTORY, 0, sizeof(float) * POSITION_HISTORY * (size_t)(end - row));
    for (int64_t slot = slots->begin[s] * SLICE; slot < slots->begin[s + 1] * SLICE; slot++)
      if (slots->entry[slot] >= 0 && slots->ln[slot] > 0)
        keep_slot(slots, slot, pairs->history + (row + slots->entry[slot]) * POSITION_HISTORY);
  }
}

static void forget(ContactList *list) {
  if (list->history) memset(list->history, 0, sizeof(float) * (size_t)(list->list.entries * list->history_size));
}

void position_keep_history(PositionStep *work) {
  Contacts *contacts = &work->step->state->contacts;
  if (!work->settings->memory) return;
  if (contacts->particles.history) parallel_for(work->step->core, 0, work->slots.slices, KEEP_CHUNK, keep_chunk, work);
  forget(&contacts->samples);
  forget(&contacts->solids);
  for (int64_t g = 0; g < work->ghost_count; g++) {
    const PositionGhost *ghost = &work->ghosts[g];
    if (ghost->solid < 0 || ghost->entry < 0 || !(work->slots.ln[ghost->slot] > 0)) continue;
    ContactList *list = ghost->list == POSITION_SOLIDS ? &contacts->solids : &contacts->samples;
    if (list->history) keep_slot(&work->slots, ghost->slot, list->history + ghost->entry * POSITION_HISTORY);
  }
}
