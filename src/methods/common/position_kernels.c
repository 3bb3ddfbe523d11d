/* Passes over the contact slots, eight grains abreast. Ranges are slices. Each grain reads its partners' rows and
 * writes its own, so any number of threads gives the same bits. */
#include "methods/common/position_kernels.h"

#include "methods/common/position_wide.h"

/* The last step's multipliers push before the first iteration. */
void KERNEL(position_warm_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  for (int64_t s = b; s < e; s++) {
    Vec own = own_rows(work->d4, s), sum = vec_zero();
    Wide weight = wide_load(work->wn + s * SLICE);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->d4, own, weight);
      Vec friction = tangential(load_friction(slots, at), t.normal);
      store_friction(slots, at, friction);
      sum = vec_add(sum, vec_add(friction, vec_mul(t.normal, wide_load(slots->ln + at))));
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
  for (int64_t s = b; s < e; s++) {
    Vec own = own_rows(work->shift, s), sum = vec_zero();
    Wide weight = wide_load(work->wn + s * SLICE);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      Touch t = touch(slots, g, work->shift, own, weight);
      Wide depth = wide_max(wide_load(slots->distance + g * SLICE) - t.apart, wide_set(0));
      sum = vec_add(sum, vec_mul(t.normal, depth / t.weight));
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
      WideInt flat = wide_load_int(slots->flat + at);
      Wide along = vec_dot(t.normal, t.relative);
      Vec moved = {wide_select(flat, t.normal.x * along, t.relative.x),
                   wide_select(flat, t.normal.y * along, t.relative.y),
                   wide_select(flat, t.normal.z * along, t.relative.z)};
      Vec offset = vec_add(t.offset, moved);
      wide_store(slots->ox + at, offset.x);
      wide_store(slots->oy + at, offset.y);
      wide_store(slots->oz + at, offset.z);
      if (!work->settings->averaging)
        wide_store(slots->distance + at, wide_min(wide_load(slots->distance + at), t.apart));
    }
  }
}

/* One iteration with mass splitting: projected Jacobi on the multipliers. The normal multiplier stays >= 0 over the
 * sum of the iterations, friction stays inside Coulomb's cone of that sum, so the law holds for the step and not for
 * an iteration. Splitting every grain's mass by its number of contacts makes Jacobi converge, and both sides of a
 * contact get the same multiplier: momentum is kept to round-off. */
void KERNEL(position_split_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->slots;
  Wide relaxation = wide_set(work->settings->relaxation);
  for (int64_t s = b; s < e; s++) {
    Vec own = own_rows(work->d4, s), sum = vec_zero();
    Wide weight = wide_load(work->wn + s * SLICE);
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Touch t = touch(slots, g, work->d4, own, weight);
      Wide share = relaxation / t.weight;
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
