/* Slots eight abreast: what the passes of the family's methods have in common. For *_kernels.c files only. */
#ifndef METHODS_COMMON_POSITION_WIDE_H
#define METHODS_COMMON_POSITION_WIDE_H

#include "core/lane.h"
#include "methods/common/position.h"

#define TINY 1e-30f

/* Eight rows that follow each other. */
WIDE_INLINE void wide_load4(const float (*rows)[4], Wide *x, Wide *y, Wide *z, Wide *w) {
  wide_turn4(wide_rows(rows[0], rows[4]), wide_rows(rows[1], rows[5]), wide_rows(rows[2], rows[6]),
             wide_rows(rows[3], rows[7]), x, y, z, w);
}
WIDE_INLINE void wide_store4(float (*rows)[4], Wide x, Wide y, Wide z, Wide w) {
  static const int32_t one_by_one[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
  wide_scatter4(rows, one_by_one, x, y, z, w);
}

/* Rows of the slice's own grains. */
typedef struct Rows {
  LaneVec3 d;
  Wide fourth; /* w n, or w when averaging */
} Rows;

WIDE_INLINE Rows own_rows(const float (*rows)[4], const PositionSlots *slots, int64_t slice) {
  Rows own;
  wide_gather4(rows, slots->grain + slice * SLICE, &own.d.x, &own.d.y, &own.d.z, &own.fourth);
  return own;
}

/* The slice's rows after a push (kg m): into the buffer that the pass writes. */
WIDE_INLINE void move_rows(const PositionStep *work, int64_t slice, Rows own, LaneVec3 push) {
  const int32_t *grain = work->slots.grain + slice * SLICE;
  Wide w = wide_gather(work->w, wide_load_int(grain));
  LaneVec3 d = vec_add(own.d, vec_mul(push, w));
  wide_scatter4(work->next, grain, d.x, d.y, d.z, own.fourth);
}

/* A slot as it stands: relative displacement, unit normal towards the grain, gap, sum of w n. */
typedef struct Touch {
  LaneVec3 relative, normal;
  Wide gap, weight;
} Touch;

WIDE_INLINE Touch touch(const PositionSlots *slots, int64_t group, const float (*rows)[4], LaneVec3 own,
                        Wide own_weight) {
  int64_t at = group * SLICE;
  Touch t;
  LaneVec3 other;
  Wide other_weight;
  wide_gather4(rows, slots->partner + at, &other.x, &other.y, &other.z, &other_weight);
  t.relative = vec_sub(own, other);
  t.normal = (LaneVec3){wide_load(slots->nx + at), wide_load(slots->ny + at), wide_load(slots->nz + at)};
  t.gap = wide_load(slots->gap + at) + vec_dot(t.normal, t.relative);
  t.weight =
      own_weight + other_weight; /* that of every grain is larger than nothing, and that of lanes of nobody too */
  return t;
}

/* Coefficients of eight contacts. */
typedef struct Friction {
  Wide still, sliding;
} Friction;

/* What a pass needs to know them, out of its loops. */
typedef struct Frictions {
  const float *mu;
  const int32_t *kind;
  WideInt solids; /* rows from here on are those of solids */
  Friction pair, solid;
} Frictions;

WIDE_INLINE Frictions frictions_of(const PositionStep *work) {
  const float *mu = work->mu;
  return (Frictions){.mu = mu,
                     .kind = work->slots.kind,
                     .solids = (int32_t)work->boundary_row - (WideInt){0},
                     .pair = {wide_set(mu[0]), wide_set(mu[1])},
                     .solid = {wide_set(mu[2]), wide_set(mu[3])}};
}

WIDE_INLINE Friction friction_at(const Frictions *all, const PositionSlots *slots, int64_t at) {
  Friction mu;
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
  return (LaneVec3){wide_load(slots->ltx + at), wide_load(slots->lty + at), wide_load(slots->ltz + at)};
}
WIDE_INLINE void store_friction(const PositionSlots *slots, int64_t at, LaneVec3 f) {
  wide_store(slots->ltx + at, f.x);
  wide_store(slots->lty + at, f.y);
  wide_store(slots->ltz + at, f.z);
}

#endif
