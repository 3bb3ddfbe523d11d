/* Error reduction (Section 7): of the two grains of a contact the one on top moves more, as if the lower one were
 * heavier: e_i = 1 - tilt, where tilt is eps times
 *   - n . g^, the paper's local heuristic (Eq. 37), or
 *   - the steps to the ground of the partner less one's own, in the graph of the contacts: the global heuristic that
 * the paper describes after Erleben. Grains that touch differ by a step at most, so the factors are those of a vertical
 *     contact in Eq. 37; eps = 1 is shock propagation. Grains that nothing connects with the ground stay alike, so what
 *     flies keeps its momentum.
 * Ground is what grains cannot move and lie on; the walls beside them are not. Contacts with solids are left alone. */
#define LANE_SCALAR /* slots are looked at one by one */
#include "core/scratch.h"
#include "methods/p2/contacts.h"
#include "methods/p2/p2_slot_law.h"

enum { REDUCE_CHUNK = 64, UNREACHED = 0 };

typedef struct Reduction {
  PositionStep *work;
  float down[3];  /* unit vector of gravity, zero without */
  int32_t *level; /* steps to the ground, per grain; NULL: by tilt */
} Reduction;

static bool slot_touches(const PositionStep *work, int64_t i, int64_t slot) {
  return position_slot_used(&work->layout.slots, i, slot) &&
         p2_predicted_gap(work, i, slot) < P2_LIKELY_GAP * (float)work->step->state->radius;
}

static float slot_downward(const Reduction *r, int64_t slot) {
  const PositionSlots *s = &r->work->layout.slots;
  return s->nx[slot] * r->down[0] + s->ny[slot] * r->down[1] + s->nz[slot] * r->down[2];
}

static void ground_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Reduction *r = context;
  const PositionStep *work = r->work;
  for (int64_t i = b; i < e; i++) {
    r->level[i] = UNREACHED;
    int64_t end, first = position_slots_of(&work->layout.slots, i, &end);
    for (int64_t slot = first; slot < end; slot += SLICE) {
      int64_t contact = work->layout.slots.partner[slot] - work->layout.boundary_row;
      if (contact >= 0 && !work->bodies.items[work->layout.boundary[contact].solid].movable &&
          slot_downward(r, slot) < -P2_UPRIGHT && slot_touches(work, i, slot))
        r->level[i] = 1;
    }
  }
}

/* Breadth first from the ground. One after the other: every grain is looked at once, which is less than a pass of the
 * solver, and a level does not depend on the order. */
static Status find_levels(Reduction *r) {
  const PositionStep *work = r->work;
  Core *core = work->step->core;
  int32_t *queue;
  TRY(scratch_take(core, work->step->scratch, &r->level, work->count, "contact graph"));
  TRY(scratch_take(core, work->step->scratch, &queue, work->count, "contact graph"));
  parallel_for(core, 0, work->count, REDUCE_CHUNK * SLICE, ground_chunk, r);
  int64_t queued = 0;
  for (int64_t i = 0; i < work->count; i++)
    if (r->level[i] != UNREACHED) queue[queued++] = (int32_t)i;
  for (int64_t next = 0; next < queued; next++) {
    int64_t i = queue[next], end, first = position_slots_of(&work->layout.slots, i, &end);
    for (int64_t slot = first; slot < end; slot += SLICE) {
      int32_t j = work->layout.slots.partner[slot];
      if (j >= work->count || r->level[j] != UNREACHED || !slot_touches(work, i, slot)) continue;
      r->level[j] = r->level[i] + 1;
      queue[queued++] = j;
    }
  }
  return SCREE_OK;
}

static float tilt_of(const Reduction *r, int64_t i, int64_t j, int64_t slot) {
  if (!r->level) return slot_downward(r, slot);
  return p2_level_tilt(r->level[i], r->level[j]);
}

static void tilt_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Reduction *r = context;
  const PositionSlots *s = &r->work->layout.slots;
  const P2Contacts *contacts = r->work->method_contacts;
  for (int64_t slice = b; slice < e; slice++)
    for (int64_t slot = position_slice_begin(s, slice) * SLICE; slot < position_slice_begin(s, slice + 1) * SLICE;
         slot++) {
      int64_t i = s->grain[slice * SLICE + slot % SLICE], j = s->partner[slot];
      bool pair = j != i && j < r->work->count;
      contacts->tilt[slot] = pair ? contacts->settings->error_reduction * tilt_of(r, i, j, slot) : 0;
    }
}

Status p2_reduce_errors(PositionStep *work) {
  P2Contacts *contacts = work->method_contacts;
  Core *core = work->step->core;
  if (!(contacts->settings->error_reduction > 0)) return SCREE_OK;
  Vec3 down = vec3_normalize(work->step->state->gravity);
  Reduction r = {.work = work, .down = {(float)down.x, (float)down.y, (float)down.z}};
  TRY(scratch_take(core, work->step->scratch, &contacts->tilt, work->layout.slots.rows * SLICE, "contacts"));
  if (contacts->settings->ground) TRY(find_levels(&r));
  parallel_for(core, 0, work->layout.slots.slices, REDUCE_CHUNK, tilt_chunk, &r);
  return SCREE_OK;
}
