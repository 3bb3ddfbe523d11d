/* Contacts of a step into slots, and their multipliers back into the memory. */
#include "methods/common/position_contacts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_borders.h"
#include "methods/common/position_kernels.h"
#include "methods/common/position_law.h"

enum { LANES_TOLERANCE = 32, BOUNDARY_SPARE = 2, NORMALS_ROWS = 32, KEY_COUNT = 3, KEY_COUNTS = 1 << KEY_COUNT };

/* sqrt(mu_i mu_j) of two surfaces (Sommer Section 3). What slides can be held by no less than slows it down. */
typedef struct Surface {
  double still, sliding;
} Surface;

static Surface two_materials(const Material *a, const Material *b) {
  return (Surface){sqrt(a->definition.friction_static * b->definition.friction_static),
                   sqrt(a->definition.friction_kinetic * b->definition.friction_kinetic)};
}

static Surface material_and_solid(const Material *material, const Solid *solid) {
  return (Surface){material_on_solid(material, material->wall_static, solid->friction_static),
                   material_on_solid(material, material->wall_kinetic, solid->friction_kinetic)};
}

/* Pairs of coefficients, from the first of the table on. */
static bool all_alike(const float *first, int64_t count) {
  for (int64_t k = 1; k < count; k++)
    if (first[2 * k] != first[0] || first[2 * k + 1] != first[1]) return false;
  return true;
}

/* Whether slots have to say which kind is theirs: not where all pairs are of one and all solids of another. */
static bool must_tell(const float *table, int64_t pairs, int64_t kinds) {
  return !all_alike(table, pairs) || !all_alike(table + 2 * pairs, kinds - pairs);
}

/* The second of two kinds is that of the solids. */
static void keep_two(float *table, int64_t pairs, int64_t kinds) {
  if (table && kinds > pairs) memmove(table + 2, table + 2 * pairs, 2 * sizeof *table);
}

/* Bonds of every pair of materials, where kinds of friction have their static coefficient. */
static Status mix_tension(PositionStep *work, int64_t kinds, bool *told) {
  const Materials *all = &work->step->state->materials;
  const double square = (double)work->h * (double)work->h;
  int64_t count = kinds > 2 ? kinds : 2;
  if (!work->cohesive) return SCREE_OK;
  TRY(scratch_take(work->step->core, work->step->scratch, &work->layout.tension, 2 * count, "bonds"));
  memset(work->layout.tension, 0, sizeof *work->layout.tension * (size_t)(2 * count));
  for (int64_t k = 0; k < (int64_t)all->count * all->count; k++) {
    double own = position_material_tension(work->settings, &all->items[k % all->count].definition);
    double other = position_material_tension(work->settings, &all->items[k / all->count].definition);
    work->layout.tension[2 * k] = (float)(sqrt(own * other) * square);
    *told = *told || work->layout.tension[2 * k] != work->layout.tension[0];
  }
  return SCREE_OK;
}

/* mu_r R / r of a grain at a solid. Samples are round, as grains are: it rolls on them as on these. */
static float rolling_on_solid(const Material *material, const Solid *solid, float friction) {
  if (solid_is_sampled(solid)) return POSITION_ARM_SOLID * (float)material->definition.rolling_friction;
  return POSITION_ARM_SOLID * (float)material_rolling_on_solid(material, (double)friction);
}

/* Rolling resistance of every kind, where kinds of friction have their static coefficient: that of the pair's first. */
static Status mix_rolling(PositionStep *work, int64_t pairs, int64_t kinds, bool *told) {
  const State *state = work->step->state;
  const int64_t materials = work->layout.materials, count = 2 * (kinds > 2 ? kinds : 2);
  if (!work->turning) return SCREE_OK;
  TRY(scratch_take(work->step->core, work->step->scratch, &work->layout.rolling, count, "rolling"));
  float *rolling = work->layout.rolling;
  memset(rolling, 0, sizeof *rolling * (size_t)count);
  for (int64_t k = 0; k < kinds; k++) {
    const Material *own = &state->materials.items[k < pairs ? k / materials : k % materials];
    if (!position_turns(own)) continue;
    if (k < pairs) rolling[2 * k] = POSITION_ARM_PAIR * (float)own->definition.rolling_friction;
    else
      rolling[2 * k] = rolling_on_solid(own, &state->solids.items[k / materials - materials], work->layout.mu[2 * k]);
  }
  *told = *told || must_tell(rolling, pairs, kinds);
  return SCREE_OK;
}

/* Kinds of friction: of every pair of materials, then of every solid with a material. Mostly all pairs are of one and
 * all solids of another: slots then need not say which is theirs. */
Status position_mix_kinds(PositionStep *work, bool *told) {
  const State *state = work->step->state;
  int64_t materials = work->layout.materials = state->materials.count, pairs = materials * materials;
  int64_t kinds = pairs + materials * state->solids.count;
  TRY(scratch_take(work->step->core, work->step->scratch, &work->layout.mu, 2 * (kinds > 2 ? kinds : 2), "friction"));
  for (int64_t k = 0; k < kinds; k++) {
    const Material *material = &state->materials.items[k % materials];
    Surface both;
    if (k < pairs) both = two_materials(material, &state->materials.items[k / materials]);
    else both = material_and_solid(material, &state->solids.items[k / materials - materials]);
    work->layout.mu[2 * k] = fmaxf((float)both.still, (float)both.sliding);
    work->layout.mu[2 * k + 1] = (float)both.sliding;
  }
  *told = must_tell(work->layout.mu, pairs, kinds);
  TRY(mix_rolling(work, pairs, kinds, told));
  TRY(mix_tension(work, kinds, told));
  if (*told) return SCREE_OK;
  keep_two(work->layout.mu, pairs, kinds);
  keep_two(work->layout.rolling, pairs, kinds);
  return SCREE_OK;
}

/* Slot rows that the lanes [b, e) take: where those of each batch of each slice begin among them. */
static void count_rows(PositionStep *work, int64_t b, int64_t e) {
  PositionSlots *slots = &work->layout.slots;
  PositionWindow *window = position_window(work, b);
  int64_t rows = 0;
  int32_t boundary = 0, longest = 0;
  for (int64_t s = b / SLICE; s < e / SLICE; s++) {
    uint16_t most[POSITION_BATCHES] = {0};
    for (int64_t l = s * SLICE; l < (s + 1) * SLICE; l++) {
      const uint16_t *contacts = work->layout.contacts[slots->grain[l]];
      for (int c = 0; c < POSITION_BATCHES; c++) most[c] = contacts[c] > most[c] ? contacts[c] : most[c];
    }
    for (int c = 0; c < POSITION_BATCHES; c++) {
      slots->begin[s * POSITION_BATCHES + c] = rows;
      rows += most[c];
      longest = most[c] > longest ? most[c] : longest;
    }
    work->layout.boundary_begin[s] = boundary;
    boundary += most[POSITION_BOUNDARY_BATCH];
  }
  window->rows = (int32_t)rows;
  window->batch_rows = longest;
  window->boundary_rows = boundary;
}

/* What lanes are sorted by: numbers of contacts in the batches, those with solids first; seven or more are not told
 * apart. */
static uint32_t lane_key(const uint16_t *contacts) {
  uint32_t key = 0;
  for (int c = POSITION_BATCHES - 1; c >= 0; c--)
    key = key << KEY_COUNT | (contacts[c] < KEY_COUNTS ? contacts[c] : KEY_COUNTS - 1);
  return key;
}

/* Sorts the grains of a window by their keys, those with the same in their own order: by the lower bits, then by the
 * upper. */
static void sort_lanes(const uint16_t *key, int64_t count, int32_t *order) {
  enum { BITS = 8, PLACES = 1 << BITS };
  uint16_t first[POSITION_WINDOW];
  uint16_t place[2][PLACES] = {{0}};
  for (int64_t k = 0; k < count; k++) {
    place[0][key[k] & (PLACES - 1)]++;
    place[1][key[k] >> BITS]++;
  }
  for (int round = 0; round < 2; round++)
    for (int c = 0, before = 0; c < PLACES; c++) {
      int here = place[round][c];
      place[round][c] = (uint16_t)before;
      before += here;
    }
  for (int64_t k = 0; k < count; k++) first[place[0][key[k] & (PLACES - 1)]++] = (uint16_t)k;
  for (int64_t k = 0; k < count; k++) order[place[1][key[first[k]] >> BITS]++] = first[k];
}

/* Lanes of a window. Those of the last step are kept as long as they take hardly more slots than when they were sorted:
 * what is remembered then is found where it was. Lanes change no result. */
static void fill_lanes(PositionStep *work, int64_t b, int64_t e) {
  PositionSlots *slots = &work->layout.slots;
  PositionWindow *window = position_window(work, b);
  int32_t *sorted_rows = &work->memory->sorted_rows[b / POSITION_WINDOW], order[POSITION_WINDOW];
  uint16_t key[POSITION_WINDOW];
  if (work->layout.lanes_known) {
    count_rows(work, b, e);
    if (window->rows <= *sorted_rows + *sorted_rows / LANES_TOLERANCE) return;
  }
  for (int64_t i = b; i < e; i++) key[i - b] = (uint16_t)lane_key(work->layout.contacts[i]);
  sort_lanes(key, e - b, order);
  for (int64_t k = 0; k < e - b; k++) slots->grain[b + k] = (int32_t)b + order[k];
  count_rows(work, b, e);
  *sorted_rows = window->rows;
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
  PositionStep *work = context;
  int64_t last = e < work->count ? e : work->count;
  KERNEL_CALL(work->step->core, position_deal_pass)(work, b, e, thread);
  position_find_boundary(work, b, last);
  if (work->settings->memory) note_numbers(work, b, last);
  fill_lanes(work, b, e);
  for (int64_t l = b; l < e; l++) work->layout.slots.lane[work->layout.slots.grain[l]] = (int32_t)l;
}

/* Whether a key is that of a contact with a solid, whichever face it is. */
static bool is_key_of(uint32_t key, int32_t solid) {
  const uint32_t first = contact_key_from_top(solid * SOLID_FACES);
  return key <= first && first - key < SOLID_FACES;
}

/* Where what a contact with a solid remembers is. A grain that goes over an edge of a mesh touches another face than
 * before: where it touches one and has touched one, that is the contact. */
static int64_t find_remembered(const PositionStep *work, int64_t g) {
  const BoundaryContact *contact = &work->layout.boundary[g];
  const ContactMemory *memory = work->memory;
  int64_t place = contact_memory_find(memory, contact->grain, contact->key), first, found = 0;
  if (place || contact->sampled || !work->step->state->solids.items[contact->solid].shape.faces.meet) return place;
  const PositionWindow *window = position_window(work, contact->grain);
  for (int64_t k = g - 1; k <= g + 1; k += 2)
    if (k >= window->boundary && k < window->boundary + window->boundary_count &&
        contact[k - g].grain == contact->grain && contact[k - g].solid == contact->solid)
      return 0;
  int64_t held = contact_memory_row(memory, contact->grain, &first);
  for (int64_t k = 0; k < held; k++) {
    if (!is_key_of(memory->now.key[first + k * LANES], contact->solid)) continue;
    if (found) return 0;
    found = first + k * LANES;
  }
  return found;
}

/* What is remembered of a contact with a solid. */
static void recall_boundary(PositionStep *work, int64_t g) {
  PositionSlots *s = &work->layout.slots;
  const BoundaryContact *contact = &work->layout.boundary[g];
  int32_t slot = contact->slot;
  const ContactPlaces *now = &work->memory->now;
  int64_t place = find_remembered(work, g);
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
  const PositionSlots *slots = &work->layout.slots;
  const int64_t count = work->count;
  uint32_t *row = work->memory->row, *held = work->memory->held;
  for (int64_t s = b; s < e; s++) {
    int64_t begin = position_slice_begin(slots, s), end = position_slice_begin(slots, s + 1);
    for (int64_t l = 0; l < SLICE; l++) {
      int64_t i = slots->grain[s * SLICE + l];
      if (i >= count) continue;
      row[i] = (uint32_t)(LANES + begin * SLICE + l);
      held[i] = (uint32_t)(end - begin);
    }
  }
}

/* Boundary contacts come behind the pairs of their grain. */
static void place_boundary(PositionStep *work, const PositionWindow *window) {
  const PositionSlots *slots = &work->layout.slots;
  int64_t last = -1, k = 0;
  for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++, k++) {
    BoundaryContact *contact = &work->layout.boundary[g];
    if (contact->grain != last) k = 0;
    last = contact->grain;
    int64_t lane = slots->lane[last], slice = lane / SLICE;
    contact->slot = (int32_t)((position_rows_begin(slots, slice, POSITION_BOUNDARY_BATCH) + k) * SLICE + lane % SLICE);
    contact->sum = (int32_t)((work->layout.boundary_begin[slice] + k) * SLICE + lane % SLICE);
    if (work->settings->memory) recall_boundary(work, g);
  }
}

/* Pairs and memory of a window. When a grain has found what it remembers, its row of the memory becomes that of its new
 * slots. */
static void recall_window(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  const int64_t first = b * POSITION_BATCHES, rows = work->layout.slots.begin[first];
  for (int64_t k = first + 1; k < e * POSITION_BATCHES; k++) work->layout.slots.begin[k] += rows;
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
  int64_t windows = parallel_chunks(0, work->padded, POSITION_WINDOW);
  TRY(memory_grow(core, &memory->order, work->padded, "slices"));
  TRY(memory_grow(core, &memory->sorted_rows, windows, "slices"));
  work->layout.lanes_known = memory->ordered == work->padded;
  memory->ordered = work->padded;
  slots->grain = memory->order;
  TRY(scratch_take(core, scratch, &slots->begin, slots->slices * POSITION_BATCHES + 1, "slices"));
  TRY(scratch_take(core, scratch, &slots->lane, work->padded, "slices"));
  TRY(scratch_take(core, scratch, &work->layout.boundary_begin, slots->slices, "slices"));
  TRY(scratch_take(core, scratch, &work->layout.contacts, work->padded, "contact counts"));
  TRY(scratch_take(core, scratch, &work->layout.batch_key, work->padded, "batches"));
  return scratch_take(core, scratch, &work->layout.windows, windows, "windows");
}

Status position_make_room(PositionStep *work) {
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
  parallel_for_shares(work->step->core, work->borders.shares, 0, work->count, POSITION_WINDOW,
                      KERNEL_CALL(work->step->core, position_key_pass), work);
  do {
    TRY(position_make_room(work));
    parallel_for_shares(work->step->core, work->borders.shares, 0, work->padded, POSITION_WINDOW, lane_window, work);
  } while (work->layout.boundary_used > work->layout.boundary_room);
  work->layout.boundary_count = work->layout.boundary_used;
  /* Inside a window slices still count from its first, which is told where it begins. */
  int32_t boundary = 0;
  for (int64_t b = 0; b < work->padded; b += POSITION_WINDOW) {
    const PositionWindow *window = position_window(work, b);
    int64_t last = b + POSITION_WINDOW < work->padded ? b + POSITION_WINDOW : work->padded;
    slots->begin[b / SLICE * POSITION_BATCHES] = slots->rows;
    slots->rows += window->rows;
    if (window->batch_rows > slots->batch_rows) slots->batch_rows = window->batch_rows;
    for (int64_t s = b / SLICE; s < last / SLICE && boundary > 0; s++) work->layout.boundary_begin[s] += boundary;
    boundary += window->boundary_rows;
  }
  slots->begin[slots->slices * POSITION_BATCHES] = slots->rows;
  work->layout.boundary_rows = boundary;
  position_share_out(work);
  return SCREE_OK;
}

static Status recall_contacts(PositionStep *work) {
  Core *core = work->step->core;
  PositionSlots *slots = &work->layout.slots;
  const ContactPlaces *next = &work->memory->next;
  TRY(contact_memory_reserve(core, work->memory, LANES + slots->rows * SLICE));
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

static Status take_turns(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  PositionTurns *turns = &work->turns;
  TRY(scratch_take(core, scratch, &turns->now, work->rows.count, "turns"));
  TRY(scratch_take(core, scratch, &turns->next, work->rows.count, "turns"));
  for (int c = 0; c < 3; c++) {
    TRY(scratch_take(core, scratch, &turns->before[c], work->padded, "turns"));
    TRY(scratch_take(core, scratch, &turns->torque[c], work->padded, "turns"));
  }
  TRY(scratch_take(core, scratch, &turns->resistance, work->padded, "turns"));
  TRY(scratch_take(core, scratch, &turns->turns, work->padded, "turns"));
  return SCREE_OK;
}

/* Passes keep the normals of the slices that they solve next: of NORMALS_ROWS rows of slots, or of a slice at least. A
 * pass solves two batches of a slice at most. */
static Status take_normals(PositionStep *work) {
  const int64_t most = 2 * work->layout.slots.batch_rows, threads = pool_threads(work->step->core->pool);
  work->rows.normals_room = most > NORMALS_ROWS ? most : NORMALS_ROWS;
  return scratch_take(work->step->core, work->step->scratch, &work->rows.normals, threads * work->rows.normals_room,
                      "normals");
}

/* The small ones last: what the scratch has no room for yet is got on its own. */
static Status take_rows(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  const int64_t boundary = (int64_t)work->layout.boundary_rows * SLICE;
  work->rows.count = work->layout.boundary_row + work->layout.boundary_count;
  TRY(scratch_take(core, scratch, &work->rows.now, work->rows.count, "displacements"));
  TRY(scratch_take(core, scratch, &work->rows.next, work->rows.count, "displacements"));
  TRY(scratch_take(core, scratch, &work->rows.total, work->padded, "displacements"));
  TRY(scratch_take(core, scratch, &work->rows.last, work->rows.count, "displacements"));
  TRY(scratch_take(core, scratch, &work->rows.last_next, work->rows.count, "displacements"));
  PositionLanes *lanes = &work->rows.lanes;
  TRY(scratch_take(core, scratch, &lanes->w, work->padded, "lanes"));
  TRY(scratch_take(core, scratch, &lanes->falls, work->padded, "lanes"));
  TRY(scratch_take(core, scratch, &lanes->radius, work->padded, "lanes"));
  for (int c = 0; c < POSITION_BATCHES; c++) TRY(scratch_take(core, scratch, &lanes->split[c], work->padded, "lanes"));
  for (int c = 0; c < 3; c++) {
    TRY(scratch_take(core, scratch, &lanes->total[c], work->padded, "lanes"));
    TRY(scratch_take(core, scratch, &lanes->push[c], work->padded, "lanes"));
    TRY(scratch_take(core, scratch, &lanes->left[c], work->padded, "lanes"));
  }
  TRY(take_normals(work));
  if (work->turning) TRY(take_turns(work));
  for (int c = 0; c < 3; c++) {
    TRY(scratch_take(core, scratch, &work->rows.boundary_sum[c], boundary, "pushes on solids"));
    memset(work->rows.boundary_sum[c], 0, sizeof *work->rows.boundary_sum[c] * (size_t)boundary);
  }
  return scratch_take(core, scratch, &work->rows.w, work->padded, "inverse masses");
}

/* What is remembered has been found: its places now hold the rest of the slots. */
static Status fill_slots(PositionStep *work, bool kinds) {
  Core *core = work->step->core;
  PositionSlots *slots = &work->layout.slots;
  const ContactPlaces *now = &work->memory->now;
  size_t spare = (size_t)(work->padded - work->count);
  TRY(contact_memory_free(core, work->memory, LANES + slots->rows * SLICE));
  slots->nx = now->kept[0] + LANES;
  slots->ny = now->kept[1] + LANES;
  slots->nz = now->kept[2] + LANES;
  slots->gap = now->kept[3] + LANES;
  slots->kind = kinds ? (int32_t *)now->key + LANES : NULL;
  TRY(take_rows(work));
  work->start.at = work->rows.next; /* not needed before the passes */
  work->start.low = work->rows.last;
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
  TRY(position_mix_kinds(work, &kinds));
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
