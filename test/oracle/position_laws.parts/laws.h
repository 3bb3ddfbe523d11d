/* Every law of pbd and p2, called once: numbers in, numbers out. Compiled with eight lanes and with one. */
#ifndef TEST_POSITION_LAWS_H
#define TEST_POSITION_LAWS_H

#include "../law_values.h"
#include "methods/common/position_law.h"
#include "methods/p2/p2_law.h"

enum { LAW_FOUND = 99 }; /* outputs */
#define LAW_RELAXATION 1.5f
#define LAW_LIMIT 0.02f

LANE_INLINE void put_multipliers(LawOutputs *out, PositionMultipliers m) {
  put(out, m.normal);
  put_vec(out, m.friction);
}

/* A contact at the step's start, and what is left of it in the next. */
LANE_INLINE void put_start(const Real in[LAW_INPUTS], LawOutputs *out, PositionMultipliers last) {
  LaneVec3 offset = position_offset(take_vec(in), take_vec(in + 3), take_vec(in + 6), take_vec(in + 9));
  LaneVec3 made_up = position_made_up_offset(int_from_real(in[0] * real(2e9f)), real_less(in[1], in[2]));
  put_vec(out, made_up);
  put_vec(out, position_normal(offset, real_sqrt(vec_dot(offset, offset))));
  put(out, position_penetration(offset, in[12] + real(1)));
  put_multipliers(out, position_remembered(last, real(0.25f)));
}

/* Grains that turn: a slide, what a contact does to the turn, and the turn, held (little friction) and not. */
LANE_INLINE void put_turns(const Real in[LAW_INPUTS], LawOutputs *out, PositionTouch t, PositionMultipliers before,
                           PositionMultipliers after, PositionFriction mu) {
  PositionTurn own = {take_vec(in + 6), real(3.5f)}, other = {take_vec(in + 18), real(1)};
  PositionSlide slide = position_turning_slide(t, own, in[12] * in[12], other, in[13] * in[13] + real(0.1f));
  put_vec(out, slide.way), put(out, slide.weight);
  put_multipliers(out, position_contact(before, t, slide, mu));
  PositionTorque torque =
      position_torque(position_no_torque(), before, t.normal, real(POSITION_ARM_PAIR) * in[15] * in[15]);
  torque = position_torque_change(torque, before, after, t.normal, real(POSITION_ARM_SOLID));
  torque = position_add_torque(torque, torque);
  put_vec(out, torque.friction), put(out, torque.resistance);
  PositionTurn free = position_turned(take_vec(in + 6), torque, real_less(in[7], real(0.5f)), in[12] * in[12]);
  torque.resistance = torque.resistance * real(100);
  PositionTurn held = position_turned(take_vec(in + 6), torque, real_less(in[7], real(0.5f)), in[12] * in[12]);
  put_vec(out, free.rim), put(out, free.yields), put_vec(out, held.rim), put(out, held.yields);
}

/* Inputs are in [-1, 1]. */
LANE_INLINE void laws_all(const Real in[LAW_INPUTS], LawOutputs *out) {
  LaneVec3 a = take_vec(in), b = take_vec(in + 3), normal = take_unit(in + 9);
  Real w = in[12] * in[12] + real(0.1f), other_w = in[13] * in[13], positive = in[14] + real(1);
  PositionFriction mu = {real(0.5f) + real(0.2f) * in[15], real(0.3f) + real(0.1f) * in[16]};
  PositionMultipliers before = {in[17], take_vec(in + 18)};
  put_start(in, out, before);

  PositionPose pose = {normal, in[21]}, turned = position_turn(pose, take_vec(in + 6), positive);
  put_vec(out, turned.normal), put(out, turned.gap);
  PositionPose far = {normal, real(1e30f)}, stays = position_turn(far, take_vec(in + 6), positive);
  put_vec(out, stays.normal), put(out, stays.gap);
  PositionTouch t = position_touch(a, w, b, other_w, turned);
  put_vec(out, t.relative), put(out, t.gap), put(out, t.weight);
  put(out, position_substep_touch(a, w, b, other_w, turned, true, 0.125f).gap);
  put(out, position_substep_touch(a, w, b, other_w, turned, false, 0.125f).gap);
  PositionTouch iterated = position_iteration_touch(a, w, b, other_w, pose, take_vec(in + 6), positive);
  put_vec(out, iterated.normal), put(out, iterated.gap);
  PositionMultipliers after = position_contact(before, t, position_slide(t), mu);
  put_multipliers(out, after), put_vec(out, position_push(before, normal));
  put_vec(out, position_change(before, normal, after, t.normal));
  Real cap_of_bond = position_bond(before, in[21] * real(0.1f), positive, w, positive);
  put(out, cap_of_bond);
  put_multipliers(out, position_bonded_contact(before, t, position_slide(t), mu, in[21] * real(0.1f), cap_of_bond));
  put_turns(in, out, t, before, after, mu);
  PositionPrinted by_depth = position_printed(t, mu, 0), by_radius = position_printed(t, mu, LAW_LIMIT);
  put_mask(out, by_depth.touches), put_multipliers(out, by_depth.push), put_multipliers(out, by_radius.push);

  put_vec(out, position_part(t, positive * real(0.1f), real(0.25f)));
  Real contacts = real_from_int(int_from_real(positive * real(6)));
  put(out, position_split_mass(w, contacts, LAW_RELAXATION)), put(out, position_average(contacts, LAW_RELAXATION));
  PositionMotion motion = {position_pushed(a, b, w), vec_mul(take_vec(in + 6), real(1e-7f))};
  motion = position_next_substep(motion, vec_mul(b, real(1e-4f)), a, w, true);
  put_vec(out, motion.displacement), put_vec(out, motion.left);
  Int key = position_batch_key(take_vec(in + 6), real(100)), other_key = position_batch_key(a, real(100));
  put(out, real_from_int(key)), put(out, real_from_int(position_batch(key, other_key)));

  Real cap = real_max(in[23], real(0)), spring = real(0.5f) * positive;
  P2Constants averaged = {spring, real(1) - spring, cap, cap}, split = {spring, in[24] * in[24], cap, mu.still * cap};
  P2Multipliers held = {before, real_max(real_min(before.normal, real(0)), real(0) - cap)};
  Mask acts = p2_acts(t.gap, in[25], before.normal);
  P2Multipliers of_average =
      p2_contact(held, t, position_slide(t), averaged, mu, acts, true, position_average(contacts, 1));
  P2Multipliers of_split = p2_contact(held, t, position_slide(t), split, mu, acts, false, real(1));
  put_multipliers(out, of_average.sum), put(out, of_average.pull);
  put_multipliers(out, of_split.sum), put(out, of_split.pull);
  put_mask(out, acts), put(out, p2_upper_share(in[26], w, t.weight));
}

#endif
