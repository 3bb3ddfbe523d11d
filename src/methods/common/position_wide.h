/* Slots eight abreast, or four (core/simd_half.h): what the passes of the family's methods have in common. For
 * *_kernels.c files only. */
#ifndef METHODS_COMMON_POSITION_WIDE_H
#define METHODS_COMMON_POSITION_WIDE_H

#include "core/lane_memory.h"
#include "methods/common/position.h"
#include "methods/common/position_law.h"

/* Rows of eight grains: displacements or places, and what stands behind them. */
typedef struct Rows {
  LaneVec3 d;
  Real fourth;
} Rows;

#ifndef SIMD_HALVES
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
#endif

WIDE_INLINE Rows gather_rows(const float (*rows)[4], const int32_t *which) {
  Rows own;
  wide_gather4(rows, which, &own.d.x, &own.d.y, &own.d.z, &own.fourth);
  return own;
}
/* Those of the slice's own grains. */
WIDE_INLINE Rows own_rows(const float (*rows)[4], const PositionSlots *slots, int64_t slice) {
  return gather_rows(rows, slots->grain + slice * SLICE);
}

WIDE_INLINE void set_rows(float (*rows)[4], const PositionSlots *slots, int64_t slice, LaneVec3 d, Real fourth) {
  wide_scatter4(rows, slots->grain + slice * SLICE, d.x, d.y, d.z, fourth);
}

WIDE_INLINE LaneVec3 load_normal(const PositionSlots *slots, int64_t at) {
  return lane_load3(slots->nx + at, slots->ny + at, slots->nz + at);
}
WIDE_INLINE PositionPose load_pose(const PositionSlots *slots, int64_t at) {
  return (PositionPose){load_normal(slots, at), wide_load(slots->gap + at)};
}
WIDE_INLINE void store_pose(const PositionSlots *slots, int64_t at, PositionPose pose) {
  lane_store3(slots->nx + at, slots->ny + at, slots->nz + at, pose.normal);
  wide_store(slots->gap + at, pose.gap);
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

/* A slot before the substeps; `rows` are those of the shift. */
WIDE_INLINE PositionTouch start_touch(const PositionSlots *slots, int64_t row, const float (*rows)[4], Rows own) {
  Rows other = gather_rows(rows, slots->partner + row * SLICE);
  return position_touch(own.d, own.fourth, other.d, other.fourth, load_pose(slots, row * SLICE));
}

WIDE_INLINE LaneVec3 load_lanes(float *const from[3], int64_t lane) {
  return lane_load3(from[0] + lane, from[1] + lane, from[2] + lane);
}
WIDE_INLINE void store_lanes(float *const to[3], int64_t lane, LaneVec3 v) {
  lane_store3(to[0] + lane, to[1] + lane, to[2] + lane, v);
}

/* The grains of a slice before a batch, or before an iteration of the papers. */
typedef struct Own {
  LaneVec3 d;
  Real weight;
  PositionTurn turn; /* of those that turn */
} Own;

WIDE_INLINE Own load_own(const PositionStep *work, int64_t slice, bool turning) {
  const PositionSlots *slots = &work->layout.slots;
  Rows now = own_rows(work->rows.now, slots, slice);
  Own own = {.d = now.d, .weight = now.fourth};
  if (turning) {
    Rows turn = own_rows(work->turns.now, slots, slice);
    own.turn = (PositionTurn){turn.d, turn.fourth};
  }
  return own;
}

/* A slot in a pass. */
typedef struct SlotTouch {
  PositionTouch touch;
  LaneVec3 before; /* the normal that its multipliers act along so far */
  Real gap;        /* as it is, penetration included */
  Real start;      /* at the substep's start */
  Real weight;     /* of the partner */
} SlotTouch;

/* Contacts are brought from the start of the last substep to that of this one, some slices at a time, before these are
 * solved: each of the two has a root and a division that wait for one another. In one loop they stand behind each
 * other, and a processor looks a few hundred instructions ahead, which is hardly a row of slots: an eighth more time.
 * The solve needs the normals that the multipliers act along so far; these are kept meanwhile. */
typedef struct Brought {
  PositionNormals *normals; /* row by row, slice by slice */
  int64_t end;              /* of the slices that are brought on */
  int64_t next;             /* row of the next of them to be solved */
} Brought;

WIDE_INLINE Brought bring_nobody(const PositionStep *work, int64_t b, int thread) {
  return (Brought){.normals = work->rows.normals + thread * work->rows.normals_room, .end = b};
}

/* Brings slices on from s, as many of those before e as there is room for: for one in any case. */
WIDE_INLINE void bring_slices(const PositionStep *work, int64_t s, int64_t e, Brought *brought) {
  const PositionSlots *slots = &work->layout.slots;
  const int64_t room = work->rows.normals_room;
  int64_t count = 0;
  for (; s < e; s++) {
    const int64_t begin = position_rows_begin(slots, s, work->batch), end = position_solved_end(slots, s, work->batch);
    if (begin == end) continue;
    if (count + end - begin > room) break;
    const Rows own = own_rows(work->rows.last, slots, s);
    for (int64_t row = begin; row < end; row++, count++) {
      const int64_t at = row * SLICE;
      const Rows last = gather_rows(work->rows.last, slots->partner + at);
      const PositionPose before = load_pose(slots, at);
      store_pose(slots, at, position_turn(before, vec_sub(own.d, last.d), own.fourth + last.fourth));
      PositionNormals *kept = &brought->normals[count];
      lane_store3(kept->x, kept->y, kept->z, before.normal);
    }
  }
  brought->end = s;
  brought->next = 0;
}

/* The kept normals of the next rows. */
WIDE_INLINE const PositionNormals *brought_rows(Brought *brought, int64_t rows) {
  const PositionNormals *first = brought->normals + brought->next;
  brought->next += rows;
  return first;
}

/* In a substep, brought on. */
WIDE_INLINE SlotTouch substep_touch(const PositionStep *work, int64_t row, Own own, const PositionNormals *before) {
  const PositionSlots *slots = &work->layout.slots;
  const int64_t at = row * SLICE;
  const Rows now = gather_rows(work->rows.now, slots->partner + at);
  const PositionPose pose = load_pose(slots, at);
  /* The weight of every grain is larger than nothing, and that of unused lanes too. */
  return (SlotTouch){
      position_substep_touch(own.d, own.weight, now.d, now.fourth, pose, work->settings->memory, work->recovered),
      lane_load3(before->x, before->y, before->z), position_touch(own.d, own.weight, now.d, now.fourth, pose).gap,
      pose.gap, now.fourth};
}

/* In an iteration of the papers. `start` is the row of the slice's own grains in rows.last. */
WIDE_INLINE SlotTouch iteration_touch(const PositionStep *work, int64_t row, Own own, Rows start) {
  const PositionSlots *slots = &work->layout.slots;
  const int64_t at = row * SLICE;
  const Rows now = gather_rows(work->rows.now, slots->partner + at),
             last = gather_rows(work->rows.last, slots->partner + at);
  const PositionTouch t = position_iteration_touch(own.d, own.weight, now.d, now.fourth, load_pose(slots, at),
                                                   vec_sub(start.d, last.d), start.fourth + last.fourth);
  return (SlotTouch){t, t.normal, t.gap, wide_load(slots->gap + at), now.fourth};
}

/* What friction acts against in a slot. */
WIDE_INLINE PositionSlide slot_slide(const PositionStep *work, int64_t row, Own own, SlotTouch slot, bool turning) {
  if (!turning) return position_slide(slot.touch);
  const Rows turn = gather_rows(work->turns.now, work->layout.slots.partner + row * SLICE);
  return position_turning_slide(slot.touch, own.turn, own.weight, (PositionTurn){turn.d, turn.fourth}, slot.weight);
}

/* What the contacts of some rows do to their grains. */
typedef struct Pushes {
  LaneVec3 push;
  PositionTorque torque; /* of those that turn */
} Pushes;

WIDE_INLINE Pushes no_pushes(void) { return (Pushes){vec_zero(), position_no_torque()}; }

/* What a pass needs to know the coefficients of its contacts, out of its loops. */
typedef struct Frictions {
  const float *mu;
  const int32_t *kind;
  WideInt solids; /* rows from here on are those of solids */
  PositionFriction pair, solid;
  const float *tension; /* of bonds, times h^2; NULL: there are none */
  Wide pair_tension;
  const float *rolling; /* mu_r R / r; NULL: nobody turns */
  Wide pair_rolling, solid_rolling;
} Frictions;

WIDE_INLINE Frictions frictions_of(const PositionStep *work) {
  const float *mu = work->layout.mu, *rolling = work->layout.rolling;
  return (Frictions){.mu = mu,
                     .kind = work->layout.slots.kind,
                     .solids = (int32_t)work->layout.boundary_row - (WideInt){0},
                     .pair = {wide_set(mu[0]), wide_set(mu[1])},
                     .solid = {wide_set(mu[2]), wide_set(mu[3])},
                     .tension = work->layout.tension,
                     .pair_tension = wide_set(work->layout.tension ? work->layout.tension[0] : 0),
                     .rolling = rolling,
                     .pair_rolling = wide_set(rolling ? rolling[0] : 0),
                     .solid_rolling = wide_set(rolling ? rolling[2] : 0)};
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

WIDE_INLINE Real tension_at(const Frictions *all, const PositionSlots *slots, int64_t at) {
  if (__builtin_expect(all->kind != NULL, 0)) return wide_gather(all->tension, wide_load_int(all->kind + at));
  return real_mask(wide_int_less(wide_load_int(slots->partner + at), all->solids), all->pair_tension);
}

WIDE_INLINE Real rolling_at(const Frictions *all, const PositionSlots *slots, int64_t at) {
  if (__builtin_expect(all->kind != NULL, 0)) return wide_gather(all->rolling, wide_load_int(all->kind + at));
  WideInt pairs = wide_int_less(wide_load_int(slots->partner + at), all->solids);
  return wide_select(pairs, all->pair_rolling, all->solid_rolling);
}

/* The displacement after a push. */
WIDE_INLINE LaneVec3 pushed_by(const PositionStep *work, int64_t slice, LaneVec3 d, LaneVec3 push) {
  return position_pushed(d, push, wide_load(work->rows.lanes.w + slice * SLICE));
}

/* The same in a substep, where pushes are summed up. */
WIDE_INLINE LaneVec3 solved(const PositionStep *work, int64_t slice, LaneVec3 d, LaneVec3 push) {
  float *const *sum = work->rows.lanes.push;
  store_lanes(sum, slice * SLICE, vec_add(load_lanes(sum, slice * SLICE), push));
  return pushed_by(work, slice, d, push);
}

WIDE_INLINE PositionTorque load_torque(const PositionTurns *turns, int64_t lane) {
  return (PositionTorque){load_lanes(turns->torque, lane), wide_load(turns->resistance + lane)};
}
WIDE_INLINE void store_torque(const PositionTurns *turns, int64_t lane, PositionTorque torque) {
  store_lanes(turns->torque, lane, torque.friction);
  wide_store(turns->resistance + lane, torque.resistance);
}

/* The turns of a slice under what its contacts do to them by now; rows for the others. */
WIDE_INLINE PositionTurn turn_slice(const PositionStep *work, int64_t slice, float (*rows)[4]) {
  const PositionTurns *turns = &work->turns;
  const int64_t lane = slice * SLICE;
  const Mask may = real_less(real(0), wide_load(turns->turns + lane));
  PositionTurn turn = position_turned(load_lanes(turns->before, lane), load_torque(turns, lane), may,
                                      wide_load(work->rows.lanes.w + lane));
  set_rows(rows, &work->layout.slots, slice, turn.rim, turn.yields);
  return turn;
}

/* After some contacts of a substep. */
WIDE_INLINE PositionTurn turned(const PositionStep *work, int64_t slice, PositionTorque change) {
  const PositionTurns *turns = &work->turns;
  const int64_t lane = slice * SLICE;
  store_torque(turns, lane, position_add_torque(load_torque(turns, lane), change));
  return turn_slice(work, slice, work->turns.next);
}

/* Goes on to the next substep: a turn goes on, and what is remembered acts on it. */
WIDE_INLINE void end_turn(const PositionStep *work, int64_t slice, PositionTurn turn) {
  const PositionTurns *turns = &work->turns;
  const int64_t lane = slice * SLICE;
  if (work->substep + 1 == work->substeps) return;
  store_lanes(turns->before, lane, turn.rim);
  if (!work->settings->memory) store_torque(turns, lane, position_no_torque());
  turn_slice(work, slice, work->turns.next);
}

/* Ends a pass over a batch: rows of the slice for the others, with the mass that the next batch asks for. */
WIDE_INLINE void end_batch(const PositionStep *work, int64_t slice, LaneVec3 d, int next_batch) {
  const int64_t lane = slice * SLICE;
  set_rows(work->rows.next, &work->layout.slots, slice, d, wide_load(work->rows.lanes.split[next_batch] + lane));
}

/* Ends a substep. */
WIDE_INLINE void end_substep(const PositionStep *work, int64_t slice, LaneVec3 d) {
  const PositionLanes *lanes = &work->rows.lanes;
  const int64_t lane = slice * SLICE;
  store_lanes(lanes->total, lane, vec_add(load_lanes(lanes->total, lane), d));
  set_rows(work->rows.last_next, &work->layout.slots, slice, d, wide_load(lanes->radius + lane));
  if (work->substep + 1 < work->substeps) {
    LaneVec3 fall = vec_mul(vec_make(wide_set(work->fall[0]), wide_set(work->fall[1]), wide_set(work->fall[2])),
                            wide_load(lanes->falls + lane));
    PositionMotion motion = {d, load_lanes(lanes->left, lane)};
    motion = position_next_substep(motion, fall, load_lanes(lanes->push, lane), wide_load(lanes->w + lane),
                                   work->settings->memory);
    store_lanes(lanes->left, lane, motion.left);
    d = motion.displacement;
  } else set_rows(work->rows.total, &work->layout.slots, slice, load_lanes(lanes->total, lane), wide_set(0));
  end_batch(work, slice, d, 0);
}

#endif
