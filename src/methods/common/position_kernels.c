/* Passes over the contact slots, eight grains abreast. Ranges are slices. Each grain reads its partners' rows and
 * writes its own, so any number of threads gives the same bits. */
#include "methods/common/position_kernels.h"

#include <string.h>

#include "core/four.h"
#include "methods/common/position_borders.h"
#include "methods/common/position_contacts.h"
#include "methods/common/position_wide.h"

/* body(work, i, count) for the grains i to i + count - 1, eight at a time and the rest. Particles are not padded, rows
 * are. */
typedef void GrainBody(const PositionStep *work, int64_t i, int64_t count);
WIDE_INLINE void for_grains(const PositionStep *work, int64_t b, int64_t e, GrainBody *body) {
  int64_t i = b;
  for (; i + LANES <= e; i += LANES) body(work, i, LANES);
  if (i < e) body(work, i, e - i);
}

WIDE_INLINE void start_grains(const PositionStep *work, int64_t i, int64_t count) {
  const Particles *p = &work->step->state->particles;
  store_rows(work->start.at + i, load_few3(p->x + i, p->y + i, p->z + i, count), lane_load_few(p->radius + i, count),
             count);
  store_rows(work->start.low + i, load_few3(p->low_x + i, p->low_y + i, p->low_z + i, count), real(0), count);
}

/* Where they are, to fill the slots. */
void KERNEL(position_start_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  for_grains(context, b, e, start_grains);
}

/* Inverse masses, split among the contacts of each batch and, for the stabilization, among all. */
WIDE_INLINE Wide split_lanes(const PositionStep *work, const int32_t *grains, Wide w, int64_t lane) {
  float counts[POSITION_BATCHES][LANES] __attribute__((aligned(32)));
  for (int l = 0; l < LANES; l++)
    for (int k = 0; k < POSITION_BATCHES; k++) counts[k][l] = (float)work->layout.contacts[grains[l]][k];
  Wide all = wide_set(0);
  for (int k = 0; k < POSITION_BATCHES; k++) {
    Wide count = wide_load(counts[k]);
    wide_store(work->rows.lanes.split[k] + lane, position_split_mass(w, count, position_relaxation(work, k)));
    all += count;
  }
  return position_split_mass(w, all, work->settings->relaxation);
}

/* Rows for the passes, by slices: displacements without contacts, and masses. Lanes of nobody stay where they are. */
void KERNEL(position_load_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  const Particles *p = &work->step->state->particles;
  const bool averaging = work->settings->averaging;
  const Wide h = wide_set(work->h);
  const LaneVec3 fall = vec_make(wide_set(work->fall[0]), wide_set(work->fall[1]), wide_set(work->fall[2]));
  for (int64_t s = b; s < e; s++) {
    const int32_t *grains = slots->grain + s * SLICE;
    WideInt own = wide_load_int(grains), there = wide_int_less(own, (int32_t)work->count - (WideInt){0});
    int32_t from[LANES];
    *(WideIntUnaligned *)from = there & own;
    WideInt at = wide_load_int(from);
    LaneVec3 v = vec_make(wide_gather(p->vx, at), wide_gather(p->vy, at), wide_gather(p->vz, at));
    Wide w = wide_select(there, wide_gather(work->rows.w, own), wide_set(1)); /* for divisions */
    LaneVec3 d = vec_mask(there, vec_add(vec_mul(v, h), fall));
    Wide all = split_lanes(work, grains, w, s * SLICE);
    store_lanes(work->rows.lanes.left, s * SLICE, vec_zero());
    wide_store(work->rows.lanes.w + s * SLICE, w);
    wide_store(work->rows.lanes.falls + s * SLICE, wide_set(1));
    wide_store(work->rows.lanes.radius + s * SLICE, wide_gather(p->radius, at));
    set_rows(work->rows.now, slots, s, d, averaging ? w : wide_load(work->rows.lanes.split[0] + s * SLICE));
    set_rows(work->rows.last, slots, s, vec_zero(), averaging ? w : all);
  }
}

WIDE_INLINE void place_grains(const PositionStep *work, int64_t i, int64_t count) {
  const Particles *p = &work->step->state->particles;
  LaneVec3 at = vec_add(load_few3(p->x + i, p->y + i, p->z + i, count), load_rows(work->rows.total + i).d);
  store_rows(work->rows.placed + i, at, lane_load_few(p->radius + i, count), count);
}

/* Where grains are when the step is over. */
void KERNEL(position_place_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  for_grains(context, b, e, place_grains);
}

double KERNEL(position_overlap_pass)(void *context, int64_t b, int64_t e) {
  const PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  const WideInt solids = (int32_t)work->layout.boundary_row - (WideInt){0};
  Wide most = wide_set(0);
  for (int64_t s = b; s < e; s++) {
    const WideInt grains = wide_load_int(slots->grain + s * SLICE);
    Rows own = own_rows(work->rows.placed, slots, s);
    for (int64_t g = position_slice_begin(slots, s); g < position_slice_begin(slots, s + 1); g++) {
      const int32_t *partners = slots->partner + g * SLICE;
      const WideInt all = wide_load_int(partners), pairs = wide_int_less(all, solids) & ~wide_int_equal(all, grains);
      Rows other = gather_rows(work->rows.placed, partners);
      Real share = position_penetration(vec_sub(own.d, other.d), own.fourth + other.fourth);
      most = wide_max(most, real_mask(pairs, share));
    }
  }
  float deepest = 0;
  for (int l = 0; l < LANES; l++) deepest = most[l] > deepest ? most[l] : deepest;
  return 2 * (double)deepest;
}

/* The velocity is that of the last substep. Divided by h, not times 1 / h: v h / h comes back as v, step after step. */
WIDE_INLINE void finish_grains(const PositionStep *work, int64_t i, int64_t count) {
  Particles *p = &work->step->state->particles;
  LaneVec3 d = load_rows(work->rows.now + i).d;
  const Real h = real(work->h);
  store_few3(p->vx + i, p->vy + i, p->vz + i, vec_make(d.x / h, d.y / h, d.z / h), count);
  store_few3(p->dx + i, p->dy + i, p->dz + i, load_rows(work->rows.total + i).d, count);
  if (!work->turning) return;
  const PositionTurns *turns = &work->turns;
  const LaneVec3 rim = load_rows(turns->now + i).d;
  const Real way = lane_load_few(p->radius + i, count) * h, per = real(1) / real_max(way, real(POSITION_TINY));
  store_few3(turns->spin[0] + i, turns->spin[1] + i, turns->spin[2] + i, vec_mul(rim, per), count);
}

void KERNEL(position_finish_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  for_grains(context, b, e, finish_grains);
}

/* A line of centres for those that are together: from where the two are stored. */
static __attribute__((noinline)) LaneVec3 part_coincident(const PositionStep *work, const int32_t *grains,
                                                          const int32_t *partners, LaneVec3 offset, Mask together) {
  Int bits, first;
  for (int l = 0; l < LANES; l++) {
    int64_t i = grains[l], j = position_partner(work, partners[l]);
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    bits[l] = (int32_t)((uint32_t)low * 2654435761u ^ (uint32_t)high * 2246822519u);
    first[l] = i < j ? -1 : 0;
  }
  return vec_select(together, position_made_up_offset(bits, first), offset);
}

WIDE_INLINE WideInt gather_int(const int32_t *from, const int32_t *i) {
  return (WideInt){from[i[0]], from[i[1]], from[i[2]], from[i[3]], from[i[4]], from[i[5]], from[i[6]], from[i[7]]};
}

WIDE_INLINE void key_grains(const PositionStep *work, int64_t i, int64_t count) {
  const Particles *p = &work->step->state->particles;
  const Real per_radius = real(1 / (float)work->step->state->radius);
  const Int key = position_batch_key(load_few3(p->x + i, p->y + i, p->z + i, count), per_radius);
  memcpy(work->layout.batch_key + i, &key, sizeof *work->layout.batch_key * (size_t)count);
}

/* Keys of the grains, from which the batches of their pairs follow. */
void KERNEL(position_key_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  for_grains(context, b, e, key_grains);
}

/* The partners of grain i, put in the order of their batches; how many are in each. */
static void deal_partners(const PositionStep *work, int64_t i, int32_t *found, int32_t count) {
  uint16_t *contacts = work->layout.contacts[i];
  int32_t copy[8 * LANES], sorted[9 * LANES]; /* not in place: what is packed has rubbish behind it */
  unsigned bits[8][POSITION_PAIR_BATCHES];
  const WideInt own = work->layout.batch_key[i] - (WideInt){0}, lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  int32_t at[POSITION_PAIR_BATCHES + 1] = {0};
  if (count <= LANES) {                                        /* mostly */
    WideInt used = wide_int_less(lanes, count - (WideInt){0}); /* what follows may be another thread's */
    *(WideIntUnaligned *)copy = wide_load_some(found, used);
    WideInt batch = position_batch(own, gather_int(work->layout.batch_key, copy)) | ~used;
    int32_t to = 0;
    for (int c = 0; c < POSITION_PAIR_BATCHES; c++) {
      unsigned set = wide_bits(wide_int_equal(batch, c - (WideInt){0}));
      wide_pack(sorted + to, set, copy, pack_lanes);
      contacts[c] = (uint16_t)__builtin_popcount(set);
      to += contacts[c];
    }
    wide_store_some(found, used, wide_load_int(sorted));
    return;
  }
  if (count <= 8 * LANES) {
    for (int32_t k = 0; k < count; k += LANES) {
      WideInt used = wide_int_less(lanes + k, count - (WideInt){0});
      *(WideIntUnaligned *)(copy + k) = wide_load_some(found + k, used);
      WideInt batch = position_batch(own, gather_int(work->layout.batch_key, copy + k)) | ~used;
      for (int c = 0; c < POSITION_PAIR_BATCHES; c++) {
        bits[k / LANES][c] = wide_bits(wide_int_equal(batch, c - (WideInt){0}));
        at[c + 1] += __builtin_popcount(bits[k / LANES][c]);
      }
    }
    for (int c = 0; c < POSITION_PAIR_BATCHES; c++) {
      contacts[c] = (uint16_t)at[c + 1];
      at[c + 1] += at[c];
    }
    for (int c = 0; c < POSITION_PAIR_BATCHES; c++)
      for (int32_t k = 0, to = at[c]; k < count; k += LANES) {
        wide_pack(sorted + to, bits[k / LANES][c], copy + k, pack_lanes);
        to += __builtin_popcount(bits[k / LANES][c]);
      }
    memcpy(found, sorted, sizeof *found * (size_t)count);
    return;
  }
  /* A grain among far smaller ones: by insertion, batch by batch. */
  for (int32_t k = 0, done = 0, c = 0; c < POSITION_PAIR_BATCHES; c++, k = done) {
    int32_t first = done;
    for (; k < count; k++) {
      int32_t j = found[k];
      if (position_batch(own, work->layout.batch_key[j] - (WideInt){0})[0] != c) continue;
      memmove(found + done + 1, found + done, sizeof *found * (size_t)(k - done));
      found[done++] = j;
    }
    contacts[c] = (uint16_t)(done - first);
  }
}

void KERNEL(position_deal_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  for (int64_t i = b; i < e; i++) {
    work->layout.contacts[i][POSITION_BOUNDARY_BATCH] = 0;
    deal_partners(work, i, work->candidates.pairs.found + work->candidates.pairs.start[i],
                  work->candidates.pair_count[i]);
  }
}

/* What the lanes of a slice have: partners, and rows of the memory. */
typedef struct Lanes {
  int32_t partners[LANES][LANES];              /* [k][lane], of contacts 8 c to 8 c + 7 */
  int32_t first[LANES], at[LANES], end[LANES]; /* places of the memory: the row, and where the next is expected */
} Lanes;

/* Rows of the memory as contact_memory_row says, eight at a time; lanes of nobody have none. For these that of `near`
 * is looked at, a grain of the same window: the rows of others may just be written. */
WIDE_INLINE void lanes_begin(const ContactMemory *memory, int64_t count, int64_t near, WideInt own, Lanes *lanes) {
  const WideInt zero = {0}, places = (int32_t)memory->places - zero;
  WideInt there = wide_int_less(own, (int32_t)count - zero);
  int32_t who[LANES];
  *(WideIntUnaligned *)who = (there & own) | (~there & ((int32_t)near - zero));
  WideInt row = gather_int((const int32_t *)memory->row, who), held = gather_int((const int32_t *)memory->held, who);
  there &= ~wide_int_less(row, zero) & wide_int_less(row, places) & wide_int_less(zero, held) &
           ~wide_int_less((places - 1 - row) / LANES, held - 1);
  row &= there;
  *(WideIntUnaligned *)lanes->first = *(WideIntUnaligned *)lanes->at = row;
  *(WideIntUnaligned *)lanes->end = row + (held & there) * LANES;
}

WIDE_INLINE void turn_eight(WideInt r[LANES], int32_t to[LANES][LANES]) {
  WideInt t[LANES], u[LANES];
  for (int k = 0; k < LANES; k += 2) {
    t[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int k = 0; k < LANES; k += 4)
    for (int h = 0; h < 2; h++) {
      u[k + 2 * h] = __builtin_shufflevector(t[k + h], t[k + 2 + h], 0, 1, 8, 9, 4, 5, 12, 13);
      u[k + 2 * h + 1] = __builtin_shufflevector(t[k + h], t[k + 2 + h], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int k = 0; k < 4; k++) {
    *(WideIntUnaligned *)to[k] = __builtin_shufflevector(u[k], u[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    *(WideIntUnaligned *)to[k + 4] = __builtin_shufflevector(u[k], u[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/* The partners of the lanes in a batch from the k-th on, as far as they go. `first` is where those of the batch begin
 * among the partners of each lane. */
WIDE_INLINE void lanes_turn(const PositionStep *work, const int32_t *grains, const int32_t *first, int64_t k,
                            Lanes *lanes) {
  const WideInt abreast = {0, 1, 2, 3, 4, 5, 6, 7};
  WideInt rows[LANES];
  for (int l = 0; l < LANES; l++) {
    int64_t i = grains[l], at = first[l] + k, left = work->candidates.pair_count[i] - at;
    WideInt used = wide_int_less(abreast, (int32_t)left - (WideInt){0});
    rows[l] = left > 0 ? wide_load_some(position_found(work, i) + at, used) : (WideInt){0};
  }
  turn_eight(rows, lanes->partners);
}

/* Where a lane's row has the key; 0 when it has not. Unused slots count as places too, so the next one may be expected
 * behind the row's end. */
WIDE_INLINE int32_t kept_place(const ContactMemory *memory, const Lanes *lanes, int l, uint32_t key) {
  const int32_t end = lanes->end[l], before = lanes->at[l] < end ? lanes->at[l] : end;
  for (int32_t k = lanes->at[l]; k < end; k += LANES)
    if (memory->now.key[k] == key) return k;
  for (int32_t k = lanes->first[l]; k < before; k += LANES)
    if (memory->now.key[k] == key) return k;
  return 0;
}

/* What the memory has of the lanes' contacts with partners of these keys. A grain's contacts mostly are those of the
 * last step in the same order, and the lanes too have mostly stayed together. */
WIDE_INLINE void recall_kept(const ContactMemory *memory, Lanes *lanes, WideInt keys, WideInt used,
                             Wide kept[CONTACT_KEPT]) {
  const WideInt abreast = {0, 1, 2, 3, 4, 5, 6, 7}, step = LANES - (WideInt){0};
  const ContactPlaces *now = &memory->now;
  WideInt at = wide_load_int(lanes->at), there = used & wide_int_less(at, wide_load_int(lanes->end)), found;
  int32_t first = lanes->at[0], places[LANES];
  bool together = wide_bits(wide_int_equal(at, abreast + first)) == 0xff && first < memory->places;
  *(WideIntUnaligned *)places = there & at;
  if (together) found = wide_load_int((const int32_t *)now->key + first);
  else
    for (int l = 0; l < LANES; l++) found[l] = (int32_t)now->key[places[l]];
  WideInt same = there & wide_int_equal(found, keys);
  *(WideIntUnaligned *)lanes->at = at + step;
  if (together)
    for (int c = 0; c < CONTACT_KEPT; c++) kept[c] = (Wide)(same & (WideInt)wide_load(now->kept[c] + first));
  *(WideIntUnaligned *)places = same & at;
  unsigned missing = wide_bits(used & ~same);
  for (unsigned other = missing; other; other &= other - 1) {
    int l = __builtin_ctz(other);
    lanes->at[l] -= LANES;
    places[l] = kept_place(memory, lanes, l, (uint32_t)keys[l]);
    if (places[l] > 0) lanes->at[l] = places[l] + LANES;
  }
  if (!together)
    for (int c = 0; c < CONTACT_KEPT; c++) kept[c] = wide_gather(now->kept[c], wide_load_int(places));
  else
    for (unsigned other = missing; other; other &= other - 1)
      for (int c = 0, l = __builtin_ctz(other); c < CONTACT_KEPT; c++) kept[c][l] = now->kept[c][places[l]];
}

/* Slots of a group that have partners of other threads'; the few that are too many are left as they are. */
static void note_crossings(PositionFound *found, int64_t slot, unsigned others) {
  for (; others && found->crossings[1] < POSITION_CROSSINGS_MOST; others &= others - 1)
    found->crossing[found->crossings[1]++] = (int32_t)slot + __builtin_ctz(others);
}

/* What a slice's slots of pairs need beside its lanes. */
typedef struct Recall {
  const ContactMemory *memory; /* NULL: nothing is remembered */
  bool renumbered;
  Wide scale;
  WideInt first, last; /* rows of the thread's own share */
} Recall;

/* One row of slots: partners, and their multipliers of the last step. Returns which lanes lead to other threads'. */
WIDE_INLINE unsigned recall_row(const PositionStep *work, const Recall *recall, int64_t row, WideInt used,
                                WideInt partner, Lanes *lanes) {
  const PositionSlots *slots = &work->layout.slots;
  int64_t slot = row * SLICE;
  int32_t *partners = slots->partner + slot;
  *(WideIntUnaligned *)partners = partner;
  PositionMultipliers held = {real(0), vec_zero()};
  if (recall->memory) {
    Wide kept[CONTACT_KEPT];
    WideInt keys = partner;
    if (recall->renumbered) keys = gather_int((const int32_t *)recall->memory->number, partners) - 1;
    recall_kept(recall->memory, lanes, keys, used, kept);
    held = position_remembered((PositionMultipliers){kept[0], {kept[1], kept[2], kept[3]}}, recall->scale);
  }
  store_multipliers(slots, slot, held);
  return wide_bits(wide_int_less(partner, recall->first) | wide_int_less(recall->last, partner));
}

/* Partners of the slots of pairs and what is remembered of them; lanes that have none in a row get an unused slot, and
 * so do the rows of boundary contacts, which are filled later. */
void KERNEL(position_recall_pass)(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  const PositionShare rows = position_share_of(work, b * SLICE / POSITION_WINDOW);
  const Recall recall = {.memory = work->settings->memory ? work->memory : NULL,
                         .renumbered = work->layout.renumbered,
                         .scale = wide_set(work->history_scale),
                         .first = rows.first - (WideInt){0},
                         .last = rows.end - 1 - (WideInt){0}};
  PositionFound found;
  found.borders[1] = found.crossings[1] = 0;
  Lanes lanes = {0};
  for (int64_t s = b; s < e; s++) {
    const int32_t *grains = slots->grain + s * SLICE;
    const WideInt own = wide_load_int(grains);
    unsigned crosses = 0;
    int32_t first[LANES] = {0}, counts[LANES];
    if (recall.memory) lanes_begin(recall.memory, work->count, b * SLICE, own, &lanes);
    for (int batch = 0; batch < POSITION_BATCHES; batch++) {
      int64_t begin = position_rows_begin(slots, s, batch), end = position_rows_begin(slots, s, batch + 1);
      bool pairs = batch < POSITION_PAIR_BATCHES;
      for (int l = 0; l < LANES; l++) counts[l] = pairs ? work->layout.contacts[grains[l]][batch] : 0;
      WideInt count = wide_load_int(counts);
      for (int64_t row = begin; row < end; row++) {
        int64_t k = row - begin;
        if (k % LANES == 0) lanes_turn(work, grains, first, k, &lanes);
        WideInt used = wide_int_less((int32_t)k - (WideInt){0}, count);
        WideInt partner = (used & wide_load_int(lanes.partners[k % LANES])) | (~used & own);
        unsigned others = recall_row(work, &recall, row, used, partner, &lanes);
        if (__builtin_expect(others != 0, 0)) {
          note_crossings(&found, row * SLICE, others);
          crosses |= others;
        }
      }
      for (int l = 0; l < LANES; l++) first[l] += counts[l];
    }
    for (; crosses; crosses &= crosses - 1) found.border[found.borders[1]++] = grains[__builtin_ctz(crosses)];
    if (s - b < POSITION_CHUNK) {
      found.borders[0] = found.borders[1];
      found.crossings[0] = found.crossings[1];
    }
  }
  position_keep_borders(work, b, &found, thread);
}

/* Kinds of friction of a slice's pairs: of the first material with itself, where there is but one. */
static void fill_kinds(const PositionStep *work, int64_t s) {
  const PositionSlots *slots = &work->layout.slots;
  const int64_t first = position_slice_begin(slots, s) * SLICE, end = position_slice_begin(slots, s + 1) * SLICE,
                count = work->count;
  const int32_t *grains = slots->grain + s * SLICE, *partner = slots->partner, materials = work->layout.materials;
  const Particles *p = &work->step->state->particles;
  int32_t *kind = slots->kind, row[SLICE];
  memset(kind + first, 0, sizeof *kind * (size_t)(end - first));
  if (materials == 1) return;
  for (int l = 0; l < SLICE; l++) row[l] = grains[l] < count ? p->material[grains[l]] * materials : 0;
  for (int64_t slot = first; slot < end; slot += SLICE)
    for (int l = 0; l < SLICE; l++) {
      int32_t j = position_partner(work, partner[slot + l]);
      if (j < count) kind[slot + l] = 2 * (row[l] + p->material[j]);
    }
}

/* Normals and gaps of the slots of pairs, friction along the planes of contact. */
void KERNEL(position_slot_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  for (int64_t s = b; s < e; s++) {
    const int32_t *grains = slots->grain + s * SLICE;
    const WideInt own = wide_load_int(grains);
    Rows at = gather_rows(work->start.at, grains), low = gather_rows(work->start.low, grains);
    for (int64_t g = position_slice_begin(slots, s); g < position_slice_begin(slots, s + 1); g++) {
      int64_t slot = g * SLICE;
      const int32_t *partners = slots->partner + slot;
      Mask unused = int_equal(wide_load_int(partners), own);
      Rows other = gather_rows(work->start.at, partners), other_low = gather_rows(work->start.low, partners);
      LaneVec3 offset = position_offset(at.d, low.d, other.d, other_low.d);
      Real length = real_sqrt(vec_dot(offset, offset)), straight = length;
      Mask together = ~unused & real_less(length, real(POSITION_COINCIDENT));
      if (__builtin_expect(mask_any(together), 0)) {
        offset = part_coincident(work, grains, partners, offset, together);
        straight = real_sqrt(vec_dot(offset, offset));
      }
      LaneVec3 normal = position_normal(offset, straight);
      if (work->settings->memory) store_friction(slots, slot, vec_tangential(load_friction(slots, slot), normal));
      Real gap = real_select(unused, real(POSITION_FAR), length - (at.fourth + other.fourth));
      store_pose(slots, slot, (PositionPose){normal, gap});
    }
    if (slots->kind) fill_kinds(work, s);
  }
}

/* Turns at the step's start, and what the remembered multipliers do to them. */
WIDE_INLINE void warm_turns(const PositionStep *work, int64_t s) {
  const PositionSlots *slots = &work->layout.slots;
  const PositionTurns *turns = &work->turns;
  const Particles *p = &work->step->state->particles;
  const Material *materials = work->step->state->materials.items;
  const int32_t *grains = slots->grain + s * SLICE;
  const Real radius = wide_load(work->rows.lanes.radius + s * SLICE);
  const Frictions frictions = frictions_of(work);
  float spin[3][LANES], may[LANES];
  for (int l = 0; l < LANES; l++) {
    const bool there = grains[l] < work->count;
    for (int c = 0; c < 3; c++) spin[c][l] = there ? turns->spin[c][grains[l]] : 0;
    may[l] = there && position_turns(&materials[p->material[grains[l]]]);
  }
  const Real way = radius * real(work->h);
  store_lanes(turns->before, s * SLICE,
              vec_make(wide_load(spin[0]) * way, wide_load(spin[1]) * way, wide_load(spin[2]) * way));
  wide_store(turns->turns + s * SLICE, wide_load(may));
  PositionTorque torque = position_no_torque();
  if (work->settings->memory)
    for (int64_t row = position_slice_begin(slots, s); row < position_slice_begin(slots, s + 1); row++)
      torque = position_torque(torque, load_multipliers(slots, row * SLICE), load_normal(slots, row * SLICE),
                               rolling_at(&frictions, slots, row * SLICE));
  store_torque(turns, s * SLICE, torque);
  turn_slice(work, s, turns->now);
}

/* The remembered multipliers push before the first substep. */
void KERNEL(position_warm_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->rows.now, slots, s);
    LaneVec3 sum = vec_zero();
    if (work->settings->memory)
      for (int64_t row = position_slice_begin(slots, s); row < position_slice_begin(slots, s + 1); row++)
        sum = vec_add(sum, position_push(load_multipliers(slots, row * SLICE), load_normal(slots, row * SLICE)));
    if (work->turning) warm_turns(work, s);
    LaneVec3 d = pushed_by(work, s, own.d, sum), shift = own_rows(work->rows.last, slots, s).d;
    store_lanes(work->rows.lanes.push, s * SLICE, sum);
    store_lanes(work->rows.lanes.total, s * SLICE, shift);
    set_rows(work->rows.last, slots, s, shift, wide_load(work->rows.lanes.radius + s * SLICE));
    set_rows(work->rows.next, slots, s, d, own.fourth);
  }
}

/* Stabilisation: penetration at the step's start moves the start itself. Averaging divides by the number of contacts
 * that penetrate; rows then hold the inverse mass alone. */
void KERNEL(position_shift_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSettings *settings = work->settings;
  const PositionSlots *slots = &work->layout.slots;
  const Real part = real(settings->shift_share > 0 ? settings->shift_share : 1), slop = real(work->slop);
  const bool memory = settings->memory;
  for (int64_t s = b; s < e; s++) {
    const int64_t solids = position_rows_begin(slots, s, POSITION_BOUNDARY_BATCH);
    Rows own = own_rows(work->rows.last, slots, s);
    LaneVec3 sum = vec_zero();
    Real deep = real(0);
    for (int64_t row = position_slice_begin(slots, s); row < position_slice_begin(slots, s + 1); row++) {
      PositionTouch t = start_touch(slots, row, work->rows.last, own);
      Real borne = real(0);
      if (memory) borne = position_carried(wide_load(slots->ln + row * SLICE), t.weight, work->carried, row >= solids);
      if (slots->soft) borne = real_max(borne, wide_load(slots->soft + row * SLICE));
      sum = vec_add(sum, position_part(t, slop + borne, part));
      deep = deep + real_select(real_less(t.gap, real(0)), real(1), real(0));
    }
    if (settings->averaging) sum = vec_mul(sum, position_average(deep, settings->relaxation));
    set_rows(work->rows.next, slots, s, pushed_by(work, s, own.d, sum), own.fourth);
  }
}

/* After the boundary batch: what solids are pushed by, summed over the substeps. */
void KERNEL(position_sum_boundary)(const PositionStep *work, int64_t b, int64_t e) {
  const PositionSlots *slots = &work->layout.slots;
  for (int64_t s = b; s < e; s++) {
    int64_t begin = position_rows_begin(slots, s, POSITION_BOUNDARY_BATCH), end = position_slice_begin(slots, s + 1);
    int64_t to = (int64_t)work->layout.boundary_begin[s] * SLICE;
    for (int64_t at = begin * SLICE; at < end * SLICE; at += SLICE, to += SLICE) {
      LaneVec3 push = position_push(load_multipliers(slots, at), load_normal(slots, at));
      wide_store(work->rows.boundary_sum[0] + to, wide_load(work->rows.boundary_sum[0] + to) + push.x);
      wide_store(work->rows.boundary_sum[1] + to, wide_load(work->rows.boundary_sum[1] + to) + push.y);
      wide_store(work->rows.boundary_sum[2] + to, wide_load(work->rows.boundary_sum[2] + to) + push.z);
    }
  }
}

/* One iteration as in the paper: the corrections of a grain, divided by the number of contacts that touch it. The
 * multipliers keep count of what was really applied, for the forces on solids. Rows hold the inverse mass alone. */
void KERNEL(position_average_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  const Frictions frictions = frictions_of(work);
  const float limit = work->settings->printed_limit ? 2 * (float)work->step->state->radius : 0;
  for (int64_t s = b; s < e; s++) {
    const Own own = load_own(work, s, false);
    const Rows start = own_rows(work->rows.last, slots, s);
    LaneVec3 sum = vec_zero();
    Real touching = real(0), average = real(0);
    for (int round = 0; round < 2; round++) { /* how many touch; then what each of them does */
      for (int64_t row = position_slice_begin(slots, s); row < position_slice_begin(slots, s + 1); row++) {
        int64_t at = row * SLICE;
        PositionTouch t = iteration_touch(work, row, own, start).touch;
        PositionPrinted p = position_printed(t, friction_at(&frictions, slots, at), limit);
        if (round == 0) {
          touching = touching + real_select(p.touches, real(1), real(0));
          sum = vec_add(sum, position_push(p.push, t.normal));
          continue;
        }
        PositionMultipliers applied = load_multipliers(slots, at);
        applied.normal = applied.normal + p.push.normal * average;
        applied.friction = vec_add(applied.friction, vec_mul(p.push.friction, average));
        store_multipliers(slots, at, applied);
      }
      average = position_average(touching, work->settings->relaxation);
    }
    set_rows(work->rows.next, slots, s, pushed_by(work, s, own.d, vec_mul(sum, average)), own.weight);
  }
}

WIDE_INLINE void add_four_samples(const float *const at[4], Vec3 from, Four sum[POSITION_SAMPLE_SUMS]) {
  Four x = four_load(at[0]) - from.x, y = four_load(at[1]) - from.y, z = four_load(at[2]) - from.z;
  Four mass = four_load(at[3]), mx = mass * x, my = mass * y, mz = mass * z;
  const Four terms[POSITION_SAMPLE_SUMS] = {mass, mx, my, mz, mx * x, mx * y, mx * z, my * y, my * z, mz * z};
  for (int c = 0; c < POSITION_SAMPLE_SUMS; c++) sum[c] += terms[c];
}

void KERNEL(position_sum_samples)(const SolidSamples *s, int64_t b, int64_t e, Vec3 from,
                                  double sums[POSITION_SAMPLE_SUMS]) {
  Four sum[POSITION_SAMPLE_SUMS] = {{0}};
  int64_t k = b;
  for (; k + FOUR <= e; k += FOUR)
    add_four_samples((const float *const[4]){s->x + k, s->y + k, s->z + k, s->mass + k}, from, sum);
  float last[4][FOUR] = {{0}}; /* what is not there has no mass */
  const float *const left[4] = {s->x + k, s->y + k, s->z + k, s->mass + k};
  for (int c = 0; c < 4; c++) memcpy(last[c], left[c], sizeof *left[c] * (size_t)(e - k));
  add_four_samples((const float *const[4]){last[0], last[1], last[2], last[3]}, from, sum);
  for (int c = 0; c < POSITION_SAMPLE_SUMS; c++) sums[c] = four_sum(sum[c]);
}
