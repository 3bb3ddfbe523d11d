/* Contacts with solids that kernels know nothing of (open meshes): grains near them come down, the host looks for their
 * contacts as the CPU does, and these go up. */
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_launch.h"
#include "state/solids_there_shared.h"

enum { ASKED_CHUNK = 32 };

static bool is_asked(const Launcher *l, int32_t index) {
  return l->work->step->state->mirror->solids.there[index].form == SOLID_ASKED;
}

bool position_asks(const Launcher *l) {
  for (int32_t k = 0; k < l->work->step->state->solids.count; k++)
    if (is_asked(l, k)) return true;
  return false;
}

typedef struct Asking {
  const Launcher *l;
  const AskedGrain *grains;
  BoundaryShared *found; /* `most` for each grain, of which it has counts[k] */
  int32_t *counts;
  int64_t most;
} Asking;

static BoundaryShared shared_contact(const Solid *solid, const BoundaryContact *contact, int count) {
  BoundaryShared to = {.grain = contact->grain, .solid = contact->solid, .key = contact->key, .gap = contact->gap};
  memcpy(to.normal, contact->normal, sizeof to.normal);
  memcpy(to.arm, contact->arm, sizeof to.arm);
  if (solid->shape.faces.meet && count == 1) to.any_key = boundary_key(SOLID_FACES * contact->solid);
  return to;
}

static void look_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Asking *asking = context;
  const PositionStep *work = asking->l->work;
  const State *state = work->step->state;
  for (int64_t k = b; k < e; k++) {
    const AskedGrain *asked = &asking->grains[k];
    const SeekingGrain grain = {asked->grain,
                                boundary_start(state->origin, position_vec3(asked->at), position_vec3(asked->low)),
                                position_vec3(asked->way), asked->radius};
    int32_t found = 0;
    for (int32_t s = 0; s < state->solids.count; s++) {
      BoundaryContact contacts[SHAPE_CONTACTS_MAX];
      if (!is_asked(asking->l, s)) continue;
      const int count = position_find_by_distance(work, &grain, s, contacts);
      for (int c = 0; c < count; c++)
        asking->found[k * asking->most + found++] = shared_contact(&state->solids.items[s], &contacts[c], count);
    }
    asking->counts[k] = found;
  }
}

/* Contacts of grain after grain, and where each grain's begin. */
static Status send_found(const Launcher *l, const Asking *asking, int64_t count) {
  PositionDevice *d = l->d;
  int32_t *begin = NULL, all = 0;
  TRY(scratch_take(l->core, l->work->step->scratch, &begin, count + 1, "grains near meshes"));
  for (int64_t k = 0; k < count; k++) {
    memmove(asking->found + all, asking->found + k * asking->most, sizeof *asking->found * (size_t)asking->counts[k]);
    begin[k] = all;
    all += asking->counts[k];
  }
  begin[count] = all;
  const int64_t bytes = all * (int64_t)sizeof *asking->found, words = (count + 1) * (int64_t)sizeof *begin;
  TRY(device_reserve(l->core, d->device, &d->answers, bytes + 64, 0, "grains near meshes"));
  TRY(device_reserve(l->core, d->device, &d->answered, words, 0, "grains near meshes"));
  TRY(device_write(l->core, d->device, &d->answers, 0, bytes, asking->found));
  return device_write(l->core, d->device, &d->answered, 0, words, begin);
}

static Status answer(const Launcher *l, int64_t count) {
  PositionDevice *d = l->d;
  Scratch *scratch = l->work->step->scratch;
  Asking asking = {.l = l};
  AskedGrain *grains = NULL;
  for (int32_t k = 0; k < l->work->step->state->solids.count; k++)
    asking.most += is_asked(l, k) ? SHAPE_CONTACTS_MAX : 0;
  const int mark = scratch_mark(scratch);
  TRY(scratch_take(l->core, scratch, &grains, count, "grains near meshes"));
  TRY(scratch_take(l->core, scratch, &asking.counts, count, "grains near meshes"));
  TRY(scratch_take(l->core, scratch, &asking.found, count * asking.most, "grains near meshes"));
  TRY(device_read(l->core, d->device, &d->asked, 0, count * (int64_t)sizeof *grains, grains));
  asking.grains = grains;
  parallel_for(l->core, 0, count, ASKED_CHUNK, look_chunk, &asking);
  const Status status = send_found(l, &asking, count);
  scratch_release(l->core, scratch, mark);
  return status;
}

Status position_ask_host(const Launcher *l, BoundarySearch search) {
  PositionDevice *d = l->d;
  const SolidsMirror *solids = &l->work->step->state->mirror->solids;
  int32_t count = 0;
  TRY(device_reserve(l->core, d->device, &d->asked_count, sizeof count, 0, "grains near meshes"));
  TRY(device_reserve(l->core, d->device, &d->asked_at, l->step.count * (int64_t)sizeof count, 0, "grains near meshes"));
  TRY(device_reserve(l->core, d->device, &d->asked, l->step.count * (int64_t)sizeof(AskedGrain), 0,
                     "grains near meshes"));
  TRY(device_clear(l->core, d->device, &d->asked_count, sizeof count));
  TRY(LAUNCH(l, position_ask, l->step.count, DEVICE_VALUE(l->step), DEVICE_VALUE(search), FIELD3(x, y, z),
             FIELD3(low_x, low_y, low_z), FIELD3(dx, dy, dz), FIELD(radius), FIELD(near_solids),
             DEVICE_BUFFER(&solids->solid), HERE(asked_count), HERE(asked_at), HERE(asked)));
  TRY(device_read(l->core, d->device, &d->asked_count, 0, sizeof count, &count));
  return answer(l, count);
}
