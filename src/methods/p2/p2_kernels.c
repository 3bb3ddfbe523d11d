/* One iteration over the slots, eight grains abreast: each grain gathers the corrections of its own contacts. */
#include "methods/p2/p2_kernels.h"

#include "methods/common/position_wide.h"
#include "methods/p2/p2_law.h"

/* A slot before an iteration. */
typedef struct Contact {
  PositionTouch touch;
  P2Multipliers multipliers;
  Mask acts;
} Contact;

WIDE_INLINE Contact contact_load(const PositionStep *work, const P2Contacts *contacts, int64_t g, Rows own) {
  const PositionSlots *slots = &work->layout.slots;
  int64_t at = g * SLICE;
  Contact c = {.touch = load_touch(slots, g, work->rows.now, own)};
  if (contacts->roll[0]) {
    LaneVec3 roll = lane_load3(contacts->roll[0] + at, contacts->roll[1] + at, contacts->roll[2] + at);
    c.touch.relative = vec_sub(c.touch.relative, roll);
  }
  c.multipliers = (P2Multipliers){load_multipliers(slots, at), wide_load(contacts->pull + at)};
  c.acts = p2_acts(c.touch.gap, wide_load(contacts->within + at), c.multipliers.sum.normal);
  return c;
}

/* New multipliers of one contact; returns what they push the grain by. */
WIDE_INLINE LaneVec3 contact_solve(const PositionStep *work, const P2Contacts *contacts, const Frictions *frictions,
                                   int64_t g, Rows own, bool averaging, Real average) {
  const PositionSlots *slots = &work->layout.slots;
  int64_t at = g * SLICE;
  Contact c = contact_load(work, contacts, g, own);
  P2Constants constants = {wide_load(contacts->spring + at), wide_load(contacts->damper + at),
                           wide_load(contacts->cap + at)};
  P2Multipliers after =
      p2_contact(c.multipliers, c.touch, constants, friction_at(frictions, slots, at), c.acts, averaging, average);
  store_multipliers(slots, at, after.sum);
  wide_store(contacts->pull + at, after.pull);
  LaneVec3 push = position_change(c.multipliers.sum, after.sum, c.touch.normal);
  if (contacts->tilt) push = vec_mul(push, p2_upper_share(wide_load(contacts->tilt + at), own.fourth, c.touch.weight));
  return push;
}

WIDE_INLINE void solve_slices(const PositionStep *work, int64_t b, int64_t e, bool averaging) {
  const PositionSlots *slots = &work->layout.slots;
  const P2Contacts *contacts = work->method_contacts;
  const Frictions frictions = frictions_of(work);
  for (int64_t s = b; s < e; s++) {
    Rows own = own_rows(work->rows.now, slots, s);
    LaneVec3 sum = vec_zero();
    Real average = real(1);
    if (averaging) { /* Eq. 9: n is what acts in this iteration */
      Real count = real(0);
      for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++)
        count = count + real_select(contact_load(work, contacts, g, own).acts, real(1), real(0));
      average = position_average(count, 1);
    }
    for (int64_t g = slots->begin[s]; g < slots->begin[s + 1]; g++)
      sum = vec_add(sum, contact_solve(work, contacts, &frictions, g, own, averaging, average));
    move_rows(work, s, own, sum);
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
