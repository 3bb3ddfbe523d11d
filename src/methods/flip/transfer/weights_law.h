/* Trilinear weights and interpolation (Section 3). Lengths in cells. */
#ifndef METHODS_FLIP_TRANSFER_WEIGHTS_LAW_H
#define METHODS_FLIP_TRANSFER_WEIGHTS_LAW_H

#include "core/lane.h"

/* Of the nodes of the cell below, of the particle's own cell and of the cell above, along one axis. */
typedef struct NodeWeights {
  Real below, at, above;
} NodeWeights;

/* For a particle at t within its cell, from 0 to 1, and a node at 0 (a lower face) or at 0.5 (a centre). */
LANE_INLINE NodeWeights node_weights(Real t, Real node) {
  Real below = real_max(node - t, real(0)), above = real_max(t - node, real(0));
  NodeWeights w = {below, real(1) - (below + above), above};
  return w;
}

/* Below this sum hardly any node counts: the particle is inside a solid. Above the other, all do. */
#define WEIGHT_LEAST 1e-3f
#define WEIGHT_WHOLE 0.99999f

/* By what weights are multiplied so that those of the nodes that count sum to one; 0 where hardly any does. */
LANE_INLINE Real weight_norm(Real sum) {
  Real norm = real_select(real_less(real(WEIGHT_LEAST), sum), real(1) / sum, real(0));
  return real_select(real_less(real(WEIGHT_WHOLE), sum), real(1), norm);
}

LANE_INLINE Real interpolated(Real low, Real high, Real upper) { return low + upper * (high - low); }

/* A field at the particle and its gradient per cell: along x between two nodes, then over y, then over z; `upper` is
 * the weight of the upper one. */
typedef struct Interpolated {
  Real value;
  LaneVec3 gradient;
} Interpolated;

LANE_INLINE Interpolated along_x(Real low, Real high, Real upper) {
  Interpolated to;
  to.value = interpolated(low, high, upper);
  to.gradient = vec_make(high - low, real(0), real(0));
  return to;
}
LANE_INLINE Interpolated over_y(Interpolated low, Interpolated high, Real upper) {
  Interpolated to;
  to.value = interpolated(low.value, high.value, upper);
  to.gradient = vec_make(interpolated(low.gradient.x, high.gradient.x, upper), high.value - low.value, real(0));
  return to;
}
LANE_INLINE Interpolated over_z(Interpolated low, Interpolated high, Real upper) {
  Interpolated to;
  to.value = interpolated(low.value, high.value, upper);
  to.gradient = vec_make(interpolated(low.gradient.x, high.gradient.x, upper),
                         interpolated(low.gradient.y, high.gradient.y, upper), high.value - low.value);
  return to;
}

#endif
