/* Passes over the contact slots, eight grains abreast. Ranges are slices. Each grain reads its partners' rows and
 * writes its own, so any number of threads gives the same bits. */
#include "methods/common/position_kernels.h"

#include <string.h>

#include "methods/common/position_wide.h"

/* Pairs whose predicted gap is below the margin, in the order of the list. At most four floats of a grain are looked
 * at: where it would be (d4 + at) and its radius. */
void KERNEL(position_find_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const NeighborList *list = &work->step->state->contacts.particles.list;
  Wide margin = wide_set(work->margin);
  for (int64_t i = b; i < e; i++) {
    const float *own = work->predicted[i];
    Wide x = wide_set(own[0]), y = wide_set(own[1]), z = wide_set(own[2]), radius = wide_set(own[3]) + margin;
    int64_t begin = list->start[i], end = list->start[i + 1];
    int32_t *found = work->found + begin;
    int32_t count = 0;
    for (int64_t k = begin; k < end; k += LANES) {
      int32_t partners[LANES];
      int64_t left = end - k < LANES ? end - k : LANES;
      for (int l = 0; l < LANES; l++) partners[l] = list->index[l < left ? k + l : k];
      Wide ox, oy, oz, reach;
      wide_gather4(work->predicted, partners, &ox, &oy, &oz, &reach);
      ox = ox - x;
      oy = oy - y;
      oz = oz - z;
      reach = reach + radius;
      WideInt near = ox * ox + oy * oy + oz * oz < reach * reach;
      for (int l = 0; l < left; l++) {
        found[count] = (int32_t)(k - begin) + l;
        count -= near[l];
      }
    }
    work->found_count[i] = count;
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
WIDE_INLINE void part_coincident(const int32_t *partners, int64_t first, Vec *offset, WideInt together) {
  for (int l = 0; l < LANES; l++) {
    int64_t i = first + l, j = partners[l];
    if (!together[l]) continue;
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    uint32_t bits = (uint32_t)low * 2654435761u ^ (uint32_t)high * 2246822519u;
    float sign = i < j ? 1.0f : -1.0f;
    offset->x[l] = sign * ((float)(bits & 1023) - 511.5f);
    offset->y[l] = sign * ((float)(bits >> 10 & 1023) - 511.5f);
    offset->z[l] = sign * ((float)(bits >> 20 & 1023) - 511.5f);
  }
}

/* Where the memory has the force of grain i with a partner; 0, where it is zero, when it has none. */
WIDE_INLINE int32_t kept_place(const PositionMemory *memory, int64_t i, uint32_t key) {
  int64_t first = memory->row[i], held = memory->held[i];
  if (first + held > memory->places) return 0;
  const int32_t *keys = (const int32_t *)memory->key + first;
  const WideInt wanted = (int32_t)key - (WideInt){0};
  for (int64_t k = 0; k < held; k += LANES) {
    unsigned bits = wide_bits(wide_int_equal(wide_load_int(keys + k), wanted));
    if (held - k < LANES) bits &= (1u << (held - k)) - 1;
    if (bits) return (int32_t)(first + k) + __builtin_ctz(bits);
  }
  return 0;
}

/* Fills the slots of pairs; lanes that have none in a group get an unused slot. */
void KERNEL(position_slot_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  const PositionMemory *memory = work->memory;
  const NeighborList *list = &work->step->state->contacts.particles.list;
  const uint32_t *id = work->step->state->particles.id;
  Wide zero = wide_set(0), one = wide_set(1), scale = wide_set(work->history_scale);
  static const int32_t lanes[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int64_t s = b; s < e; s++) {
    int64_t first = s * SLICE;
    Vec at, low;
    Wide radius, material;
    wide_gather4(work->at + first, lanes, &at.x, &at.y, &at.z, &radius);
    wide_gather4(work->low + first, lanes, &low.x, &low.y, &low.z, &material);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t k = g - slots->begin[s], slot = g * SLICE;
      int32_t partners[LANES], places[LANES];
      WideInt used = {0};
      for (int l = 0; l < LANES; l++) {
        bool has = first + l < work->count && k < work->found_count[first + l];
        int64_t row = has ? list->start[first + l] : 0;
        partners[l] = has ? list->index[row + work->found[row + k]] : (int32_t)(first + l);
        places[l] = has && memory ? kept_place(memory, first + l, id[partners[l]]) : 0;
        used[l] = has ? -1 : 0;
      }
      Vec other, other_low;
      Wide other_radius, other_material;
      wide_gather4(work->at, partners, &other.x, &other.y, &other.z, &other_radius);
      wide_gather4(work->low, partners, &other_low.x, &other_low.y, &other_low.z, &other_material);
      Vec offset = vec_add(vec_sub(at, other), vec_sub(low, other_low));
      Wide length = wide_sqrt(vec_dot(offset, offset));
      WideInt together = used & (length < wide_set(POSITION_COINCIDENT));
      if (wide_sum(wide_select(together, one, zero)) > 0) part_coincident(partners, first, &offset, together);
      Wide straight = wide_max(wide_sqrt(vec_dot(offset, offset)), wide_set(TINY));
      Vec normal = vec_mul(offset, one / straight);
      Wide mu_static = zero, mu_kinetic = zero, pressed = zero;
      Vec friction = vec_zero();
      load_mu(work, material, other_material, &mu_static, &mu_kinetic);
      if (memory) {
        wide_gather4(memory->kept, places, &pressed, &friction.x, &friction.y, &friction.z);
        Wide kept = wide_select(used, scale, zero);
        pressed = pressed * kept;
        friction = tangential(vec_mul(friction, kept), normal);
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

/* The last step's multipliers push before the first iteration. */
void KERNEL(position_warm_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  for (int64_t s = b; s < e; s++) {
    Vec own = own_rows(work->d4, s), sum = vec_zero();
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Vec normal = {wide_load(slots->nx + at), wide_load(slots->ny + at), wide_load(slots->nz + at)};
      sum = vec_add(sum, vec_add(load_friction(slots, at), vec_mul(normal, wide_load(slots->ln + at))));
    }
    store_rows(work->next, s, vec_add(own, vec_mul(sum, wide_load(work->w + s * SLICE))), work->wn);
  }
}

/* Stabilisation (Sommer's Algorithm 1, lines 7 to 12): overlap at the step's start, shared by mass splitting, moves
 * the start itself. */
void KERNEL(position_shift_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  Wide share = wide_set(work->settings->shift_share > 0 ? work->settings->shift_share : 1);
  for (int64_t s = b; s < e; s++) {
    Vec own = own_rows(work->shift, s), sum = vec_zero();
    Wide weight = wide_load(work->wn + s * SLICE);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      Touch t = touch(slots, g, work->shift, own, weight);
      Wide depth = wide_max(wide_load(slots->distance + g * SLICE) - t.apart, wide_set(0));
      sum = vec_add(sum, vec_mul(t.normal, depth * share / t.weight));
    }
    store_rows(work->next, s, vec_add(own, vec_mul(sum, wide_load(work->w + s * SLICE))), work->wn);
  }
}

/* After it: offsets take the shift in; what overlap is left must not turn into speed, so such a pair may stay as
 * close as it is but come no closer. */
void KERNEL(position_settle_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  for (int64_t s = b; s < e; s++) {
    Vec own = own_rows(work->shift, s);
    Wide weight = wide_load(work->wn + s * SLICE);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->shift, own, weight);
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
    Vec own = own_rows(work->d4, s), sum = vec_zero();
    Wide weight = wide_load(work->wn + s * SLICE);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->d4, own, weight);
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
    store_rows(work->next, s, vec_add(own, vec_mul(sum, wide_load(work->w + s * SLICE))), work->wn);
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
    Vec own = own_rows(work->d4, s), sum = vec_zero();
    Wide w = wide_load(work->w + s * SLICE), touching = zero;
    /* rows hold w alone in this mode: t.weight is w_i + w_j */
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      Touch t = touch(slots, g, work->d4, own, w);
      PrintedPush p = printed_push(slots, g * SLICE, &t, printed);
      touching = touching + wide_select(p.touches, one, zero);
      sum = vec_add(sum, p.push);
    }
    Wide average = wide_set(work->settings->relaxation) / wide_max(touching, one);
    store_rows(work->next, s, vec_add(own, vec_mul(sum, average * w)), work->w);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->d4, own, w);
      PrintedPush p = printed_push(slots, at, &t, printed);
      wide_store(slots->ln + at, wide_load(slots->ln + at) + p.normal * average);
      store_friction(slots, at, vec_add(load_friction(slots, at), vec_mul(p.friction, average)));
    }
  }
}
