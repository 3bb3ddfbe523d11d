/* The contact of p2: spring and damper along the normal, Coulomb friction, adhesion (Holz 2014, Section 6). */
#ifndef METHODS_P2_P2_LAW_H
#define METHODS_P2_P2_LAW_H

#include "core/lane.h"
#include "methods/common/position_law.h"

#define P2_EVER 1e30f
/* The mass of a grain is split among contacts that act or come this near, in nominal radii: those may join. */
#define P2_LIKELY_GAP 0.02f

/* Along the normal: what spring and damper press with and what adhesion pulls with, as multipliers. */
typedef struct P2Normal {
  Real press, pull;
} P2Normal;

/* Numbers of a contact. Averaging: k' and c' of Eq. 28. Splitting: k h^2 / (k h^2 + c h), and 1 / (k h^2 + c h), the
 * contact's compliance. cap: most that adhesion holds (Eq. 34, 35), or a bond. grip: what they add to the limit of
 * friction; of adhesion it is the cap. */
typedef struct P2Constants {
  Real spring, damper, cap, grip;
} P2Constants;

/* Decided once a step, at the prediction (`within`); a contact that others close during the iterations joins and
 * stays. For a contact that nothing else disturbs this is the decision at the prediction alone. */
LANE_INLINE Mask p2_acts(Real gap, Real within, Real normal) {
  return real_less_equal(gap, within) | real_less(real(0), normal);
}

LANE_INLINE Real p2_clamp(Real v, Real low, Real high) { return real_max(real_min(v, high), low); }

/* Eq. 33 on the sum over the iterations, with adhesion in it: what the friction multiplier may be. */
LANE_INLINE LaneVec3 p2_coulomb(LaneVec3 wanted, PositionFriction mu, Real press, Real grip) {
  Real size = real_sqrt(vec_dot(wanted, wanted));
  Real kinetic = (mu.sliding * press + grip) / real_max(size, real(POSITION_TINY));
  Mask slips = real_less(mu.still * press + grip, size);
  return vec_mul(wanted, real_select(slips, real_min(kinetic, real(1)), real(1)));
}

/* As in the paper: Eq. 23 with the factors of Eq. 28; right after it adhesion, a damper that takes all of the opening,
 * up to its cap, and never pushes. `gap` and `along` are C_s and C_d of Eq. 22 and 17, `share` is what a unit of
 * violation is worth, `weight` the sum of the inverse masses. */
LANE_INLINE P2Normal p2_normal_averaged(P2Normal before, Real gap, Real along, P2Constants law, Real share,
                                        Real weight) {
  P2Normal after;
  after.press = real_max(before.press - (law.spring * gap + law.damper * along) * share, real(0));
  Real opening = along + (after.press - before.press) * weight;
  after.pull = p2_clamp(before.pull - opening * share, real(0) - law.cap, real(0));
  return after;
}

/* With the forces as unknowns: the residual of the spring-damper's equation
 *     f + k C + c v = 0   with  lambda = f h^2
 * over its slope; for one contact that is Eq. 21 after the first iteration and after any later one, and for many it
 * converges to the forces of implicit Euler, which averaging does not. Adhesion is found first, as what it would take
 * to hold the contact as it is against its spring: spring and adhesion then agree after one iteration as after many,
 * where the paper's order lets the damper swallow the spring. */
LANE_INLINE P2Normal p2_normal_split(P2Normal before, Real gap, Real along, P2Constants law, Real weight) {
  Real held = real_max(law.spring * (along - gap) / real_max(law.damper, real(POSITION_TINY)), real(0));
  P2Normal after;
  after.pull = p2_clamp(before.pull - along / weight - (held - before.press), real(0) - law.cap, real(0));
  Real residual = law.spring * gap + (real(1) - law.spring) * along + (after.pull - before.pull) * weight +
                  law.damper * before.press;
  after.press =
      real_max(before.press - residual * (real(1) / (weight + law.damper)), real(0)); /* as position_contact */
  return after;
}

/* One iteration of a contact. The normal multiplier is the sum of press and pull. `average` is one over the number of
 * contacts of the grain that act (Eq. 9); 1 with split masses. */
typedef struct P2Multipliers {
  PositionMultipliers sum;
  Real pull; /* adhesion's part of the normal multiplier, between -cap and 0 */
} P2Multipliers;

/* A contact as p2 sees it. Penetration of a rigid contact does not turn into speed, that of a spring, whose overlap is
 * `soft`, does: it sees the whole gap. `roll` is how far a lump goes by turning as one. */
LANE_INLINE PositionTouch p2_touch(PositionTouch t, Real gap, Real soft, LaneVec3 roll) {
  t.gap = real_select(real_less(real(0), soft), gap, t.gap);
  t.relative = vec_sub(t.relative, roll);
  return t;
}

LANE_INLINE P2Multipliers p2_contact(P2Multipliers before, PositionTouch t, PositionSlide slide, P2Constants law,
                                     PositionFriction mu, Mask acts, bool averaging, Real average) {
  P2Multipliers after;
  P2Normal old, now;
  Real share = average / t.weight, along = vec_dot(t.relative, t.normal);
  old.press = before.sum.normal - before.pull;
  old.pull = before.pull;
  now = averaging ? p2_normal_averaged(old, t.gap, along, law, share, t.weight)
                  : p2_normal_split(old, t.gap, along, law, t.weight);
  LaneVec3 wanted = position_wanted_friction(before.sum.friction, slide, average / slide.weight);
  LaneVec3 friction = p2_coulomb(wanted, mu, now.press, law.grip);
  after.sum.normal = real_select(acts, now.press + now.pull, before.sum.normal);
  after.sum.friction = vec_select(acts, friction, before.sum.friction);
  after.pull = real_select(acts, now.pull, before.pull);
  return after;
}

/* Error reduction (Eq. 37): the upper grain of a pair moves more. Shares are normalised so that the two together move
 * as far as without. `own` is the grain's part of the weight. */
LANE_INLINE Real p2_upper_share(Real tilt, Real own, Real weight) {
  Real total = own * (real(1) - tilt) + (weight - own) * (real(1) + tilt);
  return (real(1) - tilt) * weight / real_max(total, real(POSITION_TINY));
}

#endif
