/* Solves the contacts of one batch: see position.h. Here a step spends most of its time. */

/* A contact keeps some thirty values: of eight lanes each they are twice what sixteen registers of four hold. */
#ifndef __AVX__
#define SIMD_HALVES
#endif
#include "methods/common/position_kernels.h"

#include "methods/common/position_wide.h"

#ifdef SIMD_HALVES
/* The step as its kernels see it that begin with the fifth lane of each slice: what stands lane by lane begins there.
 * Rows are those of grains. */
static PositionStep upper_half(const PositionStep *work) {
  enum { HALF = LANES / 2 };
  PositionStep upper = *work;
  PositionSlots *slots = &upper.layout.slots;
  PositionLanes *lanes = &upper.rows.lanes;
  PositionTurns *turns = &upper.turns;
  float **const arrays[] = {&slots->ln, &slots->ltx, &slots->lty,    &slots->ltz, &slots->nx,   &slots->ny,
                            &slots->nz, &slots->gap, &lanes->radius, &lanes->w,   &lanes->falls};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) *arrays[k] += HALF;
  for (int c = 0; c < 3; c++) lanes->total[c] += HALF, lanes->push[c] += HALF, lanes->left[c] += HALF;
  for (int k = 0; k < POSITION_BATCHES; k++) lanes->split[k] += HALF;
  if (work->turning) {
    for (int c = 0; c < 3; c++) turns->before[c] += HALF, turns->torque[c] += HALF;
    turns->resistance += HALF, turns->turns += HALF;
  }
  slots->grain += HALF, slots->partner += HALF;
  if (slots->kind) slots->kind += HALF;
  return upper;
}
#endif

/* What bonds of a row of slots hold at most. */
WIDE_INLINE Real bond_cap(const PositionStep *work, const Frictions *frictions, int64_t s, int64_t row, SlotTouch slot,
                          PositionMultipliers before) {
  const PositionSlots *slots = &work->layout.slots;
  const int64_t at = row * SLICE;
  const Real radius = wide_load(work->rows.lanes.radius + s * SLICE);
  return position_bond(before, slot.start, tension_at(frictions, slots, at), radius,
                       gather_rows(work->rows.last, slots->partner + at).fourth);
}

/* What the contacts of slot rows [begin, end) of a slice push its grains with. `kept` are their normals of before. */
WIDE_INLINE Pushes solve_rows(const PositionStep *work, const Frictions *frictions, int64_t s, int64_t begin,
                              int64_t end, Own own, const PositionNormals *kept, bool bonds, bool turning) {
  const PositionSlots *slots = &work->layout.slots;
  const bool memory = work->settings->memory;
  Pushes sum = no_pushes();
  for (int64_t row = begin; row < end; row++, kept++) {
    int64_t at = row * SLICE;
    SlotTouch slot = substep_touch(work, row, own, kept);
    PositionMultipliers before = load_multipliers(slots, at);
    if (!memory) before = (PositionMultipliers){real(0), vec_zero()};
    PositionFriction mu = friction_at(frictions, slots, at);
    PositionSlide slide = slot_slide(work, row, own, slot, turning);
    PositionMultipliers after;
    if (bonds) {
      Real cap = bond_cap(work, frictions, s, row, slot, before);
      after = position_bonded_contact(before, slot.touch, slide, mu, slot.start, cap);
    } else after = position_contact(before, slot.touch, slide, mu);
    store_multipliers(slots, at, after);
    sum.push = vec_add(sum.push, position_change(before, slot.before, after, slot.touch.normal));
    if (turning)
      sum.torque =
          position_torque_change(sum.torque, before, after, slot.touch.normal, rolling_at(frictions, slots, at));
  }
  return sum;
}

/* One batch of a slice. With the last of pairs the boundary batch is solved too: it reads no other grain. Nothing
 * sticks to solids. */
WIDE_INLINE void solve_slice(const PositionStep *work, const Frictions *frictions, int64_t s, Brought *brought,
                             bool bonds, bool turning) {
  const PositionSlots *slots = &work->layout.slots;
  const int batch = work->batch;
  Own own = load_own(work, s, turning);
  int64_t begin = position_rows_begin(slots, s, batch), end = position_rows_begin(slots, s, batch + 1);
  const PositionNormals *kept = brought_rows(brought, end - begin);
  Pushes pushes = solve_rows(work, frictions, s, begin, end, own, kept, bonds, turning);
  own.d = solved(work, s, own.d, pushes.push);
  if (turning) own.turn = turned(work, s, pushes.torque);
  if (batch < POSITION_BOUNDARY_BATCH - 1) {
    end_batch(work, s, own.d, batch + 1);
    return;
  }
  begin = end, end = position_slice_begin(slots, s + 1);
  own.weight = wide_load(work->rows.lanes.split[POSITION_BOUNDARY_BATCH] + s * SLICE);
  if (begin < end) {
    kept = brought_rows(brought, end - begin);
    pushes = solve_rows(work, frictions, s, begin, end, own, kept, false, turning);
    own.d = solved(work, s, own.d, pushes.push);
    if (turning) own.turn = turned(work, s, pushes.torque);
  }
  if (turning) end_turn(work, s, own.turn);
  end_substep(work, s, own.d);
}

/* One batch of as many slices as are brought on together, from b on; returns the one behind them. */
WIDE_INLINE int64_t solve_window(const PositionStep *work, int64_t b, int64_t e, int thread, bool bonds, bool turning) {
  const Frictions frictions = frictions_of(work);
  Brought brought = bring_nobody(work, b, thread);
  bring_slices(work, b, e, &brought);
  for (int64_t s = b; s < brought.end; s++) solve_slice(work, &frictions, s, &brought, bonds, turning);
  return brought.end;
}

/* One batch of a substep. */
WIDE_INLINE void solve_batch(const PositionStep *work, int64_t b, int64_t e, int thread, bool bonds, bool turning) {
#ifdef SIMD_HALVES
  const PositionStep upper = upper_half(work);
  while (b < e) {
    solve_window(work, b, e, thread, bonds, turning);
    b = solve_window(&upper, b, e, thread, bonds, turning);
  }
#else
  while (b < e) b = solve_window(work, b, e, thread, bonds, turning);
#endif
}

void KERNEL(position_batch_pass)(void *context, int64_t b, int64_t e, int thread) {
  solve_batch(context, b, e, thread, false, false);
}

/* The same where grains are cohesive. */
void KERNEL(position_bond_pass)(void *context, int64_t b, int64_t e, int thread) {
  solve_batch(context, b, e, thread, true, false);
}

/* The same two where grains turn. */
void KERNEL(position_turning_batch_pass)(void *context, int64_t b, int64_t e, int thread) {
  solve_batch(context, b, e, thread, false, true);
}

void KERNEL(position_turning_bond_pass)(void *context, int64_t b, int64_t e, int thread) {
  solve_batch(context, b, e, thread, true, true);
}
