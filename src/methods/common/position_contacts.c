/* Contacts of a step into slots, and their multipliers back into the memory. */
#include "methods/common/position_contacts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_borders.h"
#include "methods/common/position_kernels.h"

enum { COUNTS = 64, LANES_TOLERANCE = 32, BOUNDARY_SPARE = 2 };

/* sqrt(mu_i mu_j) of two surfaces (Sommer Section 3). What slides can be held by no less than slows it down. */
typedef struct Surface {
  double still, sliding;
} Surface;

static Surface material_surface(const Material *material) {
  return (Surface){material->definition.friction_static, material->definition.friction_kinetic};
}

static void mix(const Surface *a, const Surface *b, float mu[2]) {
  mu[0] = (float)sqrt(a->still * b->still);
  mu[1] = (float)sqrt(a->sliding * b->sliding);
  mu[0] = fmaxf(mu[0], mu[1]);
}

static bool all_alike(const float *mu, int64_t count) {
  for (int64_t k = 1; k < count; k++)
    if (mu[2 * k] != mu[0] || mu[2 * k + 1] != mu[1]) return false;
  return true;
}

/* Kinds of friction: of every pair of materials, then of every solid with a material. Mostly all pairs are of one and
 * all solids of another: slots then need not say which is theirs. */
static Status mix_friction(PositionStep *work, bool *told) {
  const State *state = work->step->state;
  int64_t materials = work->layout.materials = state->materials.count, pairs = materials * materials;
  int64_t kinds = pairs + materials * state->solids.count;
  TRY(scratch_take(work->step->core, work->step->scratch, &work->layout.mu, 2 * (kinds > 2 ? kinds : 2), "friction"));
  for (int64_t k = 0; k < kinds; k++) {
    Surface own = material_surface(&state->materials.items[k % materials]), other;
    if (k < pairs) other = material_surface(&state->materials.items[k / materials]);
    else {
      const Solid *solid = &state->solids.items[k / materials - materials];
      other = (Surface){solid->friction_static, solid->friction_kinetic};
    }
    mix(&own, &other, work->layout.mu + 2 * k);
  }
  *told = !all_alike(work->layout.mu, pairs) || !all_alike(work->layout.mu + 2 * pairs, kinds - pairs);
  if (!*told && kinds > pairs) memmove(work->layout.mu + 2, work->layout.mu + 2 * pairs, 2 * sizeof *work->layout.mu);
  return SCREE_OK;
}

/* Groups of slots that the lanes [b, e) take: where those of each slice begin among them, and how many in all. */
static int64_t count_groups(PositionSlots *slots, int64_t b, int64_t e, const int32_t *contacts) {
  int64_t groups = 0;
  for (int64_t s = b / SLICE; s < e / SLICE; s++) {
    int32_t most = 0;
    for (int64_t l = s * SLICE; l < (s + 1) * SLICE; l++)
      if (contacts[slots->grain[l] - b] > most) most = contacts[slots->grain[l] - b];
    slots->begin[s] = groups;
    groups += most;
  }
  return groups;
}

/* Lanes of a window by falling number of contacts, grains with equally many in their own order. Those with COUNTS or
 * more are not told apart: there are next to none. The lanes of the last step are kept as long as they take hardly more
 * slots. Returns how many groups of slots they take. */
static int64_t fill_lanes(PositionStep *work, int64_t b, int64_t e, const int32_t *contacts) {
  PositionSlots *slots = &work->layout.slots;
  int32_t places[COUNTS + 1] = {0};
  for (int64_t i = b; i < e; i++) places[COUNTS - (contacts[i - b] < COUNTS ? contacts[i - b] : COUNTS - 1)]++;
  for (int c = 0; c < COUNTS; c++) places[c + 1] += places[c];
  if (work->layout.lanes_known) {
    int64_t least = 0, groups = count_groups(slots, b, e, contacts);
    for (int c = 1; c < COUNTS; c++) least += (places[COUNTS - c] + SLICE - 1) / SLICE;
    if (groups <= least + least / LANES_TOLERANCE) return groups;
  }
  for (int64_t i = b; i < e; i++)
    slots->grain[b + places[COUNTS - 1 - (contacts[i - b] < COUNTS ? contacts[i - b] : COUNTS - 1)]++] = (int32_t)i;
  return count_groups(slots, b, e, contacts);
}

/* Whether grains have been sorted, born or taken away since the memory was written. */
static void note_numbers(PositionStep *work, int64_t b, int64_t e) {
  const uint32_t *number = work->memory->number;
  uint32_t differ = 0;
  for (int64_t i = b; i < e; i++) differ |= number[i] ^ contact_number(i);
  if (differ) atomic_store_explicit(&work->layout.renumbered, true, memory_order_relaxed);
}

/* Contacts of a window of grains and its lanes. */
static void lane_window(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  int64_t last = e < work->count ? e : work->count;
  memcpy(work->layout.contacts + b, work->candidates.pair_count + b, sizeof *work->layout.contacts * (size_t)(e - b));
  position_find_boundary(work, b, last);
  if (work->settings->memory) note_numbers(work, b, last);
  position_window(work, b)->groups = (int32_t)fill_lanes(work, b, e, work->layout.contacts + b);
  for (int64_t l = b; l < e; l++) work->layout.slots.lane[work->layout.slots.grain[l]] = (int32_t)l;
}

/* What is remembered of a contact with a solid. */
static void recall_boundary(PositionStep *work, int64_t g) {
  PositionSlots *s = &work->layout.slots;
  const BoundaryContact *contact = &work->layout.boundary[g];
  int32_t slot = contact->slot;
  const ContactPlaces *now = &work->memory->now;
  int64_t place = contact_memory_find(work->memory, contact->grain, contact->key);
  float scale = now->kept[0][place] != 0 ? work->history_scale : 0;
  s->ln[slot] = now->kept[0][place] * scale;
  s->ltx[slot] = now->kept[1][place] * scale;
  s->lty[slot] = now->kept[2][place] * scale;
  s->ltz[slot] = now->kept[3][place] * scale;
}

static void fill_boundary(PositionStep *work, int64_t g) {
  PositionSlots *s = &work->layout.slots;
  const BoundaryContact *contact = &work->layout.boundary[g];
  int32_t slot = contact->slot;
  const float *n = contact->normal;
  float along = s->ltx[slot] * n[0] + s->lty[slot] * n[1] + s->ltz[slot] * n[2];
  s->partner[slot] = (int32_t)(work->layout.boundary_row + g);
  s->nx[slot] = n[0];
  s->ny[slot] = n[1];
  s->nz[slot] = n[2];
  s->gap[slot] = contact->gap;
  s->ltx[slot] -= along * n[0];
  s->lty[slot] -= along * n[1];
  s->ltz[slot] -= along * n[2];
  if (s->kind)
    s->kind[slot] = 2 * ((work->layout.materials + contact->solid) * work->layout.materials +
                         work->step->state->particles.material[contact->grain]);
}

/* Rows of the memory for the slots of the slices [b, e). */
static void write_rows(PositionStep *work, int64_t b, int64_t e) {
  const int32_t *grain = work->layout.slots.grain;
  const int64_t *begin = work->layout.slots.begin, count = work->count;
  uint32_t *row = work->memory->row, *held = work->memory->held;
  for (int64_t s = b; s < e; s++)
    for (int64_t l = 0; l < SLICE; l++) {
      int64_t i = grain[s * SLICE + l];
      if (i >= count) continue;
      row[i] = (uint32_t)(LANES + begin[s] * SLICE + l);
      held[i] = (uint32_t)work->layout.contacts[i];
    }
}

/* Boundary contacts come behind the pairs of their grain. */
static void place_boundary(PositionStep *work, const PositionWindow *window) {
  int64_t last = -1, slot = 0, end;
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++, slot += SLICE) {
    int64_t i = work->layout.boundary[g].grain;
    if (i != last)
      slot = position_slots_of(&work->layout.slots, i, &end) + (int64_t)work->candidates.pair_count[i] * SLICE;
    last = i;
    work->layout.boundary[g].slot = (int32_t)slot;
    if (work->settings->memory) recall_boundary(work, g);
  }
}

/* Pairs and memory of a window. When a grain has found what it remembers, its row of the memory becomes that of its new
 * slots. */
static void recall_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  for (int64_t s = b + 1; s < e; s++) work->layout.slots.begin[s] += work->layout.slots.begin[b];
  KERNEL_CALL(work->step->core, position_recall_pass)(work, b, e, thread);
  place_boundary(work, position_window(work, b * SLICE));
  if (work->settings->memory) write_rows(work, b, e);
}

static void start_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  KERNEL_CALL(work->step->core, position_start_pass)(work, b, e, thread);
  position_copy_borders(work, b / SLICE, (e + SLICE - 1) / SLICE, work->start.at);
  position_copy_borders(work, b / SLICE, (e + SLICE - 1) / SLICE, work->start.low);
  position_set_crossings(work, position_window(work, b));
}

static void fill_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  const PositionWindow *window = position_window(work, b * SLICE);
  KERNEL_CALL(work->step->core, position_slot_pass)(work, b, e, thread);
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++) fill_boundary(work, g);
  position_list_pushed(work, window);
}

/* The lanes of the last step are a hint. */
static Status take_lanes(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  ContactMemory *memory = work->memory;
  PositionSlots *slots = &work->layout.slots;
  slots->slices = work->padded / SLICE;
  TRY(memory_grow(core, &memory->order, work->padded, "slices"));
  work->layout.lanes_known = memory->ordered == work->padded;
  memory->ordered = work->padded;
  slots->grain = memory->order;
  TRY(scratch_take(core, scratch, &slots->begin, slots->slices + 1, "slices"));
  TRY(scratch_take(core, scratch, &slots->lane, work->padded, "slices"));
  TRY(scratch_take(core, scratch, &work->layout.contacts, work->padded, "contact counts"));
  return scratch_take(core, scratch, &work->layout.windows, parallel_chunks(0, work->padded, POSITION_WINDOW),
                      "windows");
}

/* Room for contacts with solids, as many as the last try wanted. */
static Status make_room(PositionStep *work) {
  Core *core = work->step->core;
  PositionSearch *search = work->search;
  int64_t wanted = work->layout.boundary_used;
  if (wanted > INT32_MAX - work->padded - work->borders.room)
    return fail(core, SCREE_NO_MEMORY, "too many contacts with solids: %lld", (long long)wanted);
  if (wanted > work->layout.boundary_room) {
    memory_drop(core, &search->boundary);
    TRY(memory_new(core, &search->boundary, wanted + wanted / BOUNDARY_SPARE, "contacts with solids"));
  }
  work->layout.boundary = search->boundary;
  work->layout.boundary_room = memory_size(search->boundary) / (int64_t)sizeof *search->boundary;
  work->layout.boundary_used = 0;
  return SCREE_OK;
}

/* Contacts that may touch, and lanes for them. */
static Status find_contacts(PositionStep *work) {
  PositionSlots *slots = &work->layout.slots;
  TRY(position_search_pairs(work));
  do {
    TRY(make_room(work));
    parallel_for_shares(work->step->core, work->borders.shares, 0, work->padded, POSITION_WINDOW, lane_window, work);
  } while (work->layout.boundary_used > work->layout.boundary_room);
  work->layout.boundary_count = work->layout.boundary_used;
  /* Inside a window slices still count from its first, which is told where it begins. */
  for (int64_t b = 0; b < work->padded; b += POSITION_WINDOW) {
    slots->begin[b / SLICE] = slots->groups;
    slots->groups += position_window(work, b)->groups;
  }
  slots->begin[slots->slices] = slots->groups;
  position_share_out(work);
  return SCREE_OK;
}

static Status recall_contacts(PositionStep *work) {
  Core *core = work->step->core;
  PositionSlots *slots = &work->layout.slots;
  const ContactPlaces *next = &work->memory->next;
  TRY(contact_memory_reserve(core, work->memory, LANES + slots->groups * SLICE));
  slots->partner = (int32_t *)next->key + LANES;
  slots->ln = next->kept[0] + LANES;
  slots->ltx = next->kept[1] + LANES;
  slots->lty = next->kept[2] + LANES;
  slots->ltz = next->kept[3] + LANES;
  parallel_for_shares(core, work->borders.shares, 0, slots->slices, POSITION_WINDOW / SLICE, recall_window, work);
  if (work->borders.used > work->borders.room) work->borders.used = work->borders.room;
  work->layout.boundary_row = work->padded + work->borders.used;
  return SCREE_OK;
}

/* The small ones last: what the scratch has no room for yet is got on its own. */
static Status take_rows(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  work->rows.count = work->layout.boundary_row + work->layout.boundary_count;
  TRY(scratch_take(core, scratch, &work->rows.now, work->rows.count, "displacements"));
  TRY(scratch_take(core, scratch, &work->rows.next, work->rows.count, "displacements"));
  TRY(scratch_take(core, scratch, &work->rows.shift, work->rows.count, "displacements"));
  return scratch_take(core, scratch, &work->rows.w, work->padded, "inverse masses");
}

/* What is remembered has been found: its places now hold the rest of the slots. */
static Status fill_slots(PositionStep *work, bool kinds) {
  Core *core = work->step->core;
  PositionSlots *slots = &work->layout.slots;
  const ContactPlaces *now = &work->memory->now;
  size_t spare = (size_t)(work->padded - work->count);
  TRY(contact_memory_free(core, work->memory, LANES + slots->groups * SLICE));
  slots->nx = now->kept[0] + LANES;
  slots->ny = now->kept[1] + LANES;
  slots->nz = now->kept[2] + LANES;
  slots->gap = now->kept[3] + LANES;
  slots->kind = kinds ? (int32_t *)now->key + LANES : NULL;
  TRY(take_rows(work));
  work->start = (PositionStart){.at = work->rows.next, .low = work->rows.shift};
  memset(work->start.at + work->count, 0, sizeof *work->start.at * spare);
  memset(work->start.low + work->count, 0, sizeof *work->start.low * spare);
  parallel_for_shares(core, work->borders.shares, 0, work->count, POSITION_WINDOW, start_window, work);
  parallel_for_shares(core, work->borders.shares, 0, slots->slices, POSITION_WINDOW / SLICE, fill_window, work);
  return SCREE_OK;
}

Status position_lay_out(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  bool kinds;
  TRY(mix_friction(work, &kinds));
  TRY(take_lanes(work));
  TRY(position_take_borders(work));
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &work->candidates.pair_count, work->padded, "contact counts"));
  TRY(find_contacts(work));
  TRY(recall_contacts(work));
  scratch_release(core, scratch, mark);
  TRY(position_take_riding(work));
  return fill_slots(work, kinds);
}
