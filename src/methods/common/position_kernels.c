/* Passes over the contact slots, eight grains abreast. Ranges are slices. Each grain reads its partners' rows and
 * writes its own, so any number of threads gives the same bits. */
#include "methods/common/position_kernels.h"

#include <string.h>

#include "core/four.h"
#include "methods/common/position_borders.h"
#include "methods/common/position_contacts.h"
#include "methods/common/position_wide.h"

/* Where they are, to fill the slots. */
void KERNEL(position_start_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const Particles *p = &work->step->state->particles;
  int64_t i = b;
  for (; i + LANES <= e; i += LANES) {
    wide_store4(work->at + i, wide_load(p->x + i), wide_load(p->y + i), wide_load(p->z + i), wide_load(p->radius + i));
    wide_store4(work->low + i, wide_load(p->low_x + i), wide_load(p->low_y + i), wide_load(p->low_z + i), wide_set(0));
  }
  for (; i < e; i++) {
    const float at[4] = {p->x[i], p->y[i], p->z[i], p->radius[i]};
    const float low[4] = {p->low_x[i], p->low_y[i], p->low_z[i], 0};
    memcpy(work->at[i], at, sizeof at);
    memcpy(work->low[i], low, sizeof low);
  }
}

/* Rows for the passes. */
void KERNEL(position_load_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const Particles *p = &work->step->state->particles;
  const Wide zero = wide_set(0), one = wide_set(1), relaxation = wide_set(work->settings->relaxation);
  bool averaging = work->settings->averaging;
  int64_t i = b;
  for (; i + LANES <= e; i += LANES) {
    Wide contacts = __builtin_convertvector(wide_load_int(work->contacts + i), Wide), w = wide_load(work->w + i);
    Wide split = w * wide_max(contacts / relaxation, one);
    wide_store4(work->d4 + i, wide_load(p->dx + i), wide_load(p->dy + i), wide_load(p->dz + i), averaging ? w : split);
    wide_store4(work->shift + i, zero, zero, zero, split);
  }
  for (; i < e; i++) {
    float split = work->w[i] * position_split(work->settings, (float)work->contacts[i]);
    const float d[4] = {p->dx[i], p->dy[i], p->dz[i], averaging ? work->w[i] : split}, shift[4] = {0, 0, 0, split};
    memcpy(work->d4[i], d, sizeof d);
    memcpy(work->shift[i], shift, sizeof shift);
  }
}

/* Where grains are when the step is over: into rows that no pass needs any more. */
void KERNEL(position_place_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const Particles *p = &work->step->state->particles;
  const float *const from[3] = {p->x, p->y, p->z};
  for (int64_t i = b; i < e; i++) {
    for (int k = 0; k < 3; k++) work->next[i][k] = from[k][i] + (work->d4[i][k] + work->shift[i][k]);
    work->next[i][3] = p->radius[i];
  }
}

double KERNEL(position_overlap_pass)(void *context, int64_t b, int64_t e) {
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  const WideInt solids = (int32_t)work->boundary_row - (WideInt){0};
  Wide most = wide_set(0);
  for (int64_t s = b; s < e; s++) {
    const WideInt grains = wide_load_int(slots->grain + s * SLICE);
    Rows own = own_rows(work->next, slots, s);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      const int32_t *partners = slots->partner + g * SLICE;
      const WideInt all = wide_load_int(partners), pairs = wide_int_less(all, solids) & ~wide_int_equal(all, grains);
      LaneVec3 other;
      Wide radius;
      wide_gather4(work->next, partners, &other.x, &other.y, &other.z, &radius);
      LaneVec3 offset = vec_sub(own.d, other);
      Wide radii = wide_max(own.fourth + radius, wide_set(TINY)), apart = wide_sqrt(vec_dot(offset, offset));
      most = wide_max(most, (Wide)(pairs & (WideInt)((radii - apart) / radii)));
    }
  }
  float deepest = 0;
  for (int l = 0; l < LANES; l++) deepest = most[l] > deepest ? most[l] : deepest;
  return 2 * (double)deepest;
}

void KERNEL(position_finish_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  Particles *p = &work->step->state->particles;
  float *const velocity[3] = {p->vx, p->vy, p->vz}, *const way[3] = {p->dx, p->dy, p->dz};
  const float per_second = 1 / work->dt;
  int64_t i = b;
  for (; i + LANES <= e; i += LANES) {
    Wide d[4], shift[4];
    wide_load4(work->d4 + i, &d[0], &d[1], &d[2], &d[3]);
    wide_load4(work->shift + i, &shift[0], &shift[1], &shift[2], &shift[3]);
    for (int k = 0; k < 3; k++) {
      wide_store(velocity[k] + i, d[k] * per_second);
      wide_store(way[k] + i, d[k] + shift[k]);
    }
  }
  for (; i < e; i++)
    for (int k = 0; k < 3; k++) {
      velocity[k][i] = work->d4[i][k] * per_second;
      way[k][i] = work->d4[i][k] + work->shift[i][k];
    }
}

#define POSITION_COINCIDENT 1e-12f /* m */

/* Two grains at one place have no line of centres: one is made up from where they are stored, opposite for the two. */
WIDE_INLINE void part_coincident(const PositionStep *work, const int32_t *grains, const int32_t *partners,
                                 LaneVec3 *offset, WideInt together) {
  for (int l = 0; l < LANES; l++) {
    if (!together[l]) continue;
    int64_t i = grains[l], j = position_partner(work, partners[l]);
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    uint32_t bits = (uint32_t)low * 2654435761u ^ (uint32_t)high * 2246822519u;
    float sign = i < j ? 1.0f : -1.0f;
    offset->x[l] = sign * ((float)(bits & 1023) - 511.5f);
    offset->y[l] = sign * ((float)(bits >> 10 & 1023) - 511.5f);
    offset->z[l] = sign * ((float)(bits >> 20 & 1023) - 511.5f);
  }
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
    rows[l] = k == 0 || k < work->found_count[i] ? wide_load_int(position_found(work, i) + k) : (WideInt){0};
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
  const PositionSlots *slots = &work->slots;
  const ContactMemory *memory = work->settings->memory ? work->memory : NULL;
  const bool renumbered = work->renumbered;
  Wide zero = wide_set(0), scale = wide_set(work->history_scale);
  const PositionShare rows = position_share_of(work, b * SLICE / POSITION_WINDOW);
  const WideInt first = rows.first - (WideInt){0}, last = rows.end - 1 - (WideInt){0};
  PositionFound found;
  found.borders[1] = found.crossings[1] = 0;
  for (int64_t s = b; s < e; s++) {
    const int32_t *grains = slots->grain + s * SLICE;
    const WideInt own = wide_load_int(grains);
    unsigned crosses = 0;
    const WideInt counts = gather_int(work->found_count, grains);
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
      Wide pressed = zero;
      LaneVec3 friction = vec_zero();
      if (memory) {
        Wide kept[CONTACT_KEPT];
        WideInt keys = partner;
        if (renumbered) keys = gather_int((const int32_t *)memory->number, partners) - 1;
        recall(memory, &lanes, keys, used, kept);
        pressed = kept[0] * scale;
        WideInt acts = wide_less(kept[0], zero) | wide_less(zero, kept[0]); /* it pressed or, by adhesion, pulled */
        friction = vec_mul(vec_mask(acts, (LaneVec3){kept[1], kept[2], kept[3]}), scale);
      }
      wide_store(slots->ln + slot, pressed);
      store_friction(slots, slot, friction);
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
  const PositionSlots *slots = &work->slots;
  const int64_t first = slots->begin[s] * SLICE, end = slots->begin[s + 1] * SLICE, count = work->count;
  const int32_t *grains = slots->grain + s * SLICE, *partner = slots->partner, materials = work->materials;
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
  const PositionSlots *slots = &work->slots;
  Wide one = wide_set(1);
  for (int64_t s = b; s < e; s++) {
    const int32_t *grains = slots->grain + s * SLICE;
    const WideInt own = wide_load_int(grains);
    LaneVec3 at, low;
    Wide radius, nothing;
    wide_gather4(work->at, grains, &at.x, &at.y, &at.z, &radius);
    wide_gather4(work->low, grains, &low.x, &low.y, &low.z, &nothing);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t slot = g * SLICE;
      const int32_t *partners = slots->partner + slot;
      WideInt unused = wide_int_equal(wide_load_int(partners), own);
      LaneVec3 other, other_low;
      Wide other_radius;
      wide_gather4(work->at, partners, &other.x, &other.y, &other.z, &other_radius);
      wide_gather4(work->low, partners, &other_low.x, &other_low.y, &other_low.z, &nothing);
      LaneVec3 offset = vec_add(vec_sub(at, other), vec_sub(low, other_low));
      Wide length = wide_sqrt(vec_dot(offset, offset)), straight = length;
      WideInt together = ~unused & wide_less(length, wide_set(POSITION_COINCIDENT));
      if (__builtin_expect(wide_bits(together) != 0, 0)) {
        part_coincident(work, grains, partners, &offset, together);
        straight = wide_sqrt(vec_dot(offset, offset));
      }
      LaneVec3 normal = vec_mul(offset, one / wide_max(straight, wide_set(TINY)));
      if (work->settings->memory) store_friction(slots, slot, vec_tangential(load_friction(slots, slot), normal));
      wide_store(slots->nx + slot, normal.x);
      wide_store(slots->ny + slot, normal.y);
      wide_store(slots->nz + slot, normal.z);
      wide_store(slots->gap + slot, wide_select(unused, wide_set(POSITION_FAR), length - (radius + other_radius)));
    }
    if (slots->kind) fill_kinds(work, s);
  }
}

/* The last step's multipliers push before the first iteration. */
void KERNEL(position_warm_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->d4, slots, s);
    LaneVec3 sum = vec_zero();
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      LaneVec3 normal = {wide_load(slots->nx + at), wide_load(slots->ny + at), wide_load(slots->nz + at)};
      sum = vec_add(sum, vec_add(load_friction(slots, at), vec_mul(normal, wide_load(slots->ln + at))));
    }
    move_rows(work, s, own, sum);
  }
}

/* Stabilisation (Sommer's Algorithm 1, lines 7 to 12): overlap at the step's start, shared by mass splitting, moves
 * the start itself. */
void KERNEL(position_shift_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  Wide share = wide_set(work->settings->shift_share > 0 ? work->settings->shift_share : 1);
  Wide slop = wide_set(work->slop);
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->shift, slots, s);
    LaneVec3 sum = vec_zero();
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      Touch t = touch(slots, g, work->shift, own.d, own.fourth);
      Wide left = slots->soft ? slop + wide_load(slots->soft + g * SLICE) : slop;
      Wide depth = wide_max(wide_set(0) - t.gap - left, wide_set(0));
      sum = vec_add(sum, vec_mul(t.normal, depth * share / t.weight));
    }
    move_rows(work, s, own, sum);
  }
}

/* After it: gaps take the shift in; what overlap is left must not turn into speed, so such a pair may stay as close as
 * it is but come no closer. Springs do push. Not without memory: overlap alone then tells a contact what it carries,
 * and a column that may not push against it sinks through its floor. */
void KERNEL(position_settle_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  Wide zero = wide_set(0);
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->shift, slots, s);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->shift, own.d, own.fourth);
      Wide gap = work->settings->memory ? wide_max(t.gap, zero) : t.gap;
      if (slots->soft) gap = wide_select(wide_less(zero, wide_load(slots->soft + at)), t.gap, gap);
      wide_store(slots->gap + at, gap);
    }
  }
}

/* One iteration with mass splitting: projected Jacobi on the multipliers. The normal multiplier stays >= 0 over the
 * sum of the iterations, friction stays inside Coulomb's cone of that sum, so the law holds for the step and not for
 * an iteration. Splitting every grain's mass by its number of contacts makes Jacobi converge, and both sides of a
 * contact get the same multiplier: momentum is kept to round-off. Over-relaxation stands in the weights: a mass is
 * split n / relaxation times, but not less than once, so that a grain with one contact is exact after one iteration. */
void KERNEL(position_split_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  Wide one = wide_set(1);
  const Frictions frictions = frictions_of(work);
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->d4, slots, s);
    LaneVec3 sum = vec_zero();
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->d4, own.d, own.fourth);
      Wide share = one / t.weight;
      Wide before = wide_load(slots->ln + at);
      Wide normal = wide_max(before - t.gap * share, wide_set(0));
      wide_store(slots->ln + at, normal);
      LaneVec3 slide = vec_tangential(t.relative, t.normal);
      LaneVec3 held = load_friction(slots, at);
      LaneVec3 friction = vec_sub(held, vec_mul(slide, share));
      Wide size = wide_sqrt(vec_dot(friction, friction));
      Friction mu = friction_at(&frictions, slots, at);
      WideInt slips = size > mu.still * normal; /* and the cut is below 1 there */
      Wide cut = mu.sliding * normal / size;
      friction = vec_mul(friction, wide_select(slips, cut, one));
      store_friction(slots, at, friction);
      sum = vec_add(sum, vec_add(vec_mul(t.normal, normal - before), vec_sub(friction, held)));
    }
    move_rows(work, s, own, sum);
  }
}

/* One contact as in the paper (Eq. 1 to 4): push along the normal by the depth, and against the sliding, limited by
 * what the text says (the depth) or what the print says (2 r). Per unit of inverse mass. */
typedef struct PrintedPush {
  Wide normal;
  LaneVec3 friction, push;
  WideInt touches;
} PrintedPush;

WIDE_INLINE PrintedPush printed_push(const PositionStep *work, const Frictions *frictions, int64_t at, const Touch *t) {
  Wide zero = wide_set(0), one = wide_set(1), depth = zero - t->gap;
  PrintedPush p = {.touches = depth > zero};
  Wide share = wide_select(p.touches, one / t->weight, zero);
  Wide limit = work->settings->printed_limit ? wide_set(2 * (float)work->step->state->radius) : wide_max(depth, zero);
  Friction mu = friction_at(frictions, &work->slots, at);
  LaneVec3 slide = vec_tangential(t->relative, t->normal);
  Wide size = wide_sqrt(vec_dot(slide, slide));
  Wide kinetic = wide_min(mu.sliding * limit / wide_max(size, wide_set(TINY)), one);
  Wide hold = wide_select(size < mu.still * limit, one, kinetic);
  p.normal = depth * share;
  p.friction = vec_mul(slide, zero - hold * share);
  p.push = vec_add(vec_mul(t->normal, p.normal), p.friction);
  return p;
}

/* One iteration as in the paper: the corrections of a grain, divided by the number of contacts that touch it. The
 * multipliers keep count of what was really applied, for the forces on solids. */
void KERNEL(position_average_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  Wide zero = wide_set(0), one = wide_set(1);
  const Frictions frictions = frictions_of(work);
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->d4, slots, s);
    LaneVec3 sum = vec_zero();
    Wide touching = zero;
    /* rows hold w alone in this mode: t.weight is w_i + w_j */
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      Touch t = touch(slots, g, work->d4, own.d, own.fourth);
      PrintedPush p = printed_push(work, &frictions, g * SLICE, &t);
      touching = touching + wide_select(p.touches, one, zero);
      sum = vec_add(sum, p.push);
    }
    Wide average = wide_set(work->settings->relaxation) / wide_max(touching, one);
    move_rows(work, s, own, vec_mul(sum, average));
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->d4, own.d, own.fourth);
      PrintedPush p = printed_push(work, &frictions, at, &t);
      wide_store(slots->ln + at, wide_load(slots->ln + at) + p.normal * average);
      store_friction(slots, at, vec_add(load_friction(slots, at), vec_mul(p.friction, average)));
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
