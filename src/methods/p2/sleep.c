/* Sleeping (Section 7). The paper leaves a grain where it was when it has hardly moved, which hangs grains in the air
 * and freezes what a truck carries. Here a grain sleeps when it is pressed against something, sticks to at least one
 * such contact, and moves slowly against what it rests on, and its neighbours do so too; it then takes exactly the
 * motion of what it rests on. That motion is handed up from the solids: a still floor's is zero, so a settled heap
 * does not drift at all; a truck's bed is handed on with its sand. */
#include <math.h>

#include "core/scratch.h"
#include "methods/p2/contacts.h"

enum { SLEEP_CHUNK = 512 };

/* A neighbour that moves this many times faster wakes. */
#define WAKES 4.0f
/* A contact sticks while its friction is below this share of what it can hold. */
#define STICKS 0.999f

typedef struct Sleep {
  PositionStep *work;
  const P2Settings *settings;
  P2Rest *rest;
  float (*found)[4]; /* motion of the support, and whether the grain sleeps */
} Sleep;

static float distance_to(const float *d, const float *rest) {
  float x = d[0] - rest[0], y = d[1] - rest[1], z = d[2] - rest[2];
  return sqrtf(x * x + y * y + z * z);
}

static bool slot_sticks(const PositionStep *work, const P2Contacts *contacts, int64_t slot) {
  const PositionSlots *s = &work->layout.slots;
  P2Slot own = p2_slot(contacts, slot);
  float limit = STICKS * (position_friction(work, slot)[0] * (s->ln[slot] - own.pull) + own.cap);
  float x = s->ltx[slot], y = s->lty[slot], z = s->ltz[slot];
  return x * x + y * y + z * z < limit * limit;
}

/* Motion of what grain i rests on, weighed by the forces; false where it rests on nothing. */
static bool support_of(const Sleep *sleep, int64_t i, float support[3], bool *sticks) {
  const PositionStep *work = sleep->work;
  const PositionSlots *slots = &work->layout.slots;
  const P2Rest *rest = sleep->rest;
  int64_t end, first = position_slots_of(slots, i, &end);
  float total = 0, sum[3] = {0};
  *sticks = false;
  for (int64_t slot = first; slot < end; slot += SLICE) {
    float force = slots->ln[slot];
    if (!(force > 0)) continue;
    int32_t j = slots->partner[slot];
    const float carried[3] = {j < work->count ? rest->x[j] * work->dt : 0, j < work->count ? rest->y[j] * work->dt : 0,
                              j < work->count ? rest->z[j] * work->dt : 0};
    const float *moved = j < work->count ? carried : work->rows.now[j];
    for (int k = 0; k < 3; k++) sum[k] += force * moved[k];
    total += force;
    *sticks = *sticks || slot_sticks(work, work->method_contacts, slot);
  }
  if (!(total > 0)) return false;
  for (int k = 0; k < 3; k++) support[k] = sum[k] / total;
  return true;
}

static bool neighbors_are_quiet(const PositionStep *work, int64_t i, const float support[3], float far) {
  const PositionSlots *slots = &work->layout.slots;
  int64_t end, first = position_slots_of(slots, i, &end);
  for (int64_t slot = first; slot < end; slot += SLICE)
    if (slots->ln[slot] > 0 && distance_to(work->rows.now[slots->partner[slot]], support) > far) return false;
  return true;
}

static void sleep_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sleep *sleep = context;
  const PositionStep *work = sleep->work;
  float slow = sleep->settings->sleep_speed * work->dt;
  for (int64_t i = b; i < e; i++) {
    float *found = sleep->found[i], support[3] = {0};
    bool sticks;
    bool rests = support_of(sleep, i, support, &sticks);
    bool asleep = rests && sticks && distance_to(work->rows.now[i], support) < slow &&
                  neighbors_are_quiet(work, i, support, WAKES * slow);
    const float *kept = asleep ? support : work->rows.now[i];
    for (int k = 0; k < 3; k++) found[k] = kept[k];
    found[3] = asleep ? 1 : 0;
  }
}

static void wake_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sleep *sleep = context;
  PositionStep *work = sleep->work;
  for (int64_t i = b; i < e; i++) {
    const float *found = sleep->found[i];
    for (int k = 0; k < 3; k++) work->rows.now[i][k] = found[k];
    sleep->rest->x[i] = found[0] / work->dt;
    sleep->rest->y[i] = found[1] / work->dt;
    sleep->rest->z[i] = found[2] / work->dt;
  }
}

Status p2_sleep(PositionStep *work, const P2Settings *settings, P2Rest *rest) {
  if (!(settings->sleep_speed > 0)) return SCREE_OK;
  Core *core = work->step->core;
  Sleep sleep = {.work = work, .settings = settings, .rest = rest, .found = work->rows.next}; /* the passes are over */
  parallel_for(core, 0, work->count, SLEEP_CHUNK, sleep_chunk, &sleep);
  parallel_for(core, 0, work->count, SLEEP_CHUNK, wake_chunk, &sleep);
  return SCREE_OK;
}
