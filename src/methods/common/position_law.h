/* The laws of the position-based family: one contact, one grain (Sommer 2022, Section 3; Holz 2014, Section 6).
 *
 * Multipliers are displacements times mass (kg m): force = multiplier / dt^2, displacement = inverse mass times
 * multiplier. The weight of a contact is the sum of the inverse masses of its two sides, each times the number of
 * contacts that the mass is split among; one over it is what a metre of violation is worth. */
#ifndef METHODS_COMMON_POSITION_LAW_H
#define METHODS_COMMON_POSITION_LAW_H

#include "core/lane.h"

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

/* ---- a contact in an iteration ---- */

/* A contact as it stands: relative displacement of the grain, unit normal towards it, gap, weight. The normal is that
 * of the step's start: gap + n . (d_i - d_j) is the room between the two. */
typedef struct PositionTouch {
  LaneVec3 relative, normal;
  Real gap, weight;
} PositionTouch;

LANE_INLINE PositionTouch position_touch(LaneVec3 own, Real own_weight, LaneVec3 other, Real other_weight,
                                         LaneVec3 normal, Real gap) {
  PositionTouch t;
  t.relative = vec_sub(own, other);
  t.normal = normal;
  t.gap = gap + vec_dot(normal, t.relative);
  t.weight = own_weight + other_weight;
  return t;
}

/* What a contact does to its grain: the push of its multipliers along the normal and in the plane, kg m. */
LANE_INLINE LaneVec3 position_push(PositionMultipliers m, LaneVec3 normal) {
  return vec_add(vec_mul(normal, m.normal), m.friction);
}

/* What an iteration adds to it. */
LANE_INLINE LaneVec3 position_change(PositionMultipliers before, PositionMultipliers after, LaneVec3 normal) {
  return vec_add(vec_mul(normal, after.normal - before.normal), vec_sub(after.friction, before.friction));
}

/* Coulomb's cone. The multiplier of friction is the contact's anchor: it grows with every bit of sliding until it holds
 * the load, and the sliding then is zero whatever the number of iterations. */
LANE_INLINE LaneVec3 position_coulomb(LaneVec3 wanted, PositionFriction mu, Real normal) {
  Real size = real_sqrt(vec_dot(wanted, wanted));
  Mask slips = real_less(mu.still * normal, size); /* and the cut is below 1 there */
  return vec_mul(wanted, real_select(slips, mu.sliding * normal / size, real(1)));
}

/* The multiplier of friction that would stop the sliding. */
LANE_INLINE LaneVec3 position_wanted_friction(LaneVec3 before, PositionTouch t, Real share) {
  return vec_sub(before, vec_mul(vec_tangential(t.relative, t.normal), share));
}

/* One iteration of a contact with split masses: projected Jacobi on the multipliers (Sommer Eq. 1 to 4 on their sum).
 * The normal multiplier stays >= 0 over the sum of the iterations, friction stays inside Coulomb's cone of that sum, so
 * the law holds for the step and not for an iteration. */
LANE_INLINE PositionMultipliers position_contact(PositionMultipliers before, PositionTouch t, PositionFriction mu) {
  PositionMultipliers after;
  Real share = real(1) / t.weight;
  after.normal = real_max(before.normal - t.gap * share, real(0));
  after.friction = position_coulomb(position_wanted_friction(before.friction, t, share), mu, after.normal);
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

/* ---- stabilisation (Sommer's Algorithm 1, lines 7 to 12) ---- */

/* How far a penetrating contact moves its grain apart, kg m. `borne` is penetration that stays: the slop, and what a
 * spring bears. */
LANE_INLINE LaneVec3 position_part(PositionTouch t, Real borne, Real part) {
  Real depth = real_max(real(0) - t.gap - borne, real(0));
  return vec_mul(t.normal, depth * part / t.weight);
}

/* The gap after it. What penetration is left must not turn into speed, so such a pair may stay as close as it is but
 * come no closer. Springs do push. Not without memory: penetration alone then tells a contact what it carries, and a
 * column that may not push against it sinks through its floor. */
LANE_INLINE Real position_settled_gap(Real gap, Real borne_by_spring, bool memory) {
  Real settled = memory ? real_max(gap, real(0)) : gap;
  return real_select(real_less(real(0), borne_by_spring), gap, settled);
}

/* ---- a grain ---- */

/* Inverse mass times the number of contacts that the mass is split among. Jacobi converges when each contact has a
 * share of the mass, and both sides of a contact get the same multiplier: momentum is kept to round-off.
 * Over-relaxation is a mass that is split less often, but not less than once, so that a grain with one contact is exact
 * after one iteration. */
LANE_INLINE Real position_split_mass(Real inverse_mass, Real contacts, float relaxation) {
  return inverse_mass * real_max(contacts / real(relaxation), real(1));
}

/* By how much the paper's corrections of a grain count that has so many contacts that touch. */
LANE_INLINE Real position_average(Real touching, float relaxation) {
  return real(relaxation) / real_max(touching, real(1));
}

/* Displacement after the pushes of its contacts. */
LANE_INLINE LaneVec3 position_pushed(LaneVec3 displacement, LaneVec3 push, Real inverse_mass) {
  return vec_add(displacement, vec_mul(push, inverse_mass));
}

/* The end of a step (lines 18 to 20): the shift of the stabilisation moves a grain but gives it no speed. */
typedef struct PositionMotion {
  LaneVec3 velocity, displacement;
} PositionMotion;

LANE_INLINE PositionMotion position_motion(LaneVec3 displacement, LaneVec3 shift, float per_second) {
  PositionMotion motion;
  motion.velocity = vec_mul(displacement, real(per_second));
  motion.displacement = vec_add(displacement, shift);
  return motion;
}

#endif
