/* Contacts with solids on a device. */
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_launch.h"

static void find_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  position_find_listed(work, work->step->state->contacts.near_list + b, (int32_t)(e - b), position_window(work, b));
}

/* By the host, in windows of the listed grains. */
static Status find_boundary(PositionStep *work) {
  Core *core = work->step->core;
  const int64_t near = work->step->state->contacts.near_list_count;
  TRY(scratch_take(core, work->step->scratch, &work->layout.windows, parallel_chunks(0, near, POSITION_WINDOW),
                   "windows"));
  do {
    TRY(position_make_room(work));
    parallel_for(core, 0, near, POSITION_WINDOW, find_chunk, work);
  } while (work->layout.boundary_used > work->layout.boundary_room);
  work->layout.boundary_count = work->layout.boundary_used;
  return SCREE_OK;
}

/* See BoundaryShared.any_key, and find_remembered of the CPU. */
static uint32_t any_key(const PositionStep *work, const PositionWindow *window, int64_t g) {
  const BoundaryContact *contact = &work->layout.boundary[g];
  if (!work->step->state->solids.items[contact->solid].shape.faces.meet) return 0;
  for (int64_t k = g - 1; k <= g + 1; k += 2)
    if (k >= window->boundary && k < window->boundary + window->boundary_count &&
        contact[k - g].grain == contact->grain && contact[k - g].solid == contact->solid)
      return 0;
  return contact_key_from_top(contact->solid * SOLID_FACES);
}

/* Contacts one behind the other, without the gaps that windows may leave between them. Returns how many there are. */
static int32_t share_boundary(const PositionStep *work, int64_t near, BoundaryShared *shared) {
  int32_t count = 0;
  for (int64_t b = 0; b < near; b += POSITION_WINDOW) {
    const PositionWindow *window = position_window(work, b);
    int32_t last = -1, rank = 0;
    for (int64_t g = window->boundary; g < window->boundary + window->boundary_count; g++) {
      BoundaryContact *contact = &work->layout.boundary[g];
      rank = contact->grain == last ? rank + 1 : 0;
      last = contact->grain;
      contact->sum = count;
      shared[count] = (BoundaryShared){.grain = contact->grain,
                                       .rank = rank,
                                       .solid = contact->solid,
                                       .key = contact->key,
                                       .any_key = any_key(work, window, g),
                                       .gap = contact->gap};
      memcpy(shared[count].normal, contact->normal, sizeof contact->normal);
      memcpy(shared[count++].arm, contact->arm, sizeof contact->arm);
    }
  }
  return count;
}

Status position_send_motions(Launcher *l, bool *moving) {
  PositionStep *work = l->work;
  const int32_t solids = work->step->state->solids.count;
  const int64_t count = (int64_t)solids * work->substeps;
  double(*rows)[RIDE_DOUBLES] = NULL;
  int mark = scratch_mark(work->step->scratch);
  *moving = false;
  TRY(device_reserve(l->core, l->d->device, &l->d->motions, (count + 1) * (int64_t)sizeof *rows, 0, "solids"));
  TRY(scratch_take(l->core, work->step->scratch, &rows, count, "solids"));
  for (work->substep = 0; work->substep < work->substeps; work->substep++) {
    for (int32_t k = 0; k < solids; k++) {
      const PositionBody *body = &work->bodies.items[k];
      double *row = rows[(int64_t)work->substep * solids + k];
      memset(row, 0, sizeof *rows);
      memcpy(row + RIDE_SHIFT, body->moved.part, sizeof body->moved.part); /* and the spin */
      memcpy(row + RIDE_TURN, body->turn.m, sizeof body->turn.m);
      memcpy(row + RIDE_LAST_SHIFT, &body->last_shift, sizeof body->last_shift);
      memcpy(row + RIDE_LAST_TURN, body->last_turn.m, sizeof body->last_turn.m);
      memcpy(row + RIDE_TOTAL, body->total.part, 3 * sizeof *body->total.part);
      row[RIDE_STILL] = body->still;
      *moving |= !body->still;
    }
    position_end_substep(work);
  }
  Status status = device_write(l->core, l->d->device, &l->d->motions, 0, count * (int64_t)sizeof *rows, rows);
  scratch_release(l->core, work->step->scratch, mark);
  return status;
}

static Status send_boundary(Launcher *l) {
  PositionStep *work = l->work;
  PositionDevice *d = l->d;
  TRY(memory_grow(l->core, &d->boundary_shared, work->layout.boundary_count + 1, "contacts with solids"));
  const int64_t count = share_boundary(work, work->step->state->contacts.near_list_count, d->boundary_shared),
                room = count > 0 ? count : 1;
  l->step.boundary_count = (int)count;
#define POSITION_TAKE(name)                                                                                            \
  TRY(device_reserve(l->core, d->device, &d->name, room *(int64_t)sizeof(float[4]), 0, "contacts with solids"));
  POSITION_WALL_ROWS(POSITION_TAKE)
#undef POSITION_TAKE
  TRY(device_reserve(l->core, d->device, &d->slots, room * (int64_t)sizeof(int32_t), 0, "contacts with solids"));
  TRY(device_reserve(l->core, d->device, &d->boundary, room * (int64_t)sizeof *d->boundary_shared, 0,
                     "contacts with solids"));
  TRY(device_write(l->core, d->device, &d->boundary, 0, count * (int64_t)sizeof *d->boundary_shared,
                   d->boundary_shared));
  TRY(device_clear(l->core, d->device, &d->walls, l->step.count * (int64_t)sizeof(int32_t)));
  return LAUNCH(l, position_count_boundary, count, DEVICE_VALUE(l->step), HERE(boundary), HERE(walls));
}

Status position_find_boundary_device(Launcher *l) {
  TRY(find_boundary(l->work));
  return send_boundary(l);
}

Status position_fill_boundary_device(const Launcher *l) {
  return LAUNCH(l, position_fill_boundary, l->step.boundary_count, DEVICE_VALUE(l->step), HERE(boundary), HERE(rows),
                HERE(begin), FIELD(contact_row), FIELD(contacts_held), HERE(last_key), HERE(last_kept), FIELD(material),
                HERE(key), HERE(kept), HERE(pose), HERE(kind), HERE(slots), HERE(sums));
}

Status position_carry_boundary(const Launcher *l, int32_t substep) {
  const int32_t first = substep == 0, solids = l->work->step->state->solids.count;
  DeviceBuffer *motions = &l->d->motions;
  const int32_t from = substep * solids;
  return LAUNCH(l, position_carry, l->step.boundary_count, DEVICE_VALUE(l->step), DEVICE_VALUE(first),
                DEVICE_VALUE(from), HERE(boundary), DEVICE_BUFFER(motions), HERE(total), HERE(lever), HERE(wall_now),
                HERE(wall_last), HERE(wall_rim));
}

static void push_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)e, (void)thread;
  PositionStep *work = context;
  position_push_solids(work, position_window(work, b));
}

/* What pushed the solids comes down. */
Status position_push_solids_device(Launcher *l) {
  PositionStep *work = l->work;
  const int64_t count = l->step.boundary_count;
  if (count == 0) return SCREE_OK;
  TRY(memory_grow(l->core, &l->d->host_rows, count, "pushes on solids"));
  TRY(device_read(l->core, l->d->device, &l->d->sums, 0, count * (int64_t)sizeof *l->d->host_rows, l->d->host_rows));
  for (int c = 0; c < 3; c++) {
    TRY(scratch_take(l->core, work->step->scratch, &work->rows.boundary_sum[c], count, "pushes on solids"));
    for (int64_t g = 0; g < count; g++) work->rows.boundary_sum[c][g] = l->d->host_rows[g][c];
  }
  parallel_for(l->core, 0, work->step->state->contacts.near_list_count, POSITION_WINDOW, push_chunk, work);
  return SCREE_OK;
}
