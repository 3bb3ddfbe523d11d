/* Sleeping (Section 7). The paper leaves a grain where it was when it has hardly moved, which hangs grains in the air
 * and freezes what a truck carries. Here a grain sleeps when it is pressed against something and moves slowly against
 * what it rests on, and its neighbours do so too; it then takes exactly the motion of what it rests on. That motion is
 * handed up from the solids: a still floor's is zero, so a settled heap does not drift at all; a truck's bed is handed
 * on with its sand.
 *
 * Whether a grain may go on sleeping is a matter of the forces on it. Velocity that sleeping takes away is not lost but
 * held back: it is the impulse of the forces that do not balance. Residuals of the solver are forces between grains,
 * equal and opposite, so grains that press each other share what they hold back, and it cancels; across a contact that
 * slips they share only what is along its normal. Solids that bear a grain take up its share in the same way. What
 * nothing bears adds up in grain and neighbours alike, whatever the step and the threshold: a block on ice holds back
 * g sin(slope) t. Once that is faster than the threshold the grain wakes and gets it back. A rule that looks at one
 * step cannot tell 3 m/s^2 times 5 ms from a residual.
 *
 * Averaging and error reduction give the two grains of a contact unequal forces: there residuals do not cancel, and all
 * would wake that sleeping is there to hold. So with them a grain that sticks to something, and that a chain of
 * such grains that press each other ties to a solid to which one sticks, counts as borne: it sleeps, others do not, and
 * nothing is held back. */
#define LANE_SCALAR /* grains are looked at one by one */
#include <string.h>

#include "core/scratch.h"
#include "methods/p2/contacts.h"
#include "methods/p2/p2_rest_law.h"

enum { SLEEP_CHUNK = 512 };

typedef struct Sleep {
  PositionStep *work;
  const P2Settings *settings;
  P2Rest *rest;
  P2Found *found;
  uint8_t *borne; /* tied to a solid; NULL: forces between grains are equal and opposite, which says more */
} Sleep;

static LaneVec3 row_of(const float row[3]) { return vec_make(row[0], row[1], row[2]); }

/* Motion of a row over the step. That of a grain is what it really does, with what the stabilization shifts it by. */
static LaneVec3 motion_of(const PositionStep *work, int64_t row) {
  if (row < work->count) return row_of(work->rows.total[row]);
  return vec_mul(row_of(work->rows.now[row]), (float)work->substeps);
}

static bool slot_sticks(const PositionStep *work, const P2Contacts *contacts, int64_t slot) {
  const PositionSlots *s = &work->layout.slots;
  P2Slot own = p2_slot(contacts, slot);
  LaneVec3 friction = vec_make(s->ltx[slot], s->lty[slot], s->ltz[slot]);
  return p2_sticks(friction, position_friction(work, slot)[0], s->ln[slot] - own.pull, own.grip) != 0;
}

/* Motion of what grain i rests on, weighed by the forces; false where it rests on nothing. */
static bool support_of(const Sleep *sleep, int64_t i, LaneVec3 *support) {
  const PositionStep *work = sleep->work;
  const PositionSlots *slots = &work->layout.slots;
  const P2Rest *rest = sleep->rest;
  int64_t end, first = position_slots_of(slots, i, &end);
  float total = 0;
  LaneVec3 sum = vec_zero();
  for (int64_t slot = first; slot < end; slot += SLICE) {
    float force = slots->ln[slot];
    if (!(force > 0)) continue;
    int32_t j = slots->partner[slot];
    LaneVec3 moved =
        j < work->count ? vec_mul(vec_make(rest->x[j], rest->y[j], rest->z[j]), work->dt) : motion_of(work, j);
    sum = vec_add(sum, vec_mul(moved, force));
    total += force;
  }
  *support = vec_zero();
  if (!(total > 0)) return false;
  *support = vec_make(sum.x / total, sum.y / total, sum.z / total);
  return true;
}

static LaneVec3 held_of(const P2Rest *rest, int64_t i) {
  return vec_make(rest->held_x[i], rest->held_y[i], rest->held_z[i]);
}

/* What grain i holds back when it has shared with all that press it. The lighter of two gets the same impulse. */
static LaneVec3 share_held(const Sleep *sleep, int64_t i) {
  const PositionStep *work = sleep->work;
  const PositionSlots *slots = &work->layout.slots;
  const float *mass = work->step->state->particles.mass;
  const LaneVec3 own = held_of(sleep->rest, i);
  int64_t end, first = position_slots_of(slots, i, &end);
  LaneVec3 held = own;
  for (int64_t slot = first; slot < end; slot += SLICE) {
    if (!(slots->ln[slot] > 0)) continue;
    const int32_t j = slots->partner[slot];
    const bool grain = j < work->count, sticks = slot_sticks(work, work->method_contacts, slot);
    const LaneVec3 other = grain ? held_of(sleep->rest, j) : vec_zero();
    const LaneVec3 normal = vec_make(slots->nx[slot], slots->ny[slot], slots->nz[slot]);
    held = p2_share_held(held, own, other, normal, grain ? mass[j] / mass[i] : 1, -sticks);
  }
  return held;
}

static bool neighbors_are_quiet(const PositionStep *work, int64_t i, LaneVec3 support, float far) {
  const PositionSlots *slots = &work->layout.slots;
  int64_t end, first = position_slots_of(slots, i, &end);
  for (int64_t slot = first; slot < end; slot += SLICE)
    if (slots->ln[slot] > 0 && p2_apart(motion_of(work, slots->partner[slot]), support) > far) return false;
  return true;
}

static void sleep_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sleep *sleep = context;
  const PositionStep *work = sleep->work;
  const float slow = sleep->settings->sleep_speed * work->dt;
  for (int64_t i = b; i < e; i++) {
    P2Sleeper grain = {.moved = motion_of(work, i),
                       .swift = vec_mul(row_of(work->rows.now[i]), (float)work->substeps),
                       .held = share_held(sleep, i),
                       .borne = -(sleep->borne && sleep->borne[i])};
    const bool rests = support_of(sleep, i, &grain.support);
    grain.quiet = -(rests && neighbors_are_quiet(work, i, grain.support, P2_WAKES * slow));
    sleep->found[i] = p2_found(grain, sleep->borne != NULL, slow, work->dt);
  }
}

static void wake_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sleep *sleep = context;
  PositionStep *work = sleep->work;
  P2Rest *rest = sleep->rest;
  for (int64_t i = b; i < e; i++) {
    const P2Found found = sleep->found[i];
    float *now = work->rows.now[i], *total = work->rows.total[i];
    const LaneVec3 d = p2_woken(row_of(now), row_of(total), found, (float)work->substeps);
    now[0] = d.x, now[1] = d.y, now[2] = d.z;
    total[0] = found.moves.x, total[1] = found.moves.y, total[2] = found.moves.z;
    for (int k = 0; k < 3 && work->turning && found.asleep; k++) work->turns.now[i][k] = 0;
    rest->x[i] = found.moves.x / work->dt, rest->held_x[i] = found.held.x;
    rest->y[i] = found.moves.y / work->dt, rest->held_y[i] = found.held.y;
    rest->z[i] = found.moves.z / work->dt, rest->held_z[i] = found.held.z;
  }
}

static bool ties(const Sleep *sleep, int64_t slot) {
  return sleep->work->layout.slots.ln[slot] > 0 && slot_sticks(sleep->work, sleep->work->method_contacts, slot);
}

static bool sticks_somewhere(const Sleep *sleep, int64_t i) {
  int64_t end;
  for (int64_t slot = position_slots_of(&sleep->work->layout.slots, i, &end); slot < end; slot += SLICE)
    if (ties(sleep, slot)) return true;
  return false;
}

/* Breadth first from the grains that stick to solids, along contacts that are pressed. */
static Status find_borne(Core *core, Sleep *sleep) {
  const PositionStep *work = sleep->work;
  const PositionSlots *slots = &work->layout.slots;
  int32_t *queue;
  int64_t count = 0, end;
  TRY(scratch_take(core, work->step->scratch, &sleep->borne, work->count, "sleep"));
  TRY(scratch_take(core, work->step->scratch, &queue, work->count, "sleep"));
  memset(sleep->borne, 0, (size_t)work->count);
  for (int64_t i = 0; i < work->count; i++)
    for (int64_t slot = position_slots_of(slots, i, &end); slot < end && !sleep->borne[i]; slot += SLICE)
      if (slots->partner[slot] >= work->count && ties(sleep, slot)) {
        sleep->borne[i] = 1;
        queue[count++] = (int32_t)i;
      }
  for (int64_t at = 0; at < count; at++)
    for (int64_t slot = position_slots_of(slots, queue[at], &end); slot < end; slot += SLICE) {
      int32_t j = slots->partner[slot];
      if (j >= work->count || sleep->borne[j] || !(slots->ln[slot] > 0) || !sticks_somewhere(sleep, j)) continue;
      sleep->borne[j] = 1;
      queue[count++] = j;
    }
  return SCREE_OK;
}

Status p2_sleep(PositionStep *work, const P2Settings *settings, P2Rest *rest) {
  if (!(settings->sleep_speed > 0)) return SCREE_OK;
  Core *core = work->step->core;
  Sleep sleep = {.work = work, .settings = settings, .rest = rest};
  TRY(scratch_take(core, work->step->scratch, &sleep.found, work->count, "sleep"));
  if (settings->position.averaging || settings->error_reduction > 0) TRY(find_borne(core, &sleep));
  parallel_for(core, 0, work->count, SLEEP_CHUNK, sleep_chunk, &sleep);
  parallel_for(core, 0, work->count, SLEEP_CHUNK, wake_chunk, &sleep);
  return SCREE_OK;
}
