/* One iteration over the slots, eight grains abreast: each grain gathers the corrections of its own contacts. */
#include "methods/p2/p2_kernels.h"

#include "methods/common/position_wide.h"

/* A slot before and after an iteration. */
typedef struct Contact {
  Touch touch;
  Wide gap, along; /* C_s and C_d of Eq. 22 and 17 */
  WideInt acts;
  Wide normal, pull; /* multipliers */
  LaneVec3 friction;
} Contact;

/* Decided once a step, at the prediction (`within`); a contact that others close during the iterations joins and
 * stays. For a contact that nothing else disturbs this is the decision at the prediction alone. */
WIDE_INLINE Contact contact_load(const PositionStep *work, const P2Law *law, int64_t g, LaneVec3 own, Wide weight) {
  const PositionSlots *slots = &work->slots;
  int64_t at = g * SLICE;
  Contact c = {.touch = touch(slots, g, work->d4, own, weight)};
  c.gap = c.touch.gap;
  if (law->roll[0]) {
    LaneVec3 roll = {wide_load(law->roll[0] + at), wide_load(law->roll[1] + at), wide_load(law->roll[2] + at)};
    c.touch.relative = vec_sub(c.touch.relative, roll);
  }
  c.along = vec_dot(c.touch.relative, c.touch.normal);
  c.normal = wide_load(slots->ln + at);
  c.pull = wide_load(law->pull + at);
  c.friction = load_friction(slots, at);
  c.acts = (c.gap <= wide_load(law->within + at)) | (c.normal > wide_set(0));
  return c;
}

WIDE_INLINE Wide clamp_between(Wide v, Wide low, Wide high) { return wide_max(wide_min(v, high), low); }

/* Eq. 33 on the sum over the iterations, with adhesion in the cap: what the friction multiplier may be. */
WIDE_INLINE LaneVec3 coulomb(LaneVec3 wanted, Friction mu, Wide press, Wide cap) {
  Wide size = wide_sqrt(vec_dot(wanted, wanted));
  Wide kinetic = (mu.sliding * press + cap) / wide_max(size, wide_set(TINY));
  WideInt slips = size > mu.still * press + cap;
  return vec_mul(wanted, wide_select(slips, wide_min(kinetic, wide_set(1)), wide_set(1)));
}

/* Along the normal: what spring and damper press with and what adhesion pulls with. */
typedef struct Normal {
  Wide press, pull;
} Normal;

/* As in the paper: Eq. 23 with the factors of Eq. 28; right after it adhesion, a damper that takes all of the opening,
 * up to its cap, and never pushes. `share` is what a unit of violation is worth. */
WIDE_INLINE Normal normal_averaged(const Contact *c, Normal before, Wide spring, Wide damper, Wide cap, Wide share) {
  Wide zero = wide_set(0);
  Normal after;
  after.press = wide_max(before.press - (spring * c->gap + damper * c->along) * share, zero);
  Wide opening = c->along + (after.press - before.press) * c->touch.weight;
  after.pull = clamp_between(before.pull - opening * share, zero - cap, zero);
  return after;
}

/* With the forces as unknowns: the residual of the spring-damper's equation over its slope. Adhesion is found first,
 * as what it would take to hold the contact as it is against its spring: spring and adhesion then agree after one
 * iteration as after many, where the paper's order lets the damper swallow the spring. */
WIDE_INLINE Normal normal_split(const Contact *c, Normal before, Wide spring, Wide damper, Wide cap) {
  Wide zero = wide_set(0), one = wide_set(1), weight = c->touch.weight;
  Wide held = wide_max(spring * (c->along - c->gap) / wide_max(damper, wide_set(TINY)), zero);
  Normal after;
  after.pull = clamp_between(before.pull - c->along / weight - (held - before.press), zero - cap, zero);
  Wide residual =
      spring * c->gap + (one - spring) * c->along + (after.pull - before.pull) * weight + damper * before.press;
  after.press = wide_max(before.press - residual / (weight + damper), zero);
  return after;
}

/* New multipliers of one contact. */
WIDE_INLINE Contact contact_solve(const PositionStep *work, const P2Law *law, const Frictions *frictions, int64_t g,
                                  Contact c, bool averaging, Wide average) {
  int64_t at = g * SLICE;
  Wide share = average / c.touch.weight, cap = wide_load(law->cap + at);
  Wide spring = wide_load(law->spring + at), damper = wide_load(law->damper + at);
  Normal before = {c.normal - c.pull, c.pull};
  Normal now = averaging ? normal_averaged(&c, before, spring, damper, cap, share)
                         : normal_split(&c, before, spring, damper, cap);
  LaneVec3 wanted = vec_sub(c.friction, vec_mul(vec_tangential(c.touch.relative, c.touch.normal), share));
  LaneVec3 friction = coulomb(wanted, friction_at(frictions, &work->slots, at), now.press, cap);
  Contact after = c;
  after.normal = wide_select(c.acts, now.press + now.pull, c.normal);
  after.pull = wide_select(c.acts, now.pull, c.pull);
  after.friction =
      (LaneVec3){wide_select(c.acts, friction.x, c.friction.x), wide_select(c.acts, friction.y, c.friction.y),
                 wide_select(c.acts, friction.z, c.friction.z)};
  return after;
}

/* Error reduction (Eq. 37): the upper grain of a pair moves more. Shares are normalised so that the two together move
 * as far as without. */
WIDE_INLINE Wide upper_share(const P2Law *law, int64_t g, const Touch *t, Wide own) {
  Wide one = wide_set(1), tilt = wide_load(law->tilt + g * SLICE);
  Wide total = own * (one - tilt) + (t->weight - own) * (one + tilt);
  return (one - tilt) * t->weight / wide_max(total, wide_set(TINY));
}

WIDE_INLINE void solve_slices(const PositionStep *work, int64_t b, int64_t e, bool averaging) {
  const PositionSlots *slots = &work->slots;
  const P2Law *law = work->law;
  const Frictions frictions = frictions_of(work);
  Wide zero = wide_set(0), one = wide_set(1);
  for (int64_t s = b; s < e; s++) {
    Rows rows = own_rows(work->d4, slots, s);
    LaneVec3 own = rows.d, sum = vec_zero();
    Wide weight = rows.fourth, average = one;
    if (averaging) { /* Eq. 9: n is what acts in this iteration */
      Wide count = zero;
      for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++)
        count = count + wide_select(contact_load(work, law, g, own, weight).acts, one, zero);
      average = one / wide_max(count, one);
    }
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++) {
      int64_t at = g * SLICE;
      Contact c = contact_load(work, law, g, own, weight);
      Contact after = contact_solve(work, law, &frictions, g, c, averaging, average);
      wide_store(slots->ln + at, after.normal);
      wide_store(law->pull + at, after.pull);
      store_friction(slots, at, after.friction);
      LaneVec3 push = vec_add(vec_mul(c.touch.normal, after.normal - c.normal), vec_sub(after.friction, c.friction));
      if (law->tilt) push = vec_mul(push, upper_share(law, g, &c.touch, weight));
      sum = vec_add(sum, push);
    }
    move_rows(work, s, rows, sum);
  }
}

void KERNEL(p2_split_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  solve_slices(context, b, e, false);
}

void KERNEL(p2_average_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  solve_slices(context, b, e, true);
}
