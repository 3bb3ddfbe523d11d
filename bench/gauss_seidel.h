/* Gauss-Seidel twin of p2: the same contacts and the same law, one contact after the other, each at once moving both of
 * its grains. Sequential and scalar; what Figures 1 and 5 of Holz 2014 compare with. Used by tests and by the bench.
 *
 *   ScreeWorld *world = ...;              a world of method p2, not yet stepped
 *   Method twin = gauss_seidel_method();
 *   world->method = &twin;                from now on its steps are solved in sequence */
#ifndef BENCH_GAUSS_SEIDEL_H
#define BENCH_GAUSS_SEIDEL_H

#include <math.h>
#include <stdlib.h>

#include "methods/p2/contacts.h"
#include "methods/p2/p2.h"

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

/* In the lexicographical order of the two rows, as the paper processes them. */
static inline int64_t sequential_contacts(const PositionStep *work, SequentialContact *sequence) {
  const PositionSlots *s = &work->layout.slots;
  int64_t count = 0;
  for (int64_t i = 0; i < work->count; i++) {
    int64_t end, first = position_slots_of(s, i, &end);
    for (int64_t slot = first; slot < end; slot += SLICE) {
      int32_t j = s->partner[slot];
      bool solid = j >= work->layout.boundary_row;
      if (!solid && j <= i) continue;
      sequence[count++] = (SequentialContact){
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

static inline float sequential_dot(const float a[3], const float b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void sequential_solve(const PositionStep *work, const P2Contacts *contacts, const SequentialContact *c) {
  const PositionSlots *s = &work->layout.slots;
  int64_t at = c->slot;
  float *own = work->rows.now[c->first], *other = work->rows.now[c->second];
  float n[3] = {s->nx[at], s->ny[at], s->nz[at]}, relative[3];
  for (int k = 0; k < 3; k++) relative[k] = own[k] - other[k];
  float along = sequential_dot(n, relative), gap = s->gap[at] + along;
  P2Slot slot = p2_slot(contacts, at);
  float before = s->ln[at], pull_before = slot.pull, press_before = before - pull_before;
  if (!(gap <= slot.within || before > 0)) return;
  float weight = c->weight_first + c->weight_second, spring = slot.spring, damper = slot.damper;
  float held = fmaxf(spring * (along - gap) / fmaxf(damper, 1e-30f), 0);
  float pull = fminf(fmaxf(pull_before - along / weight - (held - press_before), -slot.cap), 0);
  float residual = spring * gap + (1 - spring) * along + (pull - pull_before) * weight + damper * press_before;
  float press = fmaxf(press_before - residual / (weight + damper), 0);
  float friction[3] = {s->ltx[at], s->lty[at], s->ltz[at]}, wanted[3];
  for (int k = 0; k < 3; k++) wanted[k] = friction[k] - (relative[k] - along * n[k]) / weight;
  const float *mu = position_friction(work, at);
  float size = sqrtf(sequential_dot(wanted, wanted)), limit = mu[0] * press + slot.cap;
  float kinetic = (mu[1] * press + slot.cap) / fmaxf(size, 1e-30f);
  float kept = size > limit ? fminf(kinetic, 1) : 1;
  float *stored[3] = {&s->ltx[at], &s->lty[at], &s->ltz[at]};
  s->ln[at] = press + pull;
  if (!contacts->rigid) contacts->pull[at] = pull;
  for (int k = 0; k < 3; k++) {
    float push = n[k] * (press + pull - before) + kept * wanted[k] - friction[k];
    *stored[k] = kept * wanted[k];
    own[k] += push * c->weight_first;
    other[k] -= push * c->weight_second;
  }
}

/* The last step's forces, before the first sweep. */
static inline void sequential_warm(const PositionStep *work, const SequentialContact *c) {
  const PositionSlots *s = &work->layout.slots;
  int64_t at = c->slot;
  float n[3] = {s->nx[at], s->ny[at], s->nz[at]}, friction[3] = {s->ltx[at], s->lty[at], s->ltz[at]};
  for (int k = 0; k < 3; k++) {
    float push = n[k] * s->ln[at] + friction[k];
    work->rows.now[c->first][k] += push * c->weight_first;
    work->rows.now[c->second][k] -= push * c->weight_second;
  }
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

static inline Status sequential_sweeps(PositionStep *work, const P2Contacts *contacts) {
  SequentialContact *sequence = NULL;
  TRY(scratch_take(work->step->core, work->step->scratch, &sequence, work->layout.slots.groups * SLICE, "contacts"));
  int64_t count = sequential_contacts(work, sequence);
  if (work->settings->memory)
    for (int64_t k = 0; k < count; k++) sequential_warm(work, &sequence[k]);
  for (int n = 0; n < work->settings->iterations; n++)
    for (int64_t k = 0; k < count; k++) sequential_solve(work, contacts, &sequence[k]);
  for (int64_t k = 0; k < count; k++) sequential_copy(work, &sequence[k]);
  return SCREE_OK;
}

static inline Status gauss_seidel_step(void *data, Step *step) {
  P2 *p2 = data;
  int mark = scratch_mark(step->scratch);
  PositionStep work;
  P2Contacts contacts;
  double began = profile_begin();
  p2->settings.position.second_rows = false; /* it looks at partners by itself */
  Status status = p2_begin(p2, step, &work, &contacts);
  profile_end(step->profile, "contacts", began);
  began = profile_begin();
  if (status == SCREE_OK) status = sequential_sweeps(&work, &contacts);
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
