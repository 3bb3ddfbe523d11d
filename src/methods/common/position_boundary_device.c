/* Contacts with solids on a device. */
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_launch.h"

#define SOLIDS SOLIDS_ARGUMENTS(l->work->step->state->mirror)

/* Solids as they go in the step. */
static Status send_bodies(Launcher *l) {
  const PositionStep *work = l->work;
  const Solids *solids = &work->step->state->solids;
  const int64_t bytes = (solids->count + 1) * (int64_t)sizeof(BoundaryBody);
  TRY(memory_grow(l->core, &l->d->bodies_shared, solids->count + 1, "contacts with solids"));
  for (int32_t k = 0; k < solids->count; k++) {
    const PositionBody *body = &work->bodies.items[k];
    l->d->bodies_shared[k] = (BoundaryBody){.center = position_body_center(&solids->items[k], body),
                                            .way = vec3(body->free.part[0], body->free.part[1], body->free.part[2]),
                                            .turn = body->free_turn,
                                            .turns = body->turns,
                                            .movable = body->movable,
                                            .still = body->still};
  }
  TRY(device_reserve(l->core, l->d->device, &l->d->bodies, bytes, 0, "contacts with solids"));
  return device_write(l->core, l->d->device, &l->d->bodies, 0, bytes, l->d->bodies_shared);
}

/* Counts contacts, or writes them. */
static Status find(const Launcher *l, bool fill) {
  const State *state = l->work->step->state;
  const BoundarySearch search = {.origin = {state->origin.x, state->origin.y, state->origin.z},
                                 .solids = state->solids.count,
                                 .words = 2 * (int)state->contacts.near_words,
                                 .springs = l->work->settings->springs,
                                 .fill = fill};
  return LAUNCH(l, position_find_boundary, l->step.count + 1, DEVICE_VALUE(l->step), DEVICE_VALUE(search),
                FIELD3(x, y, z), FIELD3(low_x, low_y, low_z), FIELD3(dx, dy, dz), FIELD(radius), FIELD(near_solids),
                SOLIDS, HERE(bodies), HERE(walls), HERE(walls_before), HERE(boundary));
}

Status position_send_motions(Launcher *l, bool *moving) {
  PositionStep *work = l->work;
  const int32_t solids = work->step->state->solids.count;
  const int64_t count = (int64_t)solids * work->substeps;
  double(*rows)[RIDE_DOUBLES] = NULL;
  int mark = scratch_mark(work->step->scratch);
  *moving = false;
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
  const int64_t told = *moving ? count : solids; /* what stands still does so in every substep */
  Status status = position_send_table(l, &l->d->sent_motions, &l->d->motions, rows, told * (int64_t)sizeof *rows);
  scratch_release(l->core, work->step->scratch, mark);
  return status;
}

Status position_find_boundary_device(Launcher *l) {
  TRY(send_bodies(l));
  TRY(device_reserve(l->core, l->d->device, &l->d->boundary, sizeof(BoundaryShared), 0, "contacts with solids"));
  TRY(find(l, false));
  return scan_run(l->core, &l->d->scan, &l->d->walls_before, l->step.count + 1);
}

Status position_reserve_boundary(Launcher *l) {
  PositionDevice *d = l->d;
  int32_t count = 0;
  TRY(device_read(l->core, d->device, &d->walls_before, l->step.count * (int64_t)sizeof count, sizeof count, &count));
  const int64_t room = count > 0 ? count : 1;
  l->step.boundary_count = count;
#define POSITION_TAKE(name)                                                                                            \
  TRY(device_reserve(l->core, d->device, &d->name, room *(int64_t)sizeof(float[4]), 0, "contacts with solids"));
  POSITION_WALL_ROWS(POSITION_TAKE)
#undef POSITION_TAKE
  TRY(device_reserve(l->core, d->device, &d->slots, room * (int64_t)sizeof(int32_t), 0, "contacts with solids"));
  return device_reserve(l->core, d->device, &d->boundary, room * (int64_t)sizeof(BoundaryShared), 0,
                        "contacts with solids");
}

Status position_fill_boundary_device(const Launcher *l) {
  if (l->step.boundary_count > 0) TRY(find(l, true));
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

/* Sums of what pushed each solid come down. */
Status position_push_solids_device(Launcher *l) {
  PositionDevice *d = l->d;
  Solids *solids = &l->work->step->state->solids;
  const int64_t count = l->step.boundary_count, halves = 2 * WRENCH_PARTS * (int64_t)solids->count,
                bytes = halves * (int64_t)sizeof *d->wrenches_read;
  const double per_square = 1 / ((double)l->work->dt * (double)l->work->h); /* the mean over the substeps */
  const DeviceBuffer *there = &l->work->step->state->mirror->solids.solid;
  if (count == 0) return SCREE_OK;
  TRY(memory_grow(l->core, &d->wrenches_read, halves, "forces on solids"));
  TRY(device_reserve(l->core, d->device, &d->wrenches, bytes, 0, "forces on solids"));
  TRY(device_clear(l->core, d->device, &d->wrenches, bytes));
  TRY(LAUNCH(l, position_push_boundary, (count + BOUNDARY_PUSHES - 1) / BOUNDARY_PUSHES, DEVICE_VALUE(l->step),
             DEVICE_VALUE(per_square), HERE(boundary), HERE(sums), HERE(total), DEVICE_BUFFER(there), HERE(wrenches)));
  TRY(device_read(l->core, d->device, &d->wrenches, 0, bytes, d->wrenches_read));
  for (int64_t k = 0; k < halves; k += 2) {
    const uint64_t part = (uint64_t)d->wrenches_read[k + 1] << 32 | d->wrenches_read[k];
    atomic_fetch_add_explicit(&solids->items[k / (2 * WRENCH_PARTS)].wrench.part[k / 2 % WRENCH_PARTS], (int64_t)part,
                              memory_order_relaxed);
  }
  return SCREE_OK;
}
