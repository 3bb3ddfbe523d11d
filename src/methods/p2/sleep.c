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
#include <math.h>
#include <string.h>

#include "core/scratch.h"
#include "methods/p2/contacts.h"

enum { SLEEP_CHUNK = 512 };

/* A neighbour that moves this many times faster wakes. */
#define WAKES 4.0f
/* A contact sticks while its friction is below this share of what it can hold. */
#define STICKS 0.999f
/* Of the difference of what two grains hold back, so much is shared in a step. Twelve equal neighbours then take less
 * than all of it: the exchange is stable. */
#define SHARED (1.0f / 16)

typedef struct Sleep {
  PositionStep *work;
  const P2Settings *settings;
  P2Rest *rest;
  float (*found)[4]; /* motion of the support, and whether the grain sleeps */
  float (*held)[3];  /* m/s: what is held back after this step */
  uint8_t *borne;    /* tied to a solid; NULL: forces between grains are equal and opposite, which says more */
} Sleep;

/* Motion of a row over the step. That of a grain is what it really does, with what the stabilization shifts it by. */
static void motion_of(const PositionStep *work, int64_t row, float motion[3]) {
  bool grain = row < work->count;
  for (int k = 0; k < 3; k++)
    motion[k] = grain ? work->rows.total[row][k] : (float)work->substeps * work->rows.now[row][k];
}

static float distance_to(const PositionStep *work, int64_t row, const float *rest) {
  float moved[3];
  motion_of(work, row, moved);
  float x = moved[0] - rest[0], y = moved[1] - rest[1], z = moved[2] - rest[2];
  return sqrtf(x * x + y * y + z * z);
}

static bool slot_sticks(const PositionStep *work, const P2Contacts *contacts, int64_t slot) {
  const PositionSlots *s = &work->layout.slots;
  P2Slot own = p2_slot(contacts, slot);
  float limit = STICKS * (position_friction(work, slot)[0] * (s->ln[slot] - own.pull) + own.grip);
  float x = s->ltx[slot], y = s->lty[slot], z = s->ltz[slot];
  return x * x + y * y + z * z < limit * limit;
}

/* Motion of what grain i rests on, weighed by the forces; false where it rests on nothing. */
static bool support_of(const Sleep *sleep, int64_t i, float support[3]) {
  const PositionStep *work = sleep->work;
  const PositionSlots *slots = &work->layout.slots;
  const P2Rest *rest = sleep->rest;
  int64_t end, first = position_slots_of(slots, i, &end);
  float total = 0, sum[3] = {0};
  for (int64_t slot = first; slot < end; slot += SLICE) {
    float force = slots->ln[slot];
    if (!(force > 0)) continue;
    int32_t j = slots->partner[slot];
    float moved[3];
    if (j < work->count)
      moved[0] = rest->x[j] * work->dt, moved[1] = rest->y[j] * work->dt, moved[2] = rest->z[j] * work->dt;
    else motion_of(work, j, moved);
    for (int k = 0; k < 3; k++) sum[k] += force * moved[k];
    total += force;
  }
  if (!(total > 0)) return false;
  for (int k = 0; k < 3; k++) support[k] = sum[k] / total;
  return true;
}

/* What grain i holds back when it has shared with all that press it. The lighter of two gets the same impulse. */
static void share_held(const Sleep *sleep, int64_t i, float held[3]) {
  const PositionStep *work = sleep->work;
  const PositionSlots *slots = &work->layout.slots;
  const P2Rest *rest = sleep->rest;
  const float *mass = work->step->state->particles.mass;
  const float own[3] = {rest->held_x[i], rest->held_y[i], rest->held_z[i]};
  int64_t end, first = position_slots_of(slots, i, &end);
  memcpy(held, own, sizeof own);
  for (int64_t slot = first; slot < end; slot += SLICE) {
    if (!(slots->ln[slot] > 0)) continue;
    int32_t j = slots->partner[slot];
    bool grain = j < work->count;
    const float less[3] = {(grain ? rest->held_x[j] : 0) - own[0], (grain ? rest->held_y[j] : 0) - own[1],
                           (grain ? rest->held_z[j] : 0) - own[2]};
    const float normal[3] = {slots->nx[slot], slots->ny[slot], slots->nz[slot]};
    float share = SHARED * (grain ? fminf(1, mass[j] / mass[i]) : 1);
    float along = less[0] * normal[0] + less[1] * normal[1] + less[2] * normal[2];
    bool sticks = slot_sticks(work, work->method_contacts, slot);
    for (int k = 0; k < 3; k++) held[k] += share * (sticks ? less[k] : along * normal[k]);
  }
}

static bool neighbors_are_quiet(const PositionStep *work, int64_t i, const float support[3], float far) {
  const PositionSlots *slots = &work->layout.slots;
  int64_t end, first = position_slots_of(slots, i, &end);
  for (int64_t slot = first; slot < end; slot += SLICE)
    if (slots->ln[slot] > 0 && distance_to(work, slots->partner[slot], support) > far) return false;
  return true;
}

static void sleep_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sleep *sleep = context;
  const PositionStep *work = sleep->work;
  float slow = sleep->settings->sleep_speed * work->dt;
  for (int64_t i = b; i < e; i++) {
    bool borne = sleep->borne && sleep->borne[i];
    float *found = sleep->found[i], *held = sleep->held[i], support[3] = {0}, moved[3], more[3];
    bool rests = support_of(sleep, i, support);
    bool asleep = rests && distance_to(work, i, support) < slow && neighbors_are_quiet(work, i, support, WAKES * slow);
    share_held(sleep, i, held);
    motion_of(work, i, moved);
    /* of its velocity: what stabilization shifts it by has none */
    for (int k = 0; k < 3; k++)
      more[k] = held[k] + ((float)work->substeps * work->rows.now[i][k] - support[k]) / work->dt;
    asleep =
        asleep &&
        (sleep->borne ? borne : sqrtf(more[0] * more[0] + more[1] * more[1] + more[2] * more[2]) * work->dt < slow);
    for (int k = 0; k < 3; k++) found[k] = asleep ? support[k] : moved[k] + held[k] * work->dt;
    for (int k = 0; k < 3; k++) held[k] = asleep && !borne ? more[k] : 0;
    found[3] = asleep ? 1 : 0;
  }
}

static void wake_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sleep *sleep = context;
  PositionStep *work = sleep->work;
  for (int64_t i = b; i < e; i++) {
    const float *found = sleep->found[i], *held = sleep->held[i];
    for (int k = 0; k < 3; k++) {
      /* awake: what was held back comes on top of what the last substep did */
      float more = found[3] > 0 ? 0 : found[k] - work->rows.total[i][k];
      work->rows.now[i][k] =
          found[3] > 0 ? found[k] / (float)work->substeps : work->rows.now[i][k] + more / (float)work->substeps;
      work->rows.total[i][k] = found[k];
      if (work->turning && found[3] > 0) work->turns.now[i][k] = 0;
    }
    sleep->rest->x[i] = found[0] / work->dt, sleep->rest->held_x[i] = held[0];
    sleep->rest->y[i] = found[1] / work->dt, sleep->rest->held_y[i] = held[1];
    sleep->rest->z[i] = found[2] / work->dt, sleep->rest->held_z[i] = held[2];
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
  Sleep sleep = {.work = work, .settings = settings, .rest = rest, .found = work->rows.next}; /* the passes are over */
  TRY(scratch_take(core, work->step->scratch, &sleep.held, work->count, "sleep"));
  if (settings->position.averaging || settings->error_reduction > 0) TRY(find_borne(core, &sleep));
  parallel_for(core, 0, work->count, SLEEP_CHUNK, sleep_chunk, &sleep);
  parallel_for(core, 0, work->count, SLEEP_CHUNK, wake_chunk, &sleep);
  return SCREE_OK;
}
