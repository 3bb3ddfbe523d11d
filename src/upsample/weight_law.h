/* Weights of coarse grains at a fine grain, and sums over them: Sommer 2022, Section 4. The equations of that section
 * have no numbers; here and in motion_law.h they are counted from (4.1) on:
 *
 *   (4.1)  w_ij = max(0, (1 - |x_ij|^2 / 9 r^2)^3)                 weight of coarse grain j at fine grain i
 *   (4.2)  v~_i = sum_j w_ij v_j / sum_j w_ij                      mean velocity
 *   (4.3)  alpha_i = 1 - max w  where max w <= c1 or max w / sum w >= c2, else 0
 *   (4.4)  v_i' = (1 - alpha_i) v~_i + alpha_i (v_i + dt g)
 *   (4.5)  x_i' = x_i + dt v_i'
 *
 * With the reach R = 3 r a weight is kept as t^3, t = R^2 - |x_ij|^2: R^6 times the paper's, which saves a product in
 * every pair and cancels in (4.2). */
#ifndef UPSAMPLE_WEIGHT_LAW_H
#define UPSAMPLE_WEIGHT_LAW_H

#include "core/lane.h"

typedef struct WeightedSums {
  Real weight;       /* sum of w */
  LaneVec3 velocity; /* sum of w v */
  Real top;          /* largest t: that of the nearest coarse grain */
  Real square;       /* sum of w v^2; better mode */
} WeightedSums;

LANE_INLINE WeightedSums sums_zero(void) {
  WeightedSums sums = {real(0), vec_zero(), real(0), real(0)};
  return sums;
}

/* (4.1): t of a pair, `offset` = x_i - x_j. */
LANE_INLINE Real pair_nearness(LaneVec3 offset, Real reach2) {
  return real_max(reach2 - vec_dot(offset, offset), real(0));
}

/* Better mode: a coarse grain behind the plane of the nearest wall does not count. `gap` and `normal` are those of the
 * wall at the fine grain. */
LANE_INLINE Real pair_nearness_in_front(Real t, LaneVec3 offset, Real gap, LaneVec3 normal) {
  return real_mask(real_less(vec_dot(offset, normal), gap), t);
}

/* (4.1), (4.2): adds a coarse grain with velocity v to the sums. `squares`: `square` is wanted and is given v^2. */
LANE_INLINE WeightedSums sums_add_pair(WeightedSums sums, Real t, LaneVec3 velocity, Real square, bool squares) {
  Real w = t * t * t;
  sums.top = real_max(sums.top, t);
  sums.weight = sums.weight + w;
  sums.velocity = vec_add(sums.velocity, vec_mul(velocity, w));
  if (squares) sums.square = sums.square + w * square;
  return sums;
}

/* Section 4, last paragraph: samples of solids count like coarse grains, but with the rule for bodies only where a
 * coarse grain is in reach. */
LANE_INLINE WeightedSums sums_add_samples(WeightedSums sums, WeightedSums samples, bool body_rule) {
  Mask counts = body_rule ? real_less(real(0), sums.weight) : real_less_equal(real(0), sums.weight);
  sums.weight = sums.weight + real_select(counts, samples.weight, real(0));
  sums.velocity = vec_add(sums.velocity, vec_select(counts, samples.velocity, vec_zero()));
  sums.top = real_max(sums.top, real_select(counts, samples.top, real(0)));
  return sums;
}

/* The same for a solid without samples, from its distance. A plane sampled with spheres of radius r has
 * 0.547 / (pi r^2) of them per area (randomly touching discs). Their weights, integrated over the plane at distance d,
 * are 9/4 * 0.547 q^4 = 1.23 q^4 with q = 1 - d^2 / R^2, and the largest is q^3. Distances beyond `known` have only a
 * sign. */
#define WALL_WEIGHT 1.23f
typedef struct WallWeight {
  Real weight, t;
} WallWeight;

LANE_INLINE WallWeight wall_weight(Real distance, Real known, float reach2, Real weight, bool body_rule) {
  Real d = real_max(distance, real(0));
  Mask counts = real_less(distance, known) & real_less(-known, distance);
  if (body_rule) counts = counts & real_less(real(0), weight);
  WallWeight wall;
  wall.t = real_mask(counts, real_max(real(reach2) - d * d, real(0)));
  Real square = wall.t * wall.t;
  wall.weight = real(WALL_WEIGHT / reach2) * square * square;
  return wall;
}

#endif
