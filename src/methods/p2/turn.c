/* How sticky contacts turn. A grain has no rotation of its own, so friction between two of them holds against any
 * sideways motion of one about the other, even where the whole lump turns and nothing slides: loam in a bucket that is
 * tipped would keep its bearing like a compass, the better it sticks the more. So the turn of a grain's surroundings
 * over the step is estimated from the motion of its partners, and sliding and opening of a sticky contact are measured
 * against the mean turn of its two grains.
 *
 * For a lump that turns as one by theta, partners at distance a along n move by v_i - v_j = theta x (a n), so
 * n x (v_i - v_j) / a = (1 - n n^T) theta; the sum over the contacts is solved for theta. A solid says itself how it
 * turns. */
#include "core/scratch.h"
#include "methods/p2/contacts.h"
#include "methods/p2/p2_turn_shared.h"

enum { TURN_CHUNK = 512, ROLL_CHUNK = 64 };

typedef struct Turning {
  PositionStep *work;
  float (*turn)[4]; /* rotation vector over a substep, per grain */
} Turning;

/* Centre to centre of a pair at the step's start. */
static double pair_apart(const PositionStep *work, int64_t i, int64_t slot) {
  const float *radius = work->step->state->particles.radius;
  return (double)(work->layout.slots.gap[slot] + radius[i] + radius[work->layout.slots.partner[slot]]);
}

static void turn_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Turning *turning = context;
  const PositionStep *work = turning->work;
  const PositionSlots *s = &work->layout.slots;
  const Particles *p = &work->step->state->particles;
  for (int64_t i = b; i < e; i++) {
    P2Turning around = p2_turning_begin();
    int64_t end, first = position_slots_of(s, i, &end);
    for (int64_t slot = first; slot < end; slot += SLICE) {
      int64_t j = s->partner[slot];
      if (!(s->gap[slot] < 0)) continue;
      if (j >= work->layout.boundary_row) {
        const int32_t solid = work->layout.boundary[j - work->layout.boundary_row].solid;
        around = p2_turning_solid(around, work->step->state->solids.items[solid].spin);
        continue;
      }
      Vec3 n = vec3((double)s->nx[slot], (double)s->ny[slot], (double)s->nz[slot]);
      Vec3 v = vec3((double)(p->vx[i] - p->vx[j]), (double)(p->vy[i] - p->vy[j]), (double)(p->vz[i] - p->vz[j]));
      around = p2_turning_pair(around, n, v, pair_apart(work, i, slot));
    }
    const Vec3 turn = p2_turning_end(around, (double)work->h);
    const float kept[4] = {(float)turn.x, (float)turn.y, (float)turn.z, 0};
    for (int k = 0; k < 4; k++) turning->turn[i][k] = kept[k];
  }
}

/* See p2_roll. With a solid it is nothing: its row of displacements is that at the grain's centre, the turn included.
 */
static void roll_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Turning *turning = context;
  const PositionStep *work = turning->work;
  const PositionSlots *s = &work->layout.slots;
  P2Contacts *contacts = work->method_contacts;
  for (int64_t slice = b; slice < e; slice++)
    for (int64_t slot = position_slice_begin(s, slice) * SLICE; slot < position_slice_begin(s, slice + 1) * SLICE;
         slot++) {
      int64_t i = s->grain[slice * SLICE + slot % SLICE], j = s->partner[slot];
      Vec3 roll = vec3(0, 0, 0);
      if (contacts->cap[slot] > 0 && j < work->count) {
        const float *own = turning->turn[i], *other = turning->turn[j];
        Vec3 both = vec3((double)(own[0] + other[0]), (double)(own[1] + other[1]), (double)(own[2] + other[2]));
        Vec3 n = vec3((double)s->nx[slot], (double)s->ny[slot], (double)s->nz[slot]);
        roll = p2_roll(both, n, pair_apart(work, i, slot));
      }
      contacts->roll[0][slot] = (float)roll.x;
      contacts->roll[1][slot] = (float)roll.y;
      contacts->roll[2][slot] = (float)roll.z;
    }
}

Status p2_turn(PositionStep *work) {
  Core *core = work->step->core;
  P2Contacts *contacts = work->method_contacts;
  if (!work->settings->sticky || work->settings->averaging || contacts->rigid) return SCREE_OK;
  Turning turning = {.work = work};
  for (int k = 0; k < 3; k++)
    TRY(scratch_take(core, work->step->scratch, &contacts->roll[k], work->layout.slots.rows * SLICE, "contacts"));
  TRY(scratch_take(core, work->step->scratch, &turning.turn, work->count, "turns"));
  parallel_for(core, 0, work->count, TURN_CHUNK, turn_chunk, &turning);
  parallel_for(core, 0, work->layout.slots.slices, ROLL_CHUNK, roll_chunk, &turning);
  return SCREE_OK;
}
