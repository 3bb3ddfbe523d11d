/* Gauss-Seidel twin of p2: the same contacts and the same laws, one contact after the other, each at once moving both
 * of its grains. Sequential and scalar; what Figures 1 and 5 of Holz 2014 compare with. Used by tests and by the bench.
 *
 *   ScreeWorld *world = ...;              a world of method p2, not yet stepped
 *   Method twin = gauss_seidel_method();
 *   world->method = &twin;                from now on its steps are solved in sequence */
#ifndef BENCH_GAUSS_SEIDEL_H
#define BENCH_GAUSS_SEIDEL_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANE_SCALAR /* the laws, one contact at a time */
#include "methods/common/position_contacts.h"
#include "methods/p2/contacts.h"
#include "methods/p2/p2.h"
#include "methods/p2/p2_law.h"

/* One contact: the slot of its first grain, and of its second (-1: a solid). */
typedef struct SequentialContact {
  int64_t slot, mirror;
  int32_t first, second; /* rows */
  float weight_first, weight_second;
} SequentialContact;

static inline int64_t sequential_mirror(const PositionStep *work, int64_t i, int32_t j) {
  const PositionSlots *s = &work->layout.slots;
  int64_t end, first = position_slots_of(s, j, &end);
  for (int64_t slot = first; slot < end; slot += SLICE)
    if (s->partner[slot] == i) return slot;
  return -1;
}

/* A push on both sides; that of grains is summed up. */
static inline void sequential_push(const PositionStep *work, const SequentialContact *c, LaneVec3 push) {
  const float parts[3] = {push.x, push.y, push.z};
  for (int k = 0; k < 3; k++) {
    float *sum = work->rows.lanes.push[k];
    work->rows.now[c->first][k] += parts[k] * c->weight_first;
    work->rows.now[c->second][k] -= parts[k] * c->weight_second;
    sum[work->layout.slots.lane[c->first]] += parts[k];
    if (c->second < work->count) sum[work->layout.slots.lane[c->second]] -= parts[k];
  }
}

/* In the lexicographical order of the two rows, as the paper processes them: those of pairs or those with solids. */
static inline int64_t sequential_contacts(const PositionStep *work, bool solids, SequentialContact *contacts) {
  const PositionSlots *s = &work->layout.slots;
  int64_t count = 0;
  for (int64_t i = 0; i < work->count; i++) {
    int64_t end, first = position_slots_of(s, i, &end);
    for (int64_t slot = first; slot < end; slot += SLICE) {
      int32_t j = s->partner[slot];
      bool solid = j >= work->layout.boundary_row;
      if (solid != solids || (!solid && j <= i)) continue;
      contacts[count++] = (SequentialContact){
          .slot = slot,
          .mirror = solid ? -1 : sequential_mirror(work, i, j),
          .first = (int32_t)i,
          .second = j,
          .weight_first = work->rows.w[i],
          .weight_second = solid ? work->rows.now[j][3] : work->rows.w[j],
      };
    }
  }
  return count;
}

static inline LaneVec3 sequential_vector(const float v[3]) { return vec_make(v[0], v[1], v[2]); }
static inline LaneVec3 sequential_load(float *const from[3], int64_t at) {
  return vec_make(from[0][at], from[1][at], from[2][at]);
}
static inline void sequential_store(float *const to[3], int64_t at, LaneVec3 v) {
  to[0][at] = v.x, to[1][at] = v.y, to[2][at] = v.z;
}

/* The contact is brought from the start of the last substep to that of this one, as by substep_touch. */
static inline PositionPose sequential_turn(const PositionStep *work, const SequentialContact *c) {
  const PositionSlots *s = &work->layout.slots;
  float *const normal[3] = {s->nx, s->ny, s->nz}, *const last[2] = {work->rows.last[c->first],
                                                                    work->rows.last[c->second]};
  PositionPose pose = {sequential_load(normal, c->slot), s->gap[c->slot]};
  pose = position_turn(pose, vec_sub(sequential_vector(last[0]), sequential_vector(last[1])), last[0][3] + last[1][3]);
  sequential_store(normal, c->slot, pose.normal);
  s->gap[c->slot] = pose.gap;
  return pose;
}

static inline void sequential_solve(const PositionStep *work, const P2Contacts *all, const SequentialContact *c) {
  const PositionSlots *s = &work->layout.slots;
  const bool memory = work->settings->memory;
  int64_t at = c->slot;
  float *const normal[3] = {s->nx, s->ny, s->nz}, *const friction[3] = {s->ltx, s->lty, s->ltz};
  float *own = work->rows.now[c->first], *other = work->rows.now[c->second],
        weight = c->weight_first + c->weight_second;
  const P2Slot slot = p2_slot(all, at);
  const P2Constants constants = {slot.spring, slot.damper, slot.cap, slot.grip};
  const LaneVec3 normal_before = sequential_load(normal, at);
  const PositionPose pose = sequential_turn(work, c);
  LaneVec3 relative = vec_sub(sequential_vector(own), sequential_vector(other));
  float along = vec_dot(relative, pose.normal);
  bool soft = s->soft && s->soft[at] > 0;
  float gap = soft ? pose.gap + along : position_gap(pose.gap, along, memory, work->recovered);
  PositionMultipliers before = {s->ln[at], sequential_load(friction, at)}, after;
  if (!(gap <= slot.within || before.normal > 0)) return;
  P2Normal press = p2_normal_split((P2Normal){before.normal - slot.pull, slot.pull}, gap, along, constants, weight);
  const float *mu = position_friction(work, at);
  LaneVec3 wanted = vec_sub(before.friction, vec_mul(vec_tangential(relative, pose.normal), 1 / weight));
  after.normal = press.press + press.pull;
  after.friction = p2_coulomb(wanted, (PositionFriction){mu[0], mu[1]}, press.press, slot.grip);
  s->ln[at] = after.normal;
  sequential_store(friction, at, after.friction);
  if (!all->rigid) all->pull[at] = press.pull;
  sequential_push(work, c, position_change(before, normal_before, after, pose.normal));
}

/* The last step's forces, before the first sweep. */
static inline void sequential_warm(const PositionStep *work, const SequentialContact *c) {
  const PositionSlots *s = &work->layout.slots;
  float *const normal[3] = {s->nx, s->ny, s->nz}, *const friction[3] = {s->ltx, s->lty, s->ltz};
  PositionMultipliers held = {s->ln[c->slot], sequential_load(friction, c->slot)};
  sequential_push(work, c, position_push(held, sequential_load(normal, c->slot)));
}

/* Both sides of a contact keep its forces: the second's slot gets what the first's has. */
static inline void sequential_copy(const PositionStep *work, const SequentialContact *c) {
  const PositionSlots *s = &work->layout.slots;
  if (c->mirror < 0) return;
  s->ln[c->mirror] = s->ln[c->slot];
  s->ltx[c->mirror] = -s->ltx[c->slot];
  s->lty[c->mirror] = -s->lty[c->slot];
  s->ltz[c->mirror] = -s->ltz[c->slot];
}

/* What is not remembered begins with nothing. */
static inline void sequential_forget(const PositionStep *work, const P2Contacts *all, const SequentialContact *c) {
  const PositionSlots *s = &work->layout.slots;
  s->ln[c->slot] = s->ltx[c->slot] = s->lty[c->slot] = s->ltz[c->slot] = 0;
  if (!all->rigid) all->pull[c->slot] = 0;
}

/* What solids are pushed by, as position_sum_boundary; and the end of a substep, as end_substep. */
static inline void sequential_end_substep(PositionStep *work) {
  const PositionSlots *s = &work->layout.slots;
  const float *const normal[3] = {s->nx, s->ny, s->nz}, *const friction[3] = {s->ltx, s->lty, s->ltz};
  for (int64_t g = 0; g < work->layout.boundary_count; g++) {
    int64_t slot = work->layout.boundary[g].slot;
    for (int k = 0; k < 3; k++)
      work->rows.boundary_sum[k][work->layout.boundary[g].sum] += normal[k][slot] * s->ln[slot] + friction[k][slot];
  }
  const LaneVec3 fall = sequential_vector(work->fall);
  for (int64_t i = 0; i < work->count; i++) {
    float *d = work->rows.now[i];
    int64_t lane = s->lane[i];
    PositionMotion motion = {sequential_vector(d), sequential_load(work->rows.lanes.left, lane)};
    for (int k = 0; k < 3; k++) work->rows.total[i][k] += d[k];
    for (int k = 0; k < 3; k++) work->rows.last[i][k] = d[k];
    if (work->substep + 1 == work->substeps) continue;
    motion = position_next_substep(motion, fall, sequential_load(work->rows.lanes.push, lane), work->rows.w[i],
                                   work->settings->memory);
    sequential_store(work->rows.lanes.left, lane, motion.left);
    d[0] = motion.displacement.x, d[1] = motion.displacement.y, d[2] = motion.displacement.z;
  }
}

/* The stabilising shift is the displacement before the first substep; rows then hold radii, as position_warm_pass
 * leaves them. */
static inline void sequential_enter(PositionStep *work) {
  for (int64_t i = 0; i < work->count; i++) {
    for (int k = 0; k < 3; k++) work->rows.total[i][k] = work->rows.last[i][k];
    work->rows.last[i][3] = work->step->state->particles.radius[i];
  }
  for (int64_t g = 0; g < work->layout.boundary_count; g++)
    work->rows.last[work->layout.boundary_row + g][3] = POSITION_FAR;
}

static inline void sequential_move_boundary(PositionStep *work) {
  const int64_t slices = work->layout.slots.slices;
  for (int64_t b = 0; work->bodies.riding_start && b < slices; b += POSITION_CHUNK)
    position_move_boundary(work, b, b + POSITION_CHUNK < slices ? b + POSITION_CHUNK : slices);
}

/* As position_iterate, but one contact after the other. */
static inline Status sequential_sweeps(PositionStep *work, const P2Contacts *all) {
  SequentialContact *contacts = NULL;
  TRY(scratch_take(work->step->core, work->step->scratch, &contacts, work->layout.slots.rows * SLICE, "contacts"));
  int64_t count = sequential_contacts(work, false, contacts);
  count += sequential_contacts(work, true, contacts + count); /* solved last */
  bool memory = work->settings->memory;
  sequential_enter(work);
  for (int k = 0; k < 3; k++)
    memset(work->rows.lanes.push[k], 0, sizeof *work->rows.lanes.push[k] * (size_t)work->padded);
  for (int64_t k = 0; memory && k < count; k++) sequential_warm(work, &contacts[k]);
  for (work->substep = 0; work->substep < work->substeps; work->substep++) {
    position_begin_substep(work);
    sequential_move_boundary(work);
    for (int64_t k = 0; !memory && k < count; k++) sequential_forget(work, all, &contacts[k]);
    for (int64_t k = 0; k < count; k++) sequential_solve(work, all, &contacts[k]);
    sequential_end_substep(work);
    position_end_substep(work);
  }
  for (int64_t k = 0; k < count; k++) sequential_copy(work, &contacts[k]);
  return SCREE_OK;
}

static inline Status gauss_seidel_step(void *data, Step *step) {
  P2 *p2 = data;
  int mark = scratch_mark(step->scratch);
  PositionStep work;
  P2Contacts all;
  double began = profile_begin();
  p2->settings.position.second_rows = false; /* it looks at partners by itself */
  Status status = p2_begin(p2, step, &work, &all);
  profile_end(step->profile, "contacts", began);
  began = profile_begin();
  if (status == SCREE_OK) status = sequential_sweeps(&work, &all);
  profile_end(step->profile, "solve", began);
  if (status == SCREE_OK) status = p2_end(p2, &work);
  scratch_release(step->core, step->scratch, mark);
  return status;
}

/* p2 with its iterations done in sequence. Fixed and keyframed solids only. */
static inline Method gauss_seidel_method(void) {
  Method method = METHOD_P2;
  method.step = gauss_seidel_step;
  return method;
}

#endif
