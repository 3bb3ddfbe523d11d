/* Passes over the contact slots, eight grains abreast. Ranges are slices. Each grain reads its partners' rows and
 * writes its own, so any number of threads gives the same bits. */
#include "methods/common/position_kernels.h"

#include <string.h>

#include "methods/common/position_contacts.h"
#include "methods/common/position_wide.h"

/* Partners whose predicted gap is below the margin, in the order of the list. */
void KERNEL(position_find_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const NeighborList *list = &work->step->state->contacts.particles.list;
  Wide margin = wide_set(work->margin);
  for (int64_t i = b; i < e; i++) {
    const float *own = work->predicted[i];
    Wide x = wide_set(own[0]), y = wide_set(own[1]), z = wide_set(own[2]), radius = wide_set(own[3]) + margin;
    int64_t end = list->start[i + 1];
    int32_t *begin = position_found(work, i), *found = begin, rest[LANES];
    for (int64_t k = list->start[i]; k < end; k += LANES) {
      const int32_t *partners = list->index + k;
      int64_t left = end - k;
      if (left < LANES) { /* the list may end here */
        for (int l = 0; l < LANES; l++) rest[l] = partners[l < left ? l : 0];
        partners = rest;
      }
      Wide ox, oy, oz, reach;
      wide_gather4(work->predicted, partners, &ox, &oy, &oz, &reach);
      ox = ox - x;
      oy = oy - y;
      oz = oz - z;
      reach = reach + radius;
      unsigned near = wide_bits(wide_less(ox * ox + oy * oy + oz * oz, reach * reach));
      if (left < LANES) near &= (1u << left) - 1;
      wide_pack(found, near, partners, pack_lanes);
      found += __builtin_popcount(near);
    }
    work->found_count[i] = (int32_t)(found - begin);
  }
}

/* Friction coefficients of eight pairs. */
WIDE_INLINE void load_mu(const PositionStep *work, Wide own, Wide other, Wide *mu_static, Wide *mu_kinetic) {
  int32_t materials = work->materials;
  if (materials == 1) {
    *mu_static = wide_set(work->mu[0][0]);
    *mu_kinetic = wide_set(work->mu[0][1]);
    return;
  }
  for (int l = 0; l < LANES; l++) {
    const float *mu = work->mu[(int32_t)own[l] * materials + (int32_t)other[l]];
    (*mu_static)[l] = mu[0];
    (*mu_kinetic)[l] = mu[1];
  }
}

#define POSITION_COINCIDENT 1e-12f /* m */

/* Two grains at one place have no line of centres: one is made up from where they are stored, opposite for the two. */
WIDE_INLINE void part_coincident(const int32_t *grains, const int32_t *partners, Vec *offset, WideInt together) {
  for (int l = 0; l < LANES; l++) {
    int64_t i = grains[l], j = partners[l];
    if (!together[l]) continue;
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    uint32_t bits = (uint32_t)low * 2654435761u ^ (uint32_t)high * 2246822519u;
    float sign = i < j ? 1.0f : -1.0f;
    offset->x[l] = sign * ((float)(bits & 1023) - 511.5f);
    offset->y[l] = sign * ((float)(bits >> 10 & 1023) - 511.5f);
    offset->z[l] = sign * ((float)(bits >> 20 & 1023) - 511.5f);
  }
}

/* What a lane of a slice has: its partners, and the row of the memory. */
typedef struct Lane {
  const int32_t *found, *keys;
  int64_t count, held;
  int32_t row; /* of the memory */
} Lane;

WIDE_INLINE Lane lane_of(const PositionStep *work, int32_t i) {
  const ContactMemory *memory = work->memory;
  if (i >= work->count) return (Lane){.count = 0};
  Lane lane = {.found = position_found(work, i), .count = work->found_count[i]};
  if (!memory) return lane;
  int64_t row;
  lane.held = contact_memory_row(memory, i, &row);
  lane.row = (int32_t)row;
  lane.keys = (const int32_t *)memory->key + row;
  return lane;
}

/* Where the memory has the force with a partner; 0, where it is zero, when it has none. */
WIDE_INLINE int32_t kept_place(const Lane *lane, uint32_t key) {
  const WideInt wanted = (int32_t)key - (WideInt){0};
  for (int64_t k = 0; k < lane->held; k += LANES) {
    unsigned bits = wide_bits(wide_int_equal(wide_load_int(lane->keys + k), wanted));
    if (lane->held - k < LANES) bits &= (1u << (lane->held - k)) - 1;
    if (bits) return lane->row + (int32_t)k + __builtin_ctz(bits);
  }
  return 0;
}

/* Fills the slots of pairs; lanes that have none in a group get an unused slot. */
void KERNEL(position_slot_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  const ContactMemory *memory = work->memory;
  const uint32_t *id = work->step->state->particles.id;
  Wide zero = wide_set(0), one = wide_set(1), scale = wide_set(work->history_scale);
  for (int64_t s = b; s < e; s++) {
    const int32_t *grains = slots->grain + s * SLICE;
    Lane lanes[LANES];
    Vec at, low;
    Wide radius, material;
    for (int l = 0; l < LANES; l++) lanes[l] = lane_of(work, grains[l]);
    wide_gather4(work->at, grains, &at.x, &at.y, &at.z, &radius);
    wide_gather4(work->low, grains, &low.x, &low.y, &low.z, &material);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t k = g - slots->begin[s], slot = g * SLICE;
      int32_t partners[LANES], places[LANES], used_lanes[LANES];
      for (int l = 0; l < LANES; l++) {
        bool has = k < lanes[l].count;
        partners[l] = has ? lanes[l].found[k] : grains[l];
        places[l] = has ? kept_place(&lanes[l], id[partners[l]]) : 0;
        used_lanes[l] = has ? -1 : 0;
      }
      WideInt used = wide_load_int(used_lanes);
      Vec other, other_low;
      Wide other_radius, other_material;
      wide_gather4(work->at, partners, &other.x, &other.y, &other.z, &other_radius);
      wide_gather4(work->low, partners, &other_low.x, &other_low.y, &other_low.z, &other_material);
      Vec offset = vec_add(vec_sub(at, other), vec_sub(low, other_low));
      Wide length = wide_sqrt(vec_dot(offset, offset)), straight = length;
      WideInt together = used & wide_less(length, wide_set(POSITION_COINCIDENT));
      if (__builtin_expect(wide_bits(together) != 0, 0)) {
        part_coincident(grains, partners, &offset, together);
        straight = wide_sqrt(vec_dot(offset, offset));
      }
      Vec normal = vec_mul(offset, one / wide_max(straight, wide_set(TINY)));
      Wide mu_static = zero, mu_kinetic = zero, pressed = zero;
      Vec friction = vec_zero();
      load_mu(work, material, other_material, &mu_static, &mu_kinetic);
      if (memory) {
        wide_gather4((const float(*)[POSITION_KEPT])memory->kept, places, &pressed, &friction.x, &friction.y,
                     &friction.z);
        pressed = pressed * scale;
        friction = tangential(vec_mul(friction, scale), normal);
      }
      memcpy(slots->partner + slot, partners, sizeof partners);
      wide_store(slots->nx + slot, normal.x);
      wide_store(slots->ny + slot, normal.y);
      wide_store(slots->nz + slot, normal.z);
      wide_store(slots->apart + slot, length);
      wide_store(slots->distance + slot, wide_select(used, radius + other_radius, wide_set(POSITION_NEVER)));
      wide_store(slots->mu_static + slot, wide_select(used, mu_static, zero));
      wide_store(slots->mu_kinetic + slot, wide_select(used, mu_kinetic, zero));
      wide_store(slots->ln + slot, pressed);
      store_friction(slots, slot, friction);
    }
  }
}

/* Remembers what acts. The rows of a slice take the places of its slots, grain by grain: no two slices meet, and no
 * count is needed. */
void KERNEL(position_keep_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  const uint32_t *id = work->step->state->particles.id;
  ContactMemory *memory = work->memory;
  for (int64_t s = b; s < e; s++) {
    int64_t width = slots->begin[s + 1] - slots->begin[s], first = 1 + slots->begin[s] * SLICE, place[LANES];
    for (int l = 0; l < LANES; l++) place[l] = first + l * width;
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      Wide ln = wide_load(slots->ln + g * SLICE); /* it presses or, by adhesion, pulls */
      unsigned acts = wide_bits(wide_less(wide_set(0), ln) | wide_less(ln, wide_set(0)));
      for (; acts; acts &= acts - 1) {
        int l = __builtin_ctz(acts);
        int64_t at = g * SLICE + l, to = place[l]++;
        int32_t partner = slots->partner[at];
        const float kept[POSITION_KEPT] = {slots->ln[at], slots->ltx[at], slots->lty[at], slots->ltz[at]};
        memory->key[to] = partner < work->padded ? id[partner] : position_ghost_key(work, partner - work->padded);
        memcpy(memory->kept + to * POSITION_KEPT, kept, sizeof kept);
      }
    }
    for (int l = 0; l < LANES; l++) {
      int32_t i = slots->grain[s * SLICE + l];
      if (i >= work->count) continue;
      memory->row[i] = (uint32_t)(first + l * width);
      memory->held[i] = (uint32_t)(place[l] - first - l * width);
    }
  }
}

/* The last step's multipliers push before the first iteration. */
void KERNEL(position_warm_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->d4, slots, s);
    Vec sum = vec_zero();
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Vec normal = {wide_load(slots->nx + at), wide_load(slots->ny + at), wide_load(slots->nz + at)};
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
  Wide slop = wide_set(work->slop), most = wide_set(POSITION_SLOP_MOST);
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->shift, slots, s);
    own.fourth = wide_gather(work->wn, wide_load_int(slots->grain + s * SLICE)); /* a method may have changed it */
    Vec sum = vec_zero();
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      Touch t = touch(slots, g, work->shift, own.d, own.fourth);
      Wide distance = wide_load(slots->distance + g * SLICE);
      Wide depth = wide_max(distance - wide_min(slop, distance * most) - t.apart, wide_set(0));
      sum = vec_add(sum, vec_mul(t.normal, depth * share / t.weight));
    }
    move_rows(work, s, own, sum);
  }
}

/* After it: offsets take the shift in; what overlap is left must not turn into speed, so such a pair may stay as
 * close as it is but come no closer. */
void KERNEL(position_settle_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->shift, slots, s);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->shift, own.d, own.fourth);
      wide_store(slots->apart + at, t.apart);
      if (!work->settings->averaging)
        wide_store(slots->distance + at, wide_min(wide_load(slots->distance + at), t.apart));
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
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->d4, slots, s);
    Vec sum = vec_zero();
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->d4, own.d, own.fourth);
      Wide share = one / t.weight;
      Wide before = wide_load(slots->ln + at);
      Wide normal = wide_max(before + (wide_load(slots->distance + at) - t.apart) * share, wide_set(0));
      wide_store(slots->ln + at, normal);
      Vec slide = tangential(t.relative, t.normal);
      Vec held = load_friction(slots, at);
      Vec friction = vec_sub(held, vec_mul(slide, share));
      Wide size = wide_sqrt(vec_dot(friction, friction));
      WideInt slips = size > wide_load(slots->mu_static + at) * normal;
      Wide cut = wide_load(slots->mu_kinetic + at) * normal / wide_max(size, wide_set(TINY));
      friction = vec_mul(friction, wide_select(slips, wide_min(cut, wide_set(1)), wide_set(1)));
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
  Vec friction, push;
  WideInt touches;
} PrintedPush;

WIDE_INLINE PrintedPush printed_push(const PositionSlots *slots, int64_t at, const Touch *t, Wide printed) {
  Wide zero = wide_set(0), one = wide_set(1);
  Wide distance = wide_load(slots->distance + at), depth = distance - t->apart;
  PrintedPush p = {.touches = depth > zero};
  Wide share = wide_select(p.touches, one / t->weight, zero);
  Wide limit = depth + printed * (distance - depth);
  Vec slide = tangential(t->relative, t->normal);
  Wide size = wide_sqrt(vec_dot(slide, slide));
  Wide kinetic = wide_min(wide_load(slots->mu_kinetic + at) * limit / wide_max(size, wide_set(TINY)), one);
  Wide hold = wide_select(size < wide_load(slots->mu_static + at) * limit, one, kinetic);
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
  Wide zero = wide_set(0), one = wide_set(1), printed = wide_set(work->settings->printed_limit);
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->d4, slots, s);
    Vec sum = vec_zero();
    Wide touching = zero;
    /* rows hold w alone in this mode: t.weight is w_i + w_j */
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      Touch t = touch(slots, g, work->d4, own.d, own.fourth);
      PrintedPush p = printed_push(slots, g * SLICE, &t, printed);
      touching = touching + wide_select(p.touches, one, zero);
      sum = vec_add(sum, p.push);
    }
    Wide average = wide_set(work->settings->relaxation) / wide_max(touching, one);
    move_rows(work, s, own, vec_mul(sum, average));
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->d4, own.d, own.fourth);
      PrintedPush p = printed_push(slots, at, &t, printed);
      wide_store(slots->ln + at, wide_load(slots->ln + at) + p.normal * average);
      store_friction(slots, at, vec_add(load_friction(slots, at), vec_mul(p.friction, average)));
    }
  }
}
