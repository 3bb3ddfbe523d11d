/* Coarse grains as the fine ones see them in a frame, and the table of their cells. */
#ifndef UPSAMPLE_COARSE_LAW_H
#define UPSAMPLE_COARSE_LAW_H

#include "core/lane.h"

/* Cells of coarse grains: a table that wraps round, so that it has few cells however far apart they are. */
typedef struct CoarseTable {
  int count;     /* of coarse grains */
  float inverse; /* 1 / side */
  int mask[3];
  int shift[2]; /* of y and z in the number of a cell */
} CoarseTable;

/* Number of a cell in the table. */
LANE_INLINE Int coarse_entry(CoarseTable table, Int x, Int y, Int z) {
  return ((z & table.mask[2]) << table.shift[1]) | ((y & table.mask[1]) << table.shift[0]) | (x & table.mask[0]);
}

/* Where a coarse grain counts, how fast it goes there, and where it is seen next. */
typedef struct CoarseLook {
  LaneVec3 at, velocity, seen;
} CoarseLook;

/* What is at rest, and how long a frame is. */
typedef struct CoarseRate {
  float least; /* m, squared: what moved less since it was last looked at is at rest */
  float per_second, dt;
} CoarseRate;

/* One that was born in the frame is taken to have been underway all along. */
LANE_INLINE LaneVec3 coarse_born(LaneVec3 now, LaneVec3 velocity, CoarseRate rate) {
  return vec_sub(now, vec_mul(velocity, real(rate.dt)));
}

/* A fine grain at the beginning of the frame belongs to the coarse grains where they were then, and goes as far as they
 * went. What is at rest is looked at again when it has come far enough, so that nothing is lost of a slow creep. */
LANE_INLINE CoarseLook coarse_look(LaneVec3 now, LaneVec3 seen, CoarseRate rate) {
  LaneVec3 d = vec_sub(now, seen);
  Mask moves = ~real_less(vec_dot(d, d), real(rate.least));
  CoarseLook look;
  look.at = seen;
  look.velocity = vec_select(moves, vec_mul(d, real(rate.per_second)), vec_zero());
  look.seen = vec_select(moves, now, seen);
  return look;
}

#endif
