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

WIDE_INLINE void load_grains(const PositionStep *work, int64_t i, int64_t count) {
  const Particles *p = &work->step->state->particles;
  Real contacts = real_from_int(wide_load_int(work->layout.contacts + i)), w = wide_load(work->rows.w + i);
  Real split = position_split_mass(w, contacts, work->settings->relaxation);
  store_rows(work->rows.now + i, load_few3(p->dx + i, p->dy + i, p->dz + i, count),
             work->settings->averaging ? w : split, count);
  store_rows(work->rows.shift + i, vec_zero(), split, count);
}

/* Rows for the passes. */
void KERNEL(position_load_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  for_grains(context, b, e, load_grains);
}

WIDE_INLINE void place_grains(const PositionStep *work, int64_t i, int64_t count) {
  const Particles *p = &work->step->state->particles;
  LaneVec3 moved = vec_add(load_rows(work->rows.now + i).d, load_rows(work->rows.shift + i).d);
  LaneVec3 at = vec_add(load_few3(p->x + i, p->y + i, p->z + i, count), moved);
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
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
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

WIDE_INLINE void finish_grains(const PositionStep *work, int64_t i, int64_t count) {
  Particles *p = &work->step->state->particles;
  PositionMotion motion =
      position_motion(load_rows(work->rows.now + i).d, load_rows(work->rows.shift + i).d, 1 / work->dt);
  store_few3(p->vx + i, p->vy + i, p->vz + i, motion.velocity, count);
  store_few3(p->dx + i, p->dy + i, p->dz + i, motion.displacement, count);
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

/* What the lanes of a slice have: partners, and rows of the memory. */
typedef struct Lanes {
  int32_t partners[LANES][LANES];              /* [k][lane], of contacts 8 c to 8 c + 7 */
  int32_t first[LANES], at[LANES], end[LANES]; /* places of the memory: the row, and where the next is expected */
} Lanes;

WIDE_INLINE WideInt gather_int(const int32_t *from, const int32_t *i) {
  return (WideInt){from[i[0]], from[i[1]], from[i[2]], from[i[3]], from[i[4]], from[i[5]], from[i[6]], from[i[7]]};
}

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

/* The partners of the lanes from the k-th on, as far as they go: behind the last is rubbish. */
WIDE_INLINE void lanes_turn(const PositionStep *work, const int32_t *grains, int64_t k, Lanes *lanes) {
  WideInt rows[LANES];
  for (int l = 0; l < LANES; l++) {
    int64_t i = grains[l];
    rows[l] = k == 0 || k < work->candidates.pair_count[i] ? wide_load_int(position_found(work, i) + k) : (WideInt){0};
  }
  turn_eight(rows, lanes->partners);
}

/* Where a lane's row has the key; 0 when it has not. */
WIDE_INLINE int32_t kept_place(const ContactMemory *memory, const Lanes *lanes, int l, uint32_t key) {
  for (int32_t k = lanes->at[l]; k < lanes->end[l]; k += LANES)
    if (memory->now.key[k] == key) return k;
  for (int32_t k = lanes->first[l]; k < lanes->at[l]; k += LANES)
    if (memory->now.key[k] == key) return k;
  return 0;
}

/* What the memory has of the lanes' contacts with partners of these keys. A grain's contacts mostly are those of the
 * last step in the same order, and the lanes too have mostly stayed together. */
WIDE_INLINE void recall(const ContactMemory *memory, Lanes *lanes, WideInt keys, WideInt used,
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

/* Partners of the slots of pairs and what is remembered of them; lanes that have none in a group get an unused slot. */
void KERNEL(position_recall_pass)(void *context, int64_t b, int64_t e, int thread) {
  PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  const ContactMemory *memory = work->settings->memory ? work->memory : NULL;
  const bool renumbered = work->layout.renumbered;
  const Real scale = real(work->history_scale);
  const PositionShare rows = position_share_of(work, b * SLICE / POSITION_WINDOW);
  const WideInt first = rows.first - (WideInt){0}, last = rows.end - 1 - (WideInt){0};
  PositionFound found;
  found.borders[1] = found.crossings[1] = 0;
  for (int64_t s = b; s < e; s++) {
    const int32_t *grains = slots->grain + s * SLICE;
    const WideInt own = wide_load_int(grains);
    unsigned crosses = 0;
    const WideInt counts = gather_int(work->candidates.pair_count, grains);
    Lanes lanes;
    if (memory) lanes_begin(memory, work->count, b * SLICE, own, &lanes);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t slot = g * SLICE, k = g - slots->begin[s];
      if (k % LANES == 0) lanes_turn(work, grains, k, &lanes);
      int32_t *partners = slots->partner + slot;
      WideInt used = wide_int_less((int32_t)k - (WideInt){0}, counts);
      WideInt partner = (used & wide_load_int(lanes.partners[k % LANES])) | (~used & own);
      *(WideIntUnaligned *)partners = partner;
      unsigned others = wide_bits(wide_int_less(partner, first) | wide_int_less(last, partner));
      if (__builtin_expect(others != 0, 0)) {
        note_crossings(&found, slot, others);
        crosses |= others;
      }
      PositionMultipliers remembered = {real(0), vec_zero()};
      if (memory) {
        Wide kept[CONTACT_KEPT];
        WideInt keys = partner;
        if (renumbered) keys = gather_int((const int32_t *)memory->number, partners) - 1;
        recall(memory, &lanes, keys, used, kept);
        remembered = position_remembered((PositionMultipliers){kept[0], {kept[1], kept[2], kept[3]}}, scale);
      }
      store_multipliers(slots, slot, remembered);
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
  const int64_t first = slots->begin[s] * SLICE, end = slots->begin[s + 1] * SLICE, count = work->count;
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
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
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
      lane_store3(slots->nx + slot, slots->ny + slot, slots->nz + slot, normal);
      wide_store(slots->gap + slot, real_select(unused, real(POSITION_FAR), length - (at.fourth + other.fourth)));
    }
    if (slots->kind) fill_kinds(work, s);
  }
}

/* The last step's multipliers push before the first iteration. */
void KERNEL(position_warm_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->rows.now, slots, s);
    LaneVec3 sum = vec_zero();
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      sum = vec_add(sum, position_push(load_multipliers(slots, at), load_normal(slots, at)));
    }
    move_rows(work, s, own, sum);
  }
}

/* Stabilisation: penetration at the step's start, shared by mass splitting, moves the start itself. */
void KERNEL(position_shift_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  const Real part = real(work->settings->shift_share > 0 ? work->settings->shift_share : 1), slop = real(work->slop);
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->rows.shift, slots, s);
    LaneVec3 sum = vec_zero();
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      Real borne = slots->soft ? slop + wide_load(slots->soft + g * SLICE) : slop;
      sum = vec_add(sum, position_part(load_touch(slots, g, work->rows.shift, own), borne, part));
    }
    move_rows(work, s, own, sum);
  }
}

/* After it: gaps take the shift in. */
void KERNEL(position_settle_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->rows.shift, slots, s);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Real gap = load_touch(slots, g, work->rows.shift, own).gap,
           borne = slots->soft ? wide_load(slots->soft + at) : real(0);
      wide_store(slots->gap + at, position_settled_gap(gap, borne, work->settings->memory));
    }
  }
}

/* One iteration with mass splitting. */
void KERNEL(position_split_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  const Frictions frictions = frictions_of(work);
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->rows.now, slots, s);
    LaneVec3 sum = vec_zero();
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      PositionTouch t = load_touch(slots, g, work->rows.now, own);
      PositionMultipliers before = load_multipliers(slots, at);
      PositionMultipliers after = position_contact(before, t, friction_at(&frictions, slots, at));
      store_multipliers(slots, at, after);
      sum = vec_add(sum, position_change(before, after, t.normal));
    }
    move_rows(work, s, own, sum);
  }
}

/* One iteration as in the paper: the corrections of a grain, divided by the number of contacts that touch it. The
 * multipliers keep count of what was really applied, for the forces on solids. */
void KERNEL(position_average_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  const Frictions frictions = frictions_of(work);
  const float limit = work->settings->printed_limit ? 2 * (float)work->step->state->radius : 0;
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->rows.now, slots, s); /* they hold w alone in this mode: weights are w_i + w_j */
    LaneVec3 sum = vec_zero();
    Real touching = real(0);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      PositionTouch t = load_touch(slots, g, work->rows.now, own);
      PositionPrinted p = position_printed(t, friction_at(&frictions, slots, g * SLICE), limit);
      touching = touching + real_select(p.touches, real(1), real(0));
      sum = vec_add(sum, position_push(p.push, t.normal));
    }
    Real average = position_average(touching, work->settings->relaxation);
    move_rows(work, s, own, vec_mul(sum, average));
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      PositionTouch t = load_touch(slots, g, work->rows.now, own);
      PositionPrinted p = position_printed(t, friction_at(&frictions, slots, at), limit);
      PositionMultipliers applied = load_multipliers(slots, at);
      applied.normal = applied.normal + p.push.normal * average;
      applied.friction = vec_add(applied.friction, vec_mul(p.push.friction, average));
      store_multipliers(slots, at, applied);
    }
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
