/* What the grid does to a particle along one axis (Section 3, lines 6a and 6b of Fig. 8). */
#ifndef METHODS_FLIP_TRANSFER_FLIP_LAW_H
#define METHODS_FLIP_TRANSFER_FLIP_LAW_H

#include "core/lane.h"

/* Interpolated from the faces, weights normed. */
typedef struct FlipAtParticle {
  Real velocity;   /* of the grid, after the step */
  Real change;     /* of it in the step, by stresses and solids */
  Real settle;     /* share of its own velocity that the particle gives up */
  Real correction; /* displacement of the density correction */
} FlipAtParticle;

typedef struct FlipUpdate {
  Real velocity;     /* of the particle */
  Real displacement; /* in the step */
  Real moves;        /* velocity that it moves with */
} FlipUpdate;

/* FLIP (Brackbill and Ruppel 1986): a particle's velocity changes by what that of the grid changes, and it moves with
 * that of the grid. Where no node counts it flies. `before` is its velocity, `gained` what gravity adds. */
LANE_INLINE FlipUpdate flip_update(FlipAtParticle grid, Mask on_grid, Real before, Real gained, Real dt) {
  Real flown = before + gained;
  FlipUpdate to;
  to.moves = real_select(on_grid, grid.velocity, flown);
  to.velocity = flown + real_select(on_grid, grid.change - grid.settle * before, real(0));
  to.displacement = dt * to.moves + real_select(on_grid, grid.correction, real(0));
  return to;
}

#endif
