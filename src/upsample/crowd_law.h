/* Better mode: fine grains are counted in cells, and where sand moves a grain is displaced from crowded to sparse cells
 * (stir.c says why). */
#ifndef UPSAMPLE_CROWD_LAW_H
#define UPSAMPLE_CROWD_LAW_H

#include "geometry/trilinear_law.h"

/* Cells whose fine grains are counted. They wrap round, so that a stray grain costs nothing; grains out of the room
 * that they stand for are not counted, as nobody asks for them, unless that room had to be folded into them. */
typedef struct CountCells {
  float inverse; /* 1 / side */
  int mask[3];
  int shift[2]; /* of y and z in the index */
  int low[3];   /* lowest cell of the room */
  int folded;
} CountCells;

/* Displacements below this share of a cell's side are not worth a look at the counts. */
#define CROWD_LEAST 1e-5f
/* Cells from a wall within which no grain is displaced towards it. */
#define CROWD_KEEP_OFF 2

/* Within a billion cells. */
LANE_INLINE Real cell_hold(Real v) { return real_min(real_max(v, real(-1e9f)), real(1e9f)); }

LANE_INLINE Int cell_of(CountCells cells, Real at) { return int_floor(cell_hold(at * real(cells.inverse))); }

/* Whether a cell is in the room on one axis. */
LANE_INLINE Mask cell_in_room(CountCells cells, int axis, Int cell) {
  return int_less(cell - cells.low[axis], (Int){0} + cells.mask[axis] + 1) &
         int_less((Int){0} - 1, cell - cells.low[axis]);
}

LANE_INLINE Int cell_join(CountCells cells, Int x, Int y, Int z) {
  return x | (y << cells.shift[0]) | (z << cells.shift[1]);
}

/* The cube of cell centres round a place. */
typedef struct CountPlace {
  Int base[3];   /* cell of its lowest corner */
  LaneVec3 part; /* of its side, from there */
} CountPlace;

LANE_INLINE CountPlace count_place(CountCells cells, LaneVec3 at) {
  LaneVec3 held =
      vec_make(cell_hold(at.x * real(cells.inverse) - real(0.5f)), cell_hold(at.y * real(cells.inverse) - real(0.5f)),
               cell_hold(at.z * real(cells.inverse) - real(0.5f)));
  CountPlace place;
  place.base[0] = int_floor(held.x);
  place.base[1] = int_floor(held.y);
  place.base[2] = int_floor(held.z);
  place.part = vec_make(held.x - real_from_int(place.base[0]), held.y - real_from_int(place.base[1]),
                        held.z - real_from_int(place.base[2]));
  return place;
}

/* The count in the cell that the place is in: at the nearest corner. */
LANE_INLINE Real count_here(Corners counts, LaneVec3 part) {
  Mask x = real_less_equal(real(0.5f), part.x), y = real_less_equal(real(0.5f), part.y),
       z = real_less_equal(real(0.5f), part.z);
  Real row0 = real_select(x, counts.v[1], counts.v[0]), row1 = real_select(x, counts.v[3], counts.v[2]);
  Real row2 = real_select(x, counts.v[5], counts.v[4]), row3 = real_select(x, counts.v[7], counts.v[6]);
  return real_select(z, real_select(y, row3, row2), real_select(y, row1, row0));
}

LANE_INLINE Real count_or(Real count, Real other) { return real_select(real_less(real(0), count), count, other); }

/* Gradient of the count, per cell and relative to the count. An empty cell counts as this one: nothing is drawn out of
 * a surface. */
LANE_INLINE LaneVec3 crowd_gradient(Corners counts, LaneVec3 part) {
  Real here = real_max(count_here(counts, part), real(1));
  counts.v[0] = count_or(counts.v[0], here);
  counts.v[1] = count_or(counts.v[1], here);
  counts.v[2] = count_or(counts.v[2], here);
  counts.v[3] = count_or(counts.v[3], here);
  counts.v[4] = count_or(counts.v[4], here);
  counts.v[5] = count_or(counts.v[5], here);
  counts.v[6] = count_or(counts.v[6], here);
  counts.v[7] = count_or(counts.v[7], here);
  Trilinear count = trilinear(counts, part);
  return vec_mul(count.gradient, real(1) / real_max(count.value, real(1)));
}

/* A grain goes against the gradient, no farther than `longest`. */
LANE_INLINE LaneVec3 crowd_displacement(LaneVec3 gradient, Real longest, Mask stirs) {
  Real size = real_sqrt(vec_dot(gradient, gradient));
  return vec_mul(gradient, real_mask(stirs, -longest / real_max(size, real(1))));
}

/* A cell that a wall cuts holds fewer grains without being sparse: near a wall nothing is displaced towards it. */
LANE_INLINE LaneVec3 crowd_keep_off(LaneVec3 displacement, Real gap, Real keep_off, LaneVec3 normal) {
  Real into = vec_dot(displacement, normal);
  into = real_mask(real_less(gap, keep_off) & real_less(into, real(0)), into);
  return vec_sub(displacement, vec_mul(normal, into));
}

#endif
