/* Passes over the slots, eight grains abreast: each grain gathers the corrections of its own contacts. */
#include "methods/p2/p2_kernels.h"

#include "methods/common/position_wide.h"
#include "methods/p2/p2_law.h"

/* A slot before a pass. */
typedef struct Contact {
  SlotTouch slot;
  P2Multipliers multipliers;
  Mask acts;
} Contact;

WIDE_INLINE Contact contact_load(const PositionStep *work, const P2Contacts *contacts, int64_t row, SlotTouch slot,
                                 bool averaging) {
  const PositionSlots *slots = &work->layout.slots;
  const int64_t at = row * SLICE;
  Contact c = {.slot = slot};
  LaneVec3 roll = vec_zero();
  if (contacts->roll[0]) roll = lane_load3(contacts->roll[0] + at, contacts->roll[1] + at, contacts->roll[2] + at);
  c.slot.touch = p2_touch(slot.touch, slot.gap, wide_load(slots->soft + at), roll);
  c.multipliers = (P2Multipliers){load_multipliers(slots, at), wide_load(contacts->pull + at)};
  c.acts = p2_acts(c.slot.touch.gap, wide_load(contacts->within + at), c.multipliers.sum.normal);
  if (!averaging && !work->settings->memory) /* what is not remembered begins with nothing in every substep */
    c.multipliers = (P2Multipliers){{real(0), vec_zero()}, real(0)};
  return c;
}

/* New multipliers of one contact; adds what they push the grain by. */
WIDE_INLINE Pushes contact_solve(const PositionStep *work, const P2Contacts *contacts, const Frictions *frictions,
                                 int64_t row, Own own, SlotTouch slot, bool averaging, Real average, bool turning,
                                 Pushes sum) {
  const PositionSlots *slots = &work->layout.slots;
  const int64_t at = row * SLICE;
  const Contact c = contact_load(work, contacts, row, slot, averaging);
  const P2Constants constants = {wide_load(contacts->spring + at), wide_load(contacts->damper + at),
                                 wide_load(contacts->cap + at), wide_load(contacts->grip + at)};
  P2Multipliers after = p2_contact(c.multipliers, c.slot.touch, slot_slide(work, row, own, c.slot, turning), constants,
                                   friction_at(frictions, slots, at), c.acts, averaging, average);
  store_multipliers(slots, at, after.sum);
  wide_store(contacts->pull + at, after.pull);
  LaneVec3 push = position_change(c.multipliers.sum, c.slot.before, after.sum, c.slot.touch.normal);
  if (contacts->tilt)
    push = vec_mul(push, p2_upper_share(wide_load(contacts->tilt + at), own.weight, c.slot.touch.weight));
  sum.push = vec_add(sum.push, push);
  if (turning)
    sum.torque = position_torque_change(sum.torque, c.multipliers.sum, after.sum, c.slot.touch.normal,
                                        rolling_at(frictions, slots, at));
  return sum;
}

/* The sum of what the contacts of slot rows [begin, end) push their grains with. `kept` are their normals of before. */
WIDE_INLINE Pushes solve_rows(const PositionStep *work, const Frictions *frictions, int64_t begin, int64_t end, Own own,
                              const PositionNormals *kept, bool turning) {
  const P2Contacts *contacts = work->method_contacts;
  Pushes sum = no_pushes();
  for (int64_t row = begin; row < end; row++, kept++)
    sum = contact_solve(work, contacts, frictions, row, own, substep_touch(work, row, own, kept), false, real(1),
                        turning, sum);
  return sum;
}

/* One batch of a slice; as pbd's. */
WIDE_INLINE void solve_slice(const PositionStep *work, const Frictions *frictions, int64_t s, Brought *brought,
                             bool turning) {
  const PositionSlots *slots = &work->layout.slots;
  const int batch = work->batch;
  Own own = load_own(work, s, turning);
  int64_t begin = position_rows_begin(slots, s, batch), end = position_rows_begin(slots, s, batch + 1);
  const PositionNormals *kept = brought_rows(brought, end - begin);
  Pushes pushes = solve_rows(work, frictions, begin, end, own, kept, turning);
  own.d = solved(work, s, own.d, pushes.push);
  if (turning) own.turn = turned(work, s, pushes.torque);
  if (batch < POSITION_BOUNDARY_BATCH - 1) {
    end_batch(work, s, own.d, batch + 1);
    return;
  }
  begin = end, end = position_slice_begin(slots, s + 1);
  own.weight = wide_load(work->rows.lanes.split[POSITION_BOUNDARY_BATCH] + s * SLICE);
  kept = brought_rows(brought, end - begin);
  pushes = solve_rows(work, frictions, begin, end, own, kept, turning);
  own.d = solved(work, s, own.d, pushes.push);
  if (turning) end_turn(work, s, turned(work, s, pushes.torque));
  end_substep(work, s, own.d);
}

/* One batch of a substep. */
WIDE_INLINE void solve_batch(const PositionStep *work, int64_t b, int64_t e, int thread, bool turning) {
  const Frictions frictions = frictions_of(work);
  Brought brought = bring_nobody(work, b, thread);
  for (int64_t s = b; s < e; s++) {
    if (s >= brought.end) bring_slices(work, s, e, &brought);
    solve_slice(work, &frictions, s, &brought, turning);
  }
}

void KERNEL(p2_batch_pass)(void *context, int64_t b, int64_t e, int thread) {
  solve_batch(context, b, e, thread, false);
}

/* The same where grains turn. */
void KERNEL(p2_turning_batch_pass)(void *context, int64_t b, int64_t e, int thread) {
  solve_batch(context, b, e, thread, true);
}

/* One iteration as in the paper, averaged (Eq. 9): n is what acts in this iteration. */
void KERNEL(p2_average_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const PositionStep *work = context;
  const PositionSlots *slots = &work->layout.slots;
  const P2Contacts *contacts = work->method_contacts;
  const Frictions frictions = frictions_of(work);
  for (int64_t s = b; s < e; s++) {
    const Own own = load_own(work, s, false);
    const Rows start = own_rows(work->rows.last, slots, s);
    int64_t begin = position_slice_begin(slots, s), end = position_slice_begin(slots, s + 1);
    Real count = real(0);
    Pushes sum = no_pushes();
    for (int64_t row = begin; row < end; row++) {
      const SlotTouch slot = iteration_touch(work, row, own, start);
      count = count + real_select(contact_load(work, contacts, row, slot, true).acts, real(1), real(0));
    }
    const Real average = position_average(count, 1);
    for (int64_t row = begin; row < end; row++)
      sum = contact_solve(work, contacts, &frictions, row, own, iteration_touch(work, row, own, start), true, average,
                          false, sum);
    set_rows(work->rows.next, slots, s, pushed_by(work, s, own.d, sum.push), own.weight);
  }
}
