/* Slots eight abreast: what the passes of the family's methods have in common. For *_kernels.c files only. */
#ifndef METHODS_COMMON_POSITION_WIDE_H
#define METHODS_COMMON_POSITION_WIDE_H

#include "core/lane_memory.h"
#include "methods/common/position.h"
#include "methods/common/position_law.h"

/* Rows of eight grains: dx, dy, dz and w n, or w when averaging; or places and radii. */
typedef struct Rows {
  LaneVec3 d;
  Real fourth;
} Rows;

/* Those that follow each other. */
WIDE_INLINE Rows load_rows(const float (*rows)[4]) {
  Rows own;
  wide_turn4(wide_rows(rows[0], rows[4]), wide_rows(rows[1], rows[5]), wide_rows(rows[2], rows[6]),
             wide_rows(rows[3], rows[7]), &own.d.x, &own.d.y, &own.d.z, &own.fourth);
  return own;
}
/* The first `count` of them. */
WIDE_INLINE void store_rows(float (*rows)[4], LaneVec3 d, Real fourth, int64_t count) {
  static const int32_t one_by_one[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
  float few[LANES][4];
  wide_scatter4(count < LANES ? few : rows, one_by_one, d.x, d.y, d.z, fourth);
  if (count < LANES) memcpy(rows, few, sizeof *rows * (size_t)count);
}
WIDE_INLINE LaneVec3 load_few3(const float *x, const float *y, const float *z, int64_t count) {
  return vec_make(lane_load_few(x, count), lane_load_few(y, count), lane_load_few(z, count));
}
WIDE_INLINE void store_few3(float *x, float *y, float *z, LaneVec3 v, int64_t count) {
  lane_store_few(x, v.x, count);
  lane_store_few(y, v.y, count);
  lane_store_few(z, v.z, count);
}

WIDE_INLINE Rows gather_rows(const float (*rows)[4], const int32_t *which) {
  Rows own;
  wide_gather4(rows, which, &own.d.x, &own.d.y, &own.d.z, &own.fourth);
  return own;
}
/* Those of the slice's own grains. */
WIDE_INLINE Rows own_rows(const float (*rows)[4], const PositionSlots *slots, int64_t slice) {
  return gather_rows(rows, slots->grain + slice * SLICE);
}

/* The slice's rows after a push (kg m): into the buffer that the pass writes. */
WIDE_INLINE void move_rows(const PositionStep *work, int64_t slice, Rows own, LaneVec3 push) {
  const int32_t *grain = work->layout.slots.grain + slice * SLICE;
  LaneVec3 d = position_pushed(own.d, push, wide_gather(work->rows.w, wide_load_int(grain)));
  wide_scatter4(work->rows.next, grain, d.x, d.y, d.z, own.fourth);
}

WIDE_INLINE LaneVec3 load_normal(const PositionSlots *slots, int64_t at) {
  return lane_load3(slots->nx + at, slots->ny + at, slots->nz + at);
}

/* The weight of every grain is larger than nothing, and that of lanes of nobody too. */
WIDE_INLINE PositionTouch load_touch(const PositionSlots *slots, int64_t group, const float (*rows)[4], Rows own) {
  int64_t at = group * SLICE;
  Rows other = gather_rows(rows, slots->partner + at);
  return position_touch(own.d, own.fourth, other.d, other.fourth, load_normal(slots, at), wide_load(slots->gap + at));
}

/* What a pass needs to know the coefficients of its contacts, out of its loops. */
typedef struct Frictions {
  const float *mu;
  const int32_t *kind;
  WideInt solids; /* rows from here on are those of solids */
  PositionFriction pair, solid;
} Frictions;

WIDE_INLINE Frictions frictions_of(const PositionStep *work) {
  const float *mu = work->layout.mu;
  return (Frictions){.mu = mu,
                     .kind = work->layout.slots.kind,
                     .solids = (int32_t)work->layout.boundary_row - (WideInt){0},
                     .pair = {wide_set(mu[0]), wide_set(mu[1])},
                     .solid = {wide_set(mu[2]), wide_set(mu[3])}};
}

WIDE_INLINE PositionFriction friction_at(const Frictions *all, const PositionSlots *slots, int64_t at) {
  PositionFriction mu;
  if (__builtin_expect(all->kind != NULL, 0)) {
    wide_gather2(all->mu, all->kind + at, &mu.still, &mu.sliding);
    return mu;
  }
  WideInt pairs = wide_int_less(wide_load_int(slots->partner + at), all->solids);
  mu.still = wide_select(pairs, all->pair.still, all->solid.still);
  mu.sliding = wide_select(pairs, all->pair.sliding, all->solid.sliding);
  return mu;
}

WIDE_INLINE LaneVec3 load_friction(const PositionSlots *slots, int64_t at) {
  return lane_load3(slots->ltx + at, slots->lty + at, slots->ltz + at);
}
WIDE_INLINE void store_friction(const PositionSlots *slots, int64_t at, LaneVec3 f) {
  lane_store3(slots->ltx + at, slots->lty + at, slots->ltz + at, f);
}
WIDE_INLINE PositionMultipliers load_multipliers(const PositionSlots *slots, int64_t at) {
  return (PositionMultipliers){wide_load(slots->ln + at), load_friction(slots, at)};
}
WIDE_INLINE void store_multipliers(const PositionSlots *slots, int64_t at, PositionMultipliers m) {
  wide_store(slots->ln + at, m.normal);
  store_friction(slots, at, m.friction);
}

#endif
