/* The laws of the position-based family: one contact, one grain (Sommer 2022, Section 3; Holz 2014, Section 6).
 *
 * Multipliers are displacements times mass (kg m): force = multiplier / h^2, displacement = inverse mass times
 * multiplier. The weight of a contact is the sum of the inverse masses of its two sides, each times the number of
 * contacts that the mass is split among; one over it is what a metre of violation is worth. */
#ifndef METHODS_COMMON_POSITION_LAW_H
#define METHODS_COMMON_POSITION_LAW_H

#include "core/lane.h"
#include "methods/common/bond_law.h"

#define POSITION_TINY 1e-30f
#define POSITION_COINCIDENT 1e-12f /* m */

typedef struct PositionMultipliers {
  Real normal;
  LaneVec3 friction;
} PositionMultipliers;

typedef struct PositionFriction {
  Real still, sliding; /* Coulomb coefficients of sticking and of sliding contacts */
} PositionFriction;

/* ---- a contact at the step's start ---- */

/* From the partner to the grain. `low` is what the floats of a position could not hold. */
LANE_INLINE LaneVec3 position_offset(LaneVec3 at, LaneVec3 low, LaneVec3 other, LaneVec3 other_low) {
  return vec_add(vec_sub(at, other), vec_sub(low, other_low));
}

/* Two grains at one place have no line of centres. One is made up from ten bits an axis, opposite for the two. */
LANE_INLINE LaneVec3 position_made_up_offset(Int bits, Mask first) {
  Real sign = real_select(first, real(1), real(-1));
  return vec_make(sign * (real_from_int(bits & 1023) - real(511.5f)),
                  sign * (real_from_int(bits >> 10 & 1023) - real(511.5f)),
                  sign * (real_from_int(bits >> 20 & 1023) - real(511.5f)));
}

/* Unit normal towards the grain. */
LANE_INLINE LaneVec3 position_normal(LaneVec3 offset, Real length) {
  return vec_mul(offset, real(1) / real_max(length, real(POSITION_TINY)));
}

/* Penetration of two spheres as a share of the sum of their radii; negative where they are apart. */
LANE_INLINE Real position_penetration(LaneVec3 offset, Real radii) {
  Real sum = real_max(radii, real(POSITION_TINY)), apart = real_sqrt(vec_dot(offset, offset));
  return (sum - apart) / sum;
}

/* The last step's multipliers, for a step of another length. A contact that neither pressed nor, by adhesion, pulled
 * has no friction either. */
LANE_INLINE PositionMultipliers position_remembered(PositionMultipliers last, Real scale) {
  PositionMultipliers now;
  Mask acts = real_less(last.normal, real(0)) | real_less(real(0), last.normal);
  now.normal = last.normal * scale;
  now.friction = vec_mul(vec_mask(acts, last.friction), scale);
  return now;
}

/* ---- a contact in a substep ---- */

/* A contact as it stands at a substep's start. Two grains that pass each other turn their normal, so that forces act
 * along the line of the centres in every substep and angular momentum is kept. `radii` is the sum of the radii, huge
 * for a solid, whose normal stays; so do those of slots that are not used, and of two grains nearly at one place. */
typedef struct PositionPose {
  LaneVec3 normal;
  Real gap;
} PositionPose;

#define POSITION_SOLID 1e20f /* centres this far apart are those of solids, or of nobody */
#define POSITION_INSIDE 0.1f /* of the sum of the radii: centres nearer than that have no line to turn */

LANE_INLINE PositionPose position_turn(PositionPose pose, LaneVec3 moved, Real radii) {
  Real along = vec_dot(moved, pose.normal), apart = radii + pose.gap;
  Mask stays = real_less(real(POSITION_SOLID), apart);
  apart = real_select(stays, real(1), apart);
  LaneVec3 line = vec_add(vec_mul(pose.normal, apart), moved);
  Real length = real_sqrt(vec_dot(line, line));
  stays = stays | real_less(length, radii * real(POSITION_INSIDE));
  PositionPose now;
  now.normal = vec_select(stays, pose.normal, vec_mul(line, real(1) / real_max(length, real(POSITION_TINY))));
  now.gap = real_select(stays, pose.gap + along, length - radii);
  return now;
}

/* Distance that the two may still approach in the substep. `start` is the gap at the substep's start: what penetrates
 * then must not turn into speed, so such a pair may stay as close as it is but come no closer. The true gap is kept
 * beside it (a gap that is cut for good ratchets: a bed sinks by its own jitter). Not without remembered multipliers:
 * penetration alone then tells a contact what it carries, and a column that may not push against it sinks through its
 * floor; the substeps of a step, each with the part `recovered`, then push it apart. */
LANE_INLINE Real position_gap(Real start, Real approach, bool memory, float recovered) {
  Real inside = memory ? real(0) : real_min(start, real(0)) * real(recovered);
  return real_max(start, real(0)) + inside + approach;
}

/* A contact as a pass sees it: relative displacement of the grain, unit normal towards it, distance that the two may
 * still approach, weight. */
typedef struct PositionTouch {
  LaneVec3 relative, normal;
  Real gap, weight;
} PositionTouch;

/* The gap of the pose, brought on along its normal. */
LANE_INLINE PositionTouch position_touch(LaneVec3 own, Real own_weight, LaneVec3 other, Real other_weight,
                                         PositionPose pose) {
  PositionTouch t;
  t.relative = vec_sub(own, other);
  t.normal = pose.normal;
  t.gap = pose.gap + vec_dot(pose.normal, t.relative);
  t.weight = own_weight + other_weight;
  return t;
}

LANE_INLINE PositionTouch position_substep_touch(LaneVec3 own, Real own_weight, LaneVec3 other, Real other_weight,
                                                 PositionPose pose, bool memory, float recovered) {
  PositionTouch t = position_touch(own, own_weight, other, other_weight, pose);
  t.gap = position_gap(pose.gap, vec_dot(pose.normal, t.relative), memory, recovered);
  return t;
}

/* In the papers, where all iterations are of one step: the contact as the displacements so far leave it. `before` is
 * what moved without making speed, the shift of the stabilisation. */
LANE_INLINE PositionTouch position_iteration_touch(LaneVec3 own, Real own_weight, LaneVec3 other, Real other_weight,
                                                   PositionPose pose, LaneVec3 before, Real radii) {
  PositionTouch t;
  t.relative = vec_sub(own, other);
  PositionPose now = position_turn(pose, vec_add(before, t.relative), radii);
  t.normal = now.normal;
  t.gap = now.gap;
  t.weight = own_weight + other_weight;
  return t;
}

/* What a contact does to its grain: the push of its multipliers along the normal and in the plane, kg m. */
LANE_INLINE LaneVec3 position_push(PositionMultipliers m, LaneVec3 normal) {
  return vec_add(vec_mul(normal, m.normal), m.friction);
}

/* What an iteration adds to it; the normal may have turned since. */
LANE_INLINE LaneVec3 position_change(PositionMultipliers before, LaneVec3 normal_before, PositionMultipliers after,
                                     LaneVec3 normal) {
  return vec_sub(position_push(after, normal), position_push(before, normal_before));
}

/* Coulomb's cone. The multiplier of friction is the contact's anchor: it grows with every bit of sliding until it holds
 * the load, and the sliding then is zero whatever the number of iterations. */
LANE_INLINE LaneVec3 position_coulomb(LaneVec3 wanted, PositionFriction mu, Real normal) {
  Real size = real_sqrt(vec_dot(wanted, wanted)), limit = mu.still * normal;
  Mask slips = real_less(limit, size); /* and the cut is below 1 there */
  /* What does not press has no friction, however small: squares below 1e-45 are no numbers, and their size is none. */
  Real sticks = real_mask(real_less(real(0), limit), real(1));
  return vec_mul(wanted, real_select(slips, mu.sliding * normal / size, sticks));
}

/* What friction acts against: how far the two slide on each other, and the weight of the contact in its plane. */
typedef struct PositionSlide {
  LaneVec3 way;
  Real weight;
} PositionSlide;

/* Of grains that do not turn. */
LANE_INLINE PositionSlide position_slide(PositionTouch t) {
  PositionSlide slide;
  slide.way = vec_tangential(t.relative, t.normal);
  slide.weight = t.weight;
  return slide;
}

/* The multiplier of friction that would stop the sliding. */
LANE_INLINE LaneVec3 position_wanted_friction(LaneVec3 before, PositionSlide slide, Real share) {
  return vec_sub(before, vec_mul(slide.way, share));
}

/* One iteration of a contact with split masses: projected Jacobi on the multipliers (Sommer Eq. 1 to 4 on their sum).
 * The normal multiplier stays >= 0, friction stays inside Coulomb's cone of it, so the law holds for the substep and
 * not for what a pass adds. */
LANE_INLINE PositionMultipliers position_contact(PositionMultipliers before, PositionTouch t, PositionSlide slide,
                                                 PositionFriction mu) {
  PositionMultipliers after;
  after.normal = real_max(before.normal - t.gap * (real(1) / t.weight), real(0));
  LaneVec3 wanted = position_wanted_friction(before.friction, slide, real(1) / slide.weight);
  after.friction = position_coulomb(wanted, mu, after.normal);
  return after;
}

/* The most that a bond of two grains holds, as a multiplier. `tension` is that of the bond times h^2, `start` the gap
 * at the substep's start. A pair is bonded when it touches there, and stays so: what was bonded in the last substep
 * pushed or pulled. Its strength does not fall with the gap, as nothing closes it again. */
LANE_INLINE Real position_bond(PositionMultipliers before, Real start, Real tension, Real radius, Real other) {
  Real reduced = bond_radius(radius, other);
  Mask acts = real_less(before.normal, real(0)) | real_less(real(0), before.normal);
  Mask bonded = (acts | real_less_equal(start, real(0))) & real_less(start, bond_reach(reduced));
  return real_mask(bonded, tension * reduced * reduced);
}

/* The same contact with a bond: the normal multiplier stays >= -cap, and the cone is shifted by as much. Two that are
 * bonded and apart stay as far apart as they are, against pull and push: the remembered multiplier bears the load.
 * Such contacts do not give way, so over-relaxation has its limit (POSITION_RELAXATION_BOUNDARY). */
LANE_INLINE PositionMultipliers position_bonded_contact(PositionMultipliers before, PositionTouch t,
                                                        PositionSlide slide, PositionFriction mu, Real start,
                                                        Real cap) {
  PositionMultipliers after;
  Real open = real_mask(real_less(real(0), cap), real_max(start, real(0)));
  after.normal = real_max(before.normal - (t.gap - open) * (real(1) / t.weight), real(0) - cap);
  LaneVec3 wanted = position_wanted_friction(before.friction, slide, real(1) / slide.weight);
  after.friction = position_coulomb(wanted, mu, after.normal + cap);
  return after;
}

/* One contact as in the paper (Eq. 1 to 4), per unit of inverse mass: a push along the normal by the depth, and against
 * the sliding, limited by the depth as the text says, or by `printed_limit`, which is 2 r as the print says; 0: not. */
typedef struct PositionPrinted {
  PositionMultipliers push;
  Mask touches;
} PositionPrinted;

LANE_INLINE PositionPrinted position_printed(PositionTouch t, PositionFriction mu, float printed_limit) {
  PositionPrinted p;
  Real depth = real(0) - t.gap;
  p.touches = real_less(real(0), depth);
  Real share = real_select(p.touches, real(1) / t.weight, real(0));
  Real limit = printed_limit > 0 ? real(printed_limit) : real_max(depth, real(0));
  LaneVec3 slide = vec_tangential(t.relative, t.normal);
  Real size = real_sqrt(vec_dot(slide, slide));
  Real kinetic = real_min(mu.sliding * limit / real_max(size, real(POSITION_TINY)), real(1));
  Real hold = real_select(real_less(size, mu.still * limit), real(1), kinetic);
  p.push.normal = depth * share;
  p.push.friction = vec_mul(slide, real(0) - hold * share);
  return p;
}

/* ---- grains that turn ----
 *
 * A grain's turn is kept as the way of its rim, s = radius times rotation vector, in m as displacements are. With the
 * inertia of a solid sphere, 2/5 m r^2, a push f of friction at the rim, -r n from the centre, changes it by
 * 5/2 w (f x n), whatever the radius.
 *
 * Rolling resistance is a moment on the grain of up to sum(mu_r R l) over its contacts, R being the effective radius:
 * half its own among grains, its own at solids; what is summed up is mu_r R l over the radius. It stops the turn, or
 * takes as much of it as it can. So a grain that its contacts can hold does not turn at all, to the last bit, and a
 * heap rests as one of grains that cannot turn. */
#define POSITION_RIM_MOBILITY 2.5f /* m r^2 over the moment of inertia */
#define POSITION_ARM_PAIR 0.5f     /* effective radius over the grain's own: of a pair, of a solid */
#define POSITION_ARM_SOLID 1.0f

/* A grain's turn in the substep: the way of its rim, and by how much more it gives way in the plane of a contact than
 * along the normal: 1 where its turn is held, 1 + 5/2 where it turns. */
typedef struct PositionTurn {
  LaneVec3 rim;
  Real yields;
} PositionTurn;

/* How far two grains slide where they touch: their rims move against each other by turning too. */
LANE_INLINE PositionSlide position_turning_slide(PositionTouch t, PositionTurn own, Real own_weight, PositionTurn other,
                                                 Real other_weight) {
  PositionSlide slide;
  LaneVec3 way = vec_tangential(t.relative, t.normal);
  slide.way = vec_sub(way, vec_cross(vec_add(own.rim, other.rim), t.normal));
  slide.weight = own_weight * own.yields + other_weight * other.yields;
  return slide;
}

/* What contacts do to a grain's turn, summed up over them. */
typedef struct PositionTorque {
  LaneVec3 friction; /* sum of f x n, kg m */
  Real resistance;   /* sum of mu_r R l / r, kg m: what rolling resistance holds against */
} PositionTorque;

LANE_INLINE PositionTorque position_no_torque(void) {
  PositionTorque none;
  none.friction = vec_zero();
  none.resistance = real(0);
  return none;
}

/* What a contact's multipliers add to it. `rolling` is its mu_r R / r. */
LANE_INLINE PositionTorque position_torque(PositionTorque sum, PositionMultipliers m, LaneVec3 normal, Real rolling) {
  sum.friction = vec_add(sum.friction, vec_cross(m.friction, normal));
  sum.resistance = sum.resistance + real_max(m.normal, real(0)) * rolling;
  return sum;
}

/* What an iteration adds to it. */
LANE_INLINE PositionTorque position_torque_change(PositionTorque sum, PositionMultipliers before,
                                                  PositionMultipliers after, LaneVec3 normal, Real rolling) {
  sum.friction = vec_add(sum.friction, vec_cross(vec_sub(after.friction, before.friction), normal));
  sum.resistance = sum.resistance + (real_max(after.normal, real(0)) - real_max(before.normal, real(0))) * rolling;
  return sum;
}

LANE_INLINE PositionTorque position_add_torque(PositionTorque a, PositionTorque b) {
  a.friction = vec_add(a.friction, b.friction);
  a.resistance = a.resistance + b.resistance;
  return a;
}

/* The turn of a substep: that of the one before, what friction adds, less what rolling resistance takes; none for a
 * grain that does not turn. */
LANE_INLINE PositionTurn position_turned(LaneVec3 before, PositionTorque torque, Mask turns, Real inverse_mass) {
  Real mobility = inverse_mass * real(POSITION_RIM_MOBILITY);
  LaneVec3 free = vec_add(before, vec_mul(torque.friction, mobility));
  Real size = real_sqrt(vec_dot(free, free));
  Real hold = real_max(torque.resistance, real(0)) * mobility;
  Real left = real_mask(turns, real_max(size - hold, real(0)));
  PositionTurn turn;
  turn.rim = vec_mul(free, left / real_max(size, real(POSITION_TINY)));
  turn.yields = real_select(real_less(real(0), left), real(1 + POSITION_RIM_MOBILITY), real(1));
  return turn;
}

/* ---- stabilisation (Sommer's Algorithm 1, lines 7 to 12) ---- */

/* Penetration that a contact under load carries, `most` at most. A push of l moves two grains by l times their weight
 * in a pass: so much is what the solver leaves of the load anyway, and makes again when it is shifted apart. Sand that
 * is confined with less room than it needs has such overlap everywhere; shifted about without friction, as the
 * stabilisation does it, it would creep for ever and never bear a steady force. Solids are not shifted: what one
 * presses away from itself goes into the grains behind, and comes back. So a contact with one carries all of it. */
#define POSITION_CARRIED_SHARE 0.4f
LANE_INLINE Real position_carried(Real normal, Real weight, float most, bool solid) {
  if (solid) return real_mask(real_less(real(0), normal), real(most));
  return real_min(real_max(normal, real(0)) * weight * real(POSITION_CARRIED_SHARE), real(most));
}

/* How far a penetrating contact moves its grain apart, kg m. `borne` is penetration that stays: the slop, and what a
 * spring or the load bears. */
LANE_INLINE LaneVec3 position_part(PositionTouch t, Real borne, Real part) {
  Real depth = real_max(real(0) - t.gap - borne, real(0));
  return vec_mul(t.normal, depth * part / t.weight);
}

/* ---- a grain ---- */

/* Inverse mass times the number of contacts that the mass is split among. Jacobi converges when each contact has a
 * share of the mass, and both sides of a contact get the same multiplier: momentum is kept to round-off.
 * Over-relaxation is a mass that is split less often, but not less than once, so that a grain with one contact is exact
 * after one iteration. */
LANE_INLINE Real position_split_mass(Real inverse_mass, Real contacts, float relaxation) {
  return inverse_mass * real_max(contacts / real(relaxation), real(1));
}

/* exp(-x) for x >= 0 by squaring a rational eight times: libm's differs between machines. */
LANE_INLINE Real position_power(Real x) {
  Real square = x * x, fourth = square * square, eighth = fourth * fourth;
  return eighth * eighth;
}
LANE_INLINE Real position_decay(Real x) {
  Real small = real_max(real(1) - x / real(256), real(0));
  return position_power(position_power(small));
}

/* m* = m exp(-k h): the inverse mass of a grain that is so high above the lowest one. */
LANE_INLINE Real position_scaled_mass(Real inverse_mass, float scaling, Real height) {
  return inverse_mass / real_max(position_decay(real(scaling) * height), real(1e-6f));
}

/* By how much the paper's corrections of a grain count that has so many contacts that touch. */
LANE_INLINE Real position_average(Real touching, float relaxation) {
  return real(relaxation) / real_max(touching, real(1));
}

/* Displacement after the pushes of its contacts. */
LANE_INLINE LaneVec3 position_pushed(LaneVec3 displacement, LaneVec3 push, Real inverse_mass) {
  return vec_add(displacement, vec_mul(push, inverse_mass));
}

/* Symplectic Euler over substeps: the next substep begins with the displacement of the last, the fall g h^2 and the
 * push of the remembered multipliers. (What the last displacement differs from the free one by is the same push, but
 * with the round-off of displacements in it, which every substep would add again: momentum drifts.) The fall is small
 * against the displacement of what flies, and would be rounded alike in every substep: `left` is what rounding has left
 * of it so far. */
typedef struct PositionMotion {
  LaneVec3 displacement, left;
} PositionMotion;

LANE_INLINE PositionMotion position_next_substep(PositionMotion now, LaneVec3 fall, LaneVec3 push, Real inverse_mass,
                                                 bool memory) {
  PositionMotion next;
  LaneVec3 gain = vec_add(fall, now.left), free = vec_add(now.displacement, gain);
  next.left = vec_sub(gain, vec_sub(free, now.displacement));
  next.displacement = memory ? vec_add(free, vec_mul(push, inverse_mass)) : free;
  return next;
}

/* ---- batches ---- */

/* Which batch a pair is in follows from where the middle of the pair is along a direction that is no axis of a lattice,
 * in layers as thick as a radius: contacts that follow each other in a chain are in different batches, a grain has
 * about as many in each, and both sides of a pair agree. Keys are whole numbers, so that their sum has no order. */
#define POSITION_BATCH_X 0.97f
#define POSITION_BATCH_Y 1.31f
#define POSITION_BATCH_Z 1.13f
#define POSITION_KEY_BITS 8    /* of a key's fraction */
#define POSITION_KEY_MOST 4e6f /* farther out all keys are alike */

LANE_INLINE Int position_batch_key(LaneVec3 at, Real per_radius) {
  Real s = (at.x * real(POSITION_BATCH_X) + at.y * real(POSITION_BATCH_Y) + at.z * real(POSITION_BATCH_Z)) * per_radius;
  s = real_max(real_min(s, real(POSITION_KEY_MOST)), real(-POSITION_KEY_MOST));
  return int_from_real(s * real((float)(1 << POSITION_KEY_BITS)));
}
LANE_INLINE Int position_batch(Int key, Int other) { return ((key + other) >> (POSITION_KEY_BITS + 1)) & 3; }

#endif
