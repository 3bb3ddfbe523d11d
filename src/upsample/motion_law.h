/* The two laws of motion of a fine grain: the paper's (Sommer 2022, Section 4; equations as counted in weight_law.h)
 * and that of the better mode (docs/methods/upsampling.md). */
#ifndef UPSAMPLE_MOTION_LAW_H
#define UPSAMPLE_MOTION_LAW_H

#include "upsample/weight_law.h"

/* What is the same for all grains in a frame. frame_parameters (advance.c) fills it. */
typedef struct FineParameters {
  float reach2; /* R^2, square of the reach of the weights */
  float dt;
  float gain[3];         /* g dt */
  float covered2, free2; /* squares of the distances from a coarse centre between which a grain begins to fly */
  float stir;            /* share of the spread of coarse velocities at which fine grains leave a crowd */
  float wind[3];
  float air_drag; /* k of a = k u^2; 0: no air */
  float gravity;  /* its size */
  float blow;     /* m/s^2, of the wind on a grain at rest; 0 without gravity */
  int body_rule;  /* no bool, which devices have otherwise */
} FineParameters;

/* (4.3): c1 is the weight at a distance of r, (1 - 1/9)^3. */
#define PAPER_C1 (512.0f / 729.0f)
#define PAPER_C2 0.6f
/* Keeps a quotient finite where a sum is zero. */
#define SUM_LEAST 1e-37f
/* Wind: a grain is bare when its sum of weights (the paper's) is below this, half of what settled sand has at its
 * surface, and is held by this share of its weight. */
#define BARE_WEIGHT 0.8f
#define HELD_SHARE 0.6f

/* (4.2) to (4.4). */
LANE_INLINE LaneVec3 paper_velocity(FineParameters p, WeightedSums sums, LaneVec3 velocity) {
  const Real whole = real(p.reach2 * p.reach2 * p.reach2); /* the weight at distance zero */
  Real largest = sums.top * sums.top * sums.top;
  Mask sparse =
      real_less_equal(largest, real(PAPER_C1) * whole) | real_less_equal(real(PAPER_C2) * sums.weight, largest);
  Real alpha = real_select(sparse, real(1) - largest / whole, real(0));
  Real share =
      real_select(real_less(real(0), sums.weight), (real(1) - alpha) / real_max(sums.weight, real(SUM_LEAST)), real(0));
  LaneVec3 gain = vec_make(real(p.gain[0]), real(p.gain[1]), real(p.gain[2]));
  return vec_add(vec_mul(sums.velocity, share), vec_mul(vec_add(velocity, gain), alpha));
}

/* (4.5). */
LANE_INLINE LaneVec3 moved_position(LaneVec3 position, LaneVec3 velocity, float dt) {
  return vec_add(position, vec_mul(velocity, real(dt)));
}

/* Air: a = k |u| u with u = wind - v, taken implicitly so that no k is too large. `flight` is the velocity without air
 * at the end of the frame, `velocity` that at its beginning. */
LANE_INLINE LaneVec3 dragged_velocity(FineParameters p, LaneVec3 flight, LaneVec3 velocity) {
  LaneVec3 wind = vec_make(real(p.wind[0]), real(p.wind[1]), real(p.wind[2]));
  LaneVec3 u = vec_sub(wind, velocity);
  Real k = real(p.air_drag * p.dt) * real_sqrt(vec_dot(u, u));
  return vec_mul(vec_add(flight, vec_mul(wind, k)), real(1) / (real(1) + k));
}

typedef struct BetterMotion {
  LaneVec3 velocity;
  Real loose;  /* 0: goes with the coarse grains, 1: flies */
  Real spread; /* m/s, of the velocities of the coarse grains round it, times 1 - loose */
} BetterMotion;

/* The share of a flying velocity follows from the distance to the nearest coarse centre, with a narrow window. */
LANE_INLINE Real better_alpha(FineParameters p, Real top) {
  Real nearest2 = real(p.reach2) - top;
  Real within = (nearest2 - real(p.covered2)) * real(1 / (p.free2 - p.covered2));
  return real_min(real_max(within, real(0)), real(1));
}

/* How bare a grain lies, 0 to 1: few coarse grains are round it. */
LANE_INLINE Real bareness(FineParameters p, Real weight) {
  Real covered = weight * real(1 / (BARE_WEIGHT * p.reach2 * p.reach2 * p.reach2));
  return real_min(real_max(real(1) - covered, real(0)), real(1));
}

LANE_INLINE BetterMotion better_motion(FineParameters p, WeightedSums sums, LaneVec3 velocity) {
  Real share = real_select(real_less(real(0), sums.weight), real(1) / real_max(sums.weight, real(SUM_LEAST)), real(0));
  LaneVec3 mean = vec_mul(sums.velocity, share);
  LaneVec3 gain = vec_make(real(p.gain[0]), real(p.gain[1]), real(p.gain[2]));
  LaneVec3 flight = vec_add(velocity, gain);
  Real alpha = better_alpha(p, sums.top);
  if (p.air_drag > 0) flight = dragged_velocity(p, flight, velocity);
  if (p.blow > HELD_SHARE * p.gravity) {
    /* Wind takes grains that lie bare when its force beats their hold. What begins to move is lifted as long as it is
     * near the ground, else it would only be pressed into it. */
    Real bare = bareness(p, sums.weight);
    Real rise = real(4 * p.blow / p.gravity) * bare * (real(1) - bare);
    alpha = real_select(real_less(real(HELD_SHARE * p.gravity), real(p.blow) * bare), real(1), alpha);
    flight = vec_sub(flight, vec_mul(gain, rise));
  }
  BetterMotion motion;
  Real with = real(1) - alpha;
  motion.velocity = vec_add(vec_mul(mean, with), vec_mul(flight, alpha));
  motion.loose = alpha;
  /* Variance of the velocities, without what rounding makes of equal ones. */
  Real variance = real_max(share * sums.square - vec_dot(mean, mean) * real(1.00001f), real(0));
  motion.spread = with * real_sqrt(variance);
  return motion;
}

/* m/s: with crowd_displacement a grain goes no faster than this. */
LANE_INLINE Real speed_bound(FineParameters p, BetterMotion motion) {
  return real_sqrt(vec_dot(motion.velocity, motion.velocity)) + real(p.stir) * motion.spread;
}

#endif
