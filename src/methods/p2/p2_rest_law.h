/* Grains of p2 at the end of a step: how far they go at most, and who sleeps (Holz 2014, Section 7; see sleep.c). */
#ifndef METHODS_P2_P2_REST_LAW_H
#define METHODS_P2_P2_REST_LAW_H

#include "core/lane.h"

/* ---- the limit ---- */

/* A displacement of the last substep, or as much of it as `longest` allows over all substeps. */
typedef struct P2Limited {
  LaneVec3 d;
  Mask cut;
} P2Limited;

LANE_INLINE P2Limited p2_limited(LaneVec3 d, float substeps, Real longest) {
  P2Limited limited;
  Real length = real(substeps) * real_sqrt(vec_dot(d, d));
  limited.cut = ~real_less_equal(length, longest);
  limited.d = vec_select(limited.cut, vec_mul(d, longest / length), d);
  return limited;
}

/* ---- sleep ---- */

/* A neighbour that moves this many times faster wakes. */
#define P2_WAKES 4.0f
/* A contact sticks while its friction is below this share of what it can hold. */
#define P2_STICKS 0.999f
/* Of the difference of what two grains hold back, so much is shared in a step. Twelve equal neighbours then take less
 * than all of it: the exchange is stable. */
#define P2_SHARED_PART (1.0f / 16)

/* `normal` without what pulls; `grip` is what that adds to the limit. */
LANE_INLINE Mask p2_sticks(LaneVec3 friction, Real still, Real normal, Real grip) {
  Real limit = real(P2_STICKS) * (still * normal + grip);
  return real_less(vec_dot(friction, friction), limit * limit);
}

LANE_INLINE Real p2_apart(LaneVec3 moved, LaneVec3 rest) {
  LaneVec3 way = vec_sub(moved, rest);
  return real_sqrt(vec_dot(way, way));
}

/* What a grain takes of the difference to a partner that presses it; across a contact that slips only what is along its
 * normal. `lighter`: the partner's mass over its own; of a solid 1. */
LANE_INLINE LaneVec3 p2_share_held(LaneVec3 held, LaneVec3 own, LaneVec3 other, LaneVec3 normal, Real lighter,
                                   Mask sticks) {
  LaneVec3 less = vec_sub(other, own);
  Real share = real(P2_SHARED_PART) * real_min(lighter, real(1));
  LaneVec3 along = vec_mul(normal, vec_dot(less, normal));
  return vec_add(held, vec_mul(vec_select(sticks, less, along), share));
}

/* A grain as the step leaves it. */
typedef struct P2Sleeper {
  LaneVec3 moved;   /* over the step */
  LaneVec3 swift;   /* the same, of its velocity: what stabilization shifts it by has none */
  LaneVec3 support; /* motion of what it rests on */
  LaneVec3 held;    /* m/s: what it holds back when it has shared */
  Mask quiet;       /* it rests on something, and nobody near it moves */
  Mask borne;       /* it is tied to a solid */
} P2Sleeper;

typedef struct P2Found {
  LaneVec3 moves, held; /* in the step; m/s, after it */
  Mask asleep;
} P2Found;

/* `tied`: who is tied to a solid sleeps, and nothing is held back. */
LANE_INLINE P2Found p2_found(P2Sleeper grain, bool tied, float slow, float dt) {
  P2Found found;
  LaneVec3 more = vec_sub(grain.swift, grain.support);
  more = vec_add(grain.held, vec_make(more.x / real(dt), more.y / real(dt), more.z / real(dt)));
  Mask held_back = real_less(real_sqrt(vec_dot(more, more)) * real(dt), real(slow));
  found.asleep = grain.quiet & real_less(p2_apart(grain.moved, grain.support), real(slow));
  found.asleep = found.asleep & (tied ? grain.borne : held_back);
  found.moves = vec_select(found.asleep, grain.support, vec_add(grain.moved, vec_mul(grain.held, real(dt))));
  found.held = vec_mask(found.asleep & ~grain.borne, more);
  return found;
}

/* Displacement of the last substep: the sleeper's, or with what was held back on top of what it did. */
LANE_INLINE LaneVec3 p2_woken(LaneVec3 now, LaneVec3 total, P2Found found, float substeps) {
  LaneVec3 more = vec_sub(found.moves, total), whole = vec_select(found.asleep, found.moves, more);
  whole = vec_make(whole.x / real(substeps), whole.y / real(substeps), whole.z / real(substeps));
  return vec_select(found.asleep, whole, vec_add(now, whole));
}

#endif
