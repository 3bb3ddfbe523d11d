/* Contacts with solids on a device. */
#include <string.h>

#include "core/parallel.h"
#include "methods/common/position_launch.h"

#define SOLIDS SOLIDS_ARGUMENTS(l->work->step->state->mirror)

static bool any_movable(const PositionStep *work) {
  for (int32_t k = 0; k < work->step->state->solids.count; k++)
    if (work->bodies.items[k].movable) return true;
  return false;
}

static bool any_matched(const PositionStep *work) {
  for (int32_t k = 0; k < work->step->state->solids.count; k++)
    if (work->bodies.items[k].matched) return true;
  return false;
}

/* Solids as they go in the step. */
static Status send_bodies(Launcher *l) {
  const PositionStep *work = l->work;
  const Solids *solids = &work->step->state->solids;
  const int64_t bytes = (solids->count + 1) * (int64_t)sizeof(BoundaryBody);
  TRY(memory_grow(l->core, &l->d->bodies_shared, solids->count + 1, "contacts with solids"));
  memset(l->d->bodies_shared, 0, (size_t)bytes); /* what lies between is compared, too */
  for (int32_t k = 0; k < solids->count; k++) {
    const PositionBody *body = &work->bodies.items[k];
    l->d->bodies_shared[k] = (BoundaryBody){.center = position_body_center(&solids->items[k], body),
                                            .way = vec3(body->free.part[0], body->free.part[1], body->free.part[2]),
                                            .spin = solids->items[k].spin,
                                            .turn = body->free_turn,
                                            .turned = body->free_turned,
                                            .turns = body->turns,
                                            .movable = body->movable,
                                            .still = body->still,
                                            .sampled = solid_is_sampled(&solids->items[k]),
                                            .matched = body->matched,
                                            .pose = solids->items[k].rotation,
                                            .inertia = solids->items[k].inertia,
                                            .free = solids->items[k].motion == MOTION_FREE};
    if (!body->movable) continue;
    if (body->matched) position_measure_shape(work, k);
    l->d->bodies_shared[k].middle = body->middle;
    if (solids->items[k].motion == MOTION_FREE) l->d->bodies_shared[k].mass = solids->items[k].mass;
    memcpy(l->d->bodies_shared[k].mobility, solids->items[k].inverse_inertia, sizeof solids->items[k].inverse_inertia);
    position_body_weight(&solids->items[k], &l->d->bodies_shared[k].linear, &l->d->bodies_shared[k].angular);
  }
  return position_send_table(l, &l->d->sent_bodies, &l->d->bodies, l->d->bodies_shared, bytes);
}

static BoundarySearch shared_search(const Launcher *l, bool fill) {
  const State *state = l->work->step->state;
  return (BoundarySearch){.origin = {state->origin.x, state->origin.y, state->origin.z},
                          .solids = state->solids.count,
                          .words = 2 * (int)state->contacts.near_words,
                          .springs = l->work->settings->springs,
                          .fill = fill,
                          .samples = (int)state->samples.count,
                          .asks = position_asks(l),
                          .sample_radius = state->samples.radius,
                          .scale = l->work->search->bins.scale};
}

/* Samples of solids where their shapes have them. */
static Status send_samples(const Launcher *l) {
  PositionDevice *d = l->d;
  const SolidSamples *s = &l->work->step->state->samples;
  const int64_t four = s->count * (int64_t)sizeof(float),
                grains = (s->count > 0 ? l->step.count : 1) * (int64_t)sizeof(int32_t);
  TRY(device_reserve(l->core, d->device, &d->faced, grains, 0, "samples"));
  TRY(device_reserve(l->core, d->device, &d->sampled, grains, 0, "samples"));
  if (s->count == 0) return SCREE_OK;
  TRY(position_send_table(l, &d->sent_sample_x, &d->sample_x, s->local_x, four));
  TRY(position_send_table(l, &d->sent_sample_y, &d->sample_y, s->local_y, four));
  TRY(position_send_table(l, &d->sent_sample_z, &d->sample_z, s->local_z, four));
  TRY(position_send_table(l, &d->sent_sample_of, &d->sample_of, s->solid, four));
  return device_reserve(l->core, d->device, &d->sample_at, 4 * four, 0, "samples");
}

/* Counts the samples that each grain may touch, or lists them. Where grains are stands in the rows of `now` and `next`:
 * see fill_bins. */
static Status find_samples(const Launcher *l, BoundarySearch search) {
  const DeviceBuffer *solids = &l->work->step->state->mirror->solids.solid;
  return LAUNCH(l, position_find_samples, search.samples, DEVICE_VALUE(l->step), DEVICE_VALUE(search),
                DEVICE_VALUE(l->d->bins.shared), HERE(bins.start), HERE(bins.point), HERE(ahead), HERE(now), HERE(next),
                FIELD3(dx, dy, dz), HERE(sample_x), HERE(sample_y), HERE(sample_z), HERE(sample_of),
                DEVICE_BUFFER(solids), HERE(bodies), HERE(rows), HERE(sample_at), HERE(sampled), HERE(touching));
}

#define IF_ASKED(name) DEVICE_BUFFER(search.asks ? &l->d->name : &l->d->nothing)

#define SEEKING                                                                                                        \
  DEVICE_VALUE(l->step), DEVICE_VALUE(search), FIELD3(x, y, z), FIELD3(low_x, low_y, low_z), FIELD3(dx, dy, dz),       \
      FIELD(radius)
#define FOUND                                                                                                          \
  FIELD(near_solids), SOLIDS, HERE(bodies), IF_ASKED(asked_at), IF_ASKED(answered), IF_ASKED(answers), HERE(boundary)

Status position_count_boundary(Launcher *l) {
  const BoundarySearch search = shared_search(l, false);
  TRY(find_samples(l, search));
  if (search.asks) TRY(position_ask_host(l, search));
  return LAUNCH(l, position_count_boundary, l->step.count + 1, SEEKING, FOUND, HERE(sampled), HERE(pairs), HERE(walls),
                HERE(faced), HERE(begin), HERE(rows));
}

/* Those that have been counted are written. */
static Status write_boundary(const Launcher *l) {
  const BoundarySearch search = shared_search(l, true);
  TRY(find_samples(l, search));
  TRY(LAUNCH(l, position_find_boundary, l->step.count, SEEKING, FOUND, HERE(walls), HERE(rows)));
  if (search.samples == 0) return SCREE_OK;
  return LAUNCH(l, position_touch_samples, l->step.count, SEEKING, SOLIDS, HERE(bodies), HERE(sample_of),
                HERE(sample_at), HERE(walls), HERE(rows), HERE(faced), HERE(touching), HERE(boundary));
}

/* Rows of the solids in a substep; whether any of them moves. */
static bool ride_rows(const PositionStep *work, double (*rows)[RIDE_DOUBLES]) {
  bool moving = false;
  for (int32_t k = 0; k < work->step->state->solids.count; k++) {
    const PositionBody *body = &work->bodies.items[k];
    double *row = rows[k];
    memset(row, 0, sizeof *rows);
    memcpy(row + RIDE_SHIFT, body->moved.part, sizeof body->moved.part); /* and the spin */
    memcpy(row + RIDE_TURN, body->turn.m, sizeof body->turn.m);
    memcpy(row + RIDE_LAST_SHIFT, &body->last_shift, sizeof body->last_shift);
    memcpy(row + RIDE_LAST_TURN, body->last_turn.m, sizeof body->last_turn.m);
    memcpy(row + RIDE_TOTAL, body->total.part, 3 * sizeof *body->total.part);
    memcpy(row + RIDE_ALONE, body->alone.part, sizeof body->alone.part);
    memcpy(row + RIDE_ROTATION, body->rotation.m, sizeof body->rotation.m);
    row[RIDE_STILL] = body->still;
    moving |= !body->still;
  }
  return moving;
}

/* Rows of one substep. */
static Status send_substep(const Launcher *l, int32_t substep) {
  const PositionStep *work = l->work;
  const int64_t solids = work->step->state->solids.count, bytes = solids * RIDE_DOUBLES * (int64_t)sizeof(double);
  double(*rows)[RIDE_DOUBLES] = NULL;
  int mark = scratch_mark(work->step->scratch);
  TRY(scratch_take(l->core, work->step->scratch, &rows, solids, "solids"));
  ride_rows(work, rows);
  Status status = device_write(l->core, l->d->device, &l->d->motions, substep * bytes, bytes, rows);
  scratch_release(l->core, work->step->scratch, mark);
  return status;
}

/* Room for all substeps, of which the first goes up; what was sent before is written over. */
static Status begin_motions(Launcher *l, int64_t count, const void *rows) {
  const int64_t row = RIDE_DOUBLES * (int64_t)sizeof(double), solids = l->work->step->state->solids.count;
  l->d->sent_motions.bytes = 0;
  TRY(device_reserve(l->core, l->d->device, &l->d->motions, (count + 1) * row, 0, "solids"));
  return device_write(l->core, l->d->device, &l->d->motions, 0, solids * row, rows);
}

/* Where grains move bodies, rows follow substep by substep: those of the first alone go up now. */
Status position_send_motions(Launcher *l, bool *moving) {
  PositionStep *work = l->work;
  const int32_t solids = work->step->state->solids.count;
  const int64_t count = (int64_t)solids * work->substeps;
  double(*rows)[RIDE_DOUBLES] = NULL;
  int mark = scratch_mark(work->step->scratch);
  *moving = false;
  TRY(scratch_take(l->core, work->step->scratch, &rows, count, "solids"));
  const bool movable = any_movable(work);
  const int32_t known = movable ? 1 : work->substeps;
  for (work->substep = 0; work->substep < known; work->substep++) {
    *moving |= ride_rows(work, rows + (int64_t)work->substep * solids);
    if (!movable) position_end_substep(work);
  }
  const int64_t told = (*moving ? known : 1) * (int64_t)solids; /* what stands still does so in every substep */
  Status status = SCREE_OK;
  if (!movable)
    status = position_send_table(l, &l->d->sent_motions, &l->d->motions, rows, told * (int64_t)sizeof *rows);
  else status = begin_motions(l, count, rows);
  scratch_release(l->core, work->step->scratch, mark);
  return status;
}

Status position_send_bodies(Launcher *l) {
  PositionDevice *d = l->d;
  const int64_t solids = l->work->step->state->solids.count, four = (int64_t)sizeof(int32_t);
  TRY(send_bodies(l));
  TRY(send_samples(l));
  TRY(device_reserve(l->core, d->device, &d->touched, (solids + 1) * four, 0, "bodies"));
  TRY(device_reserve(l->core, d->device, &d->wrenches, (2 * WRENCH_PARTS * solids + 1) * four, 0, "forces on solids"));
  return device_reserve(l->core, d->device, &d->boundary, sizeof(BoundaryShared), 0, "contacts with solids");
}

/* Of bodies that grains can move. */
static Status reserve_pushed(const Launcher *l, int64_t room) {
  PositionDevice *d = l->d;
  const int64_t solids = l->work->step->state->solids.count + 1, four = (int64_t)sizeof(int32_t),
                eight = (int64_t)sizeof(double);
  if (!any_movable(l->work)) return SCREE_OK;
  TRY(device_reserve(l->core, d->device, &d->pushed_before, (room + 1) * four, 0, "bodies"));
  TRY(device_reserve(l->core, d->device, &d->pushed, room * four, 0, "bodies"));
  TRY(device_reserve(l->core, d->device, &d->push_parts, room * PUSH_PARTS * eight, 0, "bodies"));
  TRY(device_reserve(l->core, d->device, &d->body_sums, solids * BODY_SUMS * eight, 0, "bodies"));
  TRY(device_reserve(l->core, d->device, &d->rides, solids * (int64_t)sizeof(PositionRide), 0, "bodies"));
  TRY(memory_grow(l->core, &d->rides_here, solids, "bodies"));
  return memory_grow(l->core, &d->sums_read, solids, "bodies");
}

Status position_reserve_boundary(Launcher *l) {
  PositionDevice *d = l->d;
  const int64_t room = l->step.boundary_count > 0 ? l->step.boundary_count : 1;
#define POSITION_TAKE(name)                                                                                            \
  TRY(device_reserve(l->core, d->device, &d->name, room *(int64_t)sizeof(float[4]), 0, "contacts with solids"));
  POSITION_WALL_ROWS(POSITION_TAKE)
#undef POSITION_TAKE
#define POSITION_PART(name) &d->name,
  DeviceBuffer *const parts[] = {POSITION_WALL_PARTS(POSITION_PART)};
#undef POSITION_PART
  TRY(position_reserve_parts(l, &d->wall, parts, WALL_ROWS, room, &d->wall_rows));
  l->step.wall_rows = (int)d->wall_rows;
  TRY(device_reserve(l->core, d->device, &d->slots, room * (int64_t)sizeof(int32_t), 0, "contacts with solids"));
  TRY(device_reserve(l->core, d->device, &d->boundary, room * (int64_t)sizeof(BoundaryShared), 0,
                     "contacts with solids"));
  if (l->work->step->state->samples.count > 0)
    TRY(device_reserve(l->core, d->device, &d->touching, room * (int64_t)sizeof(int32_t), 0, "contacts with solids"));
  return reserve_pushed(l, room);
}

Status position_fill_boundary_device(const Launcher *l) {
  if (l->step.boundary_count > 0) TRY(write_boundary(l));
  return LAUNCH(l, position_fill_boundary, l->step.boundary_count, DEVICE_VALUE(l->step), HERE(boundary), HERE(rows),
                HERE(begin), FIELD(contact_row), FIELD(contacts_held), HERE(last_key), HERE(last_kept), FIELD(material),
                HERE(key), HERE(kept), HERE(pose), HERE(kind), HERE(slots), HERE(sums), HERE(bodies), HERE(motions),
                FIELD(radius), HERE(wall_now), HERE(wall_last), HERE(wall_rim));
}

Status position_carry_boundary(const Launcher *l, int32_t substep) {
  const int32_t first = substep == 0, solids = l->work->step->state->solids.count;
  DeviceBuffer *motions = &l->d->motions;
  const int32_t from = substep * solids;
  return LAUNCH(l, position_carry, l->step.boundary_count, DEVICE_VALUE(l->step), DEVICE_VALUE(first),
                DEVICE_VALUE(from), HERE(boundary), HERE(bodies), HERE(touched), DEVICE_BUFFER(motions), HERE(total),
                HERE(lever), HERE(wall_now), HERE(wall_last), HERE(wall_rim));
}

/* ---- bodies that grains can move ---- */

/* Of matched ones. */
static Status sum_match(const Launcher *l) {
  PositionDevice *d = l->d;
  const int64_t bytes = l->work->step->state->solids.count * (int64_t)sizeof *d->sums_read;
  const double per_square = 1 / ((double)l->work->h * (double)l->work->h);
  TRY(device_clear(l->core, d->device, &d->body_sums, bytes));
  return LAUNCH(l, position_push_matched, (l->step.boundary_count + BOUNDARY_PUSHES - 1) / BOUNDARY_PUSHES,
                DEVICE_VALUE(l->step), DEVICE_VALUE(per_square), HERE(boundary), HERE(bodies), HERE(slots), HERE(kept),
                HERE(pose), HERE(body_sums));
}

/* What pushes them, of what is remembered or of a substep. */
static Status sum_pushed(const Launcher *l, int32_t substep, bool first) {
  const int32_t solids = l->work->step->state->solids.count, from = substep * solids, begins = first;
  if (any_matched(l->work)) TRY(sum_match(l));
  TRY(LAUNCH(l, position_push_parts, l->step.boundary_count, DEVICE_VALUE(l->step), DEVICE_VALUE(begins),
             HERE(boundary), HERE(bodies), HERE(pushed_before), HERE(pushed), HERE(slots), HERE(kept), HERE(pose),
             HERE(kind), HERE(rolling), HERE(lever), HERE(total), HERE(push_parts)));
  return LAUNCH(l, position_sum_pushed, (int64_t)solids * BODY_LANES, DEVICE_VALUE(l->step), DEVICE_VALUE(solids),
                DEVICE_VALUE(from), HERE(boundary), HERE(bodies), HERE(motions), HERE(pushed_before), HERE(pushed),
                HERE(touched), HERE(push_parts), HERE(body_sums));
}

static DeviceRead sums_wanted(const Launcher *l) {
  PositionDevice *d = l->d;
  return (DeviceRead){&d->body_sums, 0, l->work->step->state->solids.count * (int64_t)sizeof *d->sums_read,
                      d->sums_read};
}

/* The device moves bodies by those sums. Matched ones want a decomposition of a matrix, for which the host has them. */
static Status move_there(const Launcher *l, RideShared shared) {
  shared.solids = l->work->step->state->solids.count;
  shared.row *= shared.solids;
  shared.memory = l->work->settings->memory;
  return LAUNCH(l, position_move_bodies, shared.solids, DEVICE_VALUE(shared), HERE(bodies), HERE(body_sums),
                HERE(rides), HERE(motions));
}

static bool moves_there(const PositionStep *work) { return any_movable(work) && !any_matched(work); }

static Status send_rides(const Launcher *l) {
  PositionDevice *d = l->d;
  const int32_t solids = l->work->step->state->solids.count;
  for (int32_t k = 0; k < solids; k++) d->rides_here[k] = l->work->bodies.items[k].ride;
  return device_write(l->core, d->device, &d->rides, 0, solids * (int64_t)sizeof *d->rides_here, d->rides_here);
}

static void count_contacts(const Launcher *l) {
  const PositionStep *work = l->work;
  for (int32_t k = 0; k < work->step->state->solids.count; k++)
    if (work->bodies.items[k].movable)
      atomic_store(&work->bodies.items[k].boundary, (int64_t)l->d->sums_read[k][BODY_CONTACTS]);
}

/* Where bodies have come to in all substeps. */
static Status fetch_rides(const Launcher *l) {
  PositionDevice *d = l->d;
  const PositionStep *work = l->work;
  const int32_t solids = work->step->state->solids.count;
  const DeviceRead reads[] = {sums_wanted(l), {&d->rides, 0, solids * (int64_t)sizeof *d->rides_here, d->rides_here}};
  TRY(device_read_many(l->core, d->device, reads, 2));
  count_contacts(l);
  for (int32_t k = 0; k < solids; k++) work->bodies.items[k].ride = d->rides_here[k];
  return SCREE_OK;
}

static void move_by_sums(const Launcher *l) {
  PositionStep *work = l->work;
  for (int32_t k = 0; k < work->step->state->solids.count; k++) {
    const double *sums = l->d->sums_read[k];
    if (!(sums[BODY_CONTACTS] > 0)) continue;
    if (!work->bodies.items[k].matched) {
      position_move_by(work, k, sums + BODY_MOVED, sums + BODY_PUSH, sums[BODY_RESISTANCE]);
      continue;
    }
    int64_t match[MATCH_SUMS];
    memcpy(match, sums + BODY_MATCH, sizeof match);
    position_add_match(&work->bodies.items[k], match);
    position_match(work, k);
  }
}

/* The host does. */
static Status move_here(const Launcher *l) {
  const DeviceRead read = sums_wanted(l);
  TRY(device_read_many(l->core, l->d->device, &read, 1));
  move_by_sums(l);
  return SCREE_OK;
}

/* See position_pin. */
static Status pin_grains(const Launcher *l) {
  const State *state = l->work->step->state;
  const float far = POSITION_THROWN * (float)state->radius;
  return LAUNCH(l, position_pin, l->step.boundary_count, DEVICE_VALUE(l->step), DEVICE_VALUE(far), HERE(boundary),
                HERE(bodies), HERE(touched), HERE(pairs), HERE(walls), HERE(rows), HERE(begin), HERE(slots), HERE(kept),
                HERE(pose), HERE(inverse), HERE(falls));
}

static bool any_free(const PositionStep *work) {
  for (int32_t k = 0; k < work->step->state->solids.count; k++)
    if (work->step->state->solids.items[k].motion == MOTION_FREE) return true;
  return false;
}

Status position_count_bodies(Launcher *l) {
  PositionDevice *d = l->d;
  const int64_t count = l->step.boundary_count, bytes = l->step.count * (int64_t)sizeof(float);
  l->step.pins = count > 0 && l->work->settings->memory && any_free(l->work);
  TRY(device_reserve(l->core, d->device, &d->falls, l->step.pins ? bytes : (int64_t)sizeof(float), 0, "bodies"));
  if (!any_movable(l->work) || count == 0) return SCREE_OK;
  TRY(LAUNCH(l, position_flag_pushed, count + 1, DEVICE_VALUE(l->step), HERE(boundary), HERE(bodies),
             HERE(pushed_before), HERE(touched)));
  TRY(scan_run(l->core, &d->scan, &d->pushed_before, count + 1));
  TRY(LAUNCH(l, position_list_pushed, count, DEVICE_VALUE(l->step), HERE(pushed_before), HERE(pushed)));
  if (!l->step.pins) return SCREE_OK;
  TRY(device_clear(l->core, d->device, &d->falls, bytes));
  return pin_grains(l);
}

Status position_begin_bodies(Launcher *l) {
  PositionStep *work = l->work;
  work->substep = 0;
  if (!any_movable(work) || l->step.boundary_count == 0) return SCREE_OK;
  if (moves_there(work)) TRY(send_rides(l));
  if (moves_there(work) && !work->settings->memory) return SCREE_OK;
  TRY(sum_pushed(l, 0, true));
  if (moves_there(work)) return move_there(l, (RideShared){.row = 0});
  const DeviceRead read = sums_wanted(l);
  TRY(device_read_many(l->core, l->d->device, &read, 1));
  count_contacts(l);
  if (!work->settings->memory) return SCREE_OK;
  move_by_sums(l);
  return send_substep(l, 0);
}

Status position_follow_bodies(Launcher *l) {
  if (!any_movable(l->work) || l->step.boundary_count == 0) return SCREE_OK;
  TRY(sum_pushed(l, 0, false));
  if (moves_there(l->work)) return move_there(l, (RideShared){.row = 0});
  TRY(move_here(l));
  return send_substep(l, 0);
}

Status position_move_bodies_device(Launcher *l, int32_t substep) {
  PositionStep *work = l->work;
  const bool goes_on = substep + 1 < work->substeps, touched = l->step.boundary_count > 0;
  if (!any_movable(work)) return SCREE_OK;
  if (touched) TRY(sum_pushed(l, substep, false));
  if (touched && moves_there(work)) {
    TRY(move_there(l, (RideShared){.row = substep + 1, .ends = 1, .goes_on = goes_on}));
    return goes_on ? SCREE_OK : fetch_rides(l);
  }
  if (touched) TRY(move_here(l));
  work->substep = substep;
  position_end_substep(work);
  return goes_on ? send_substep(l, substep + 1) : SCREE_OK;
}

/* Sums of what pushed each solid come down. */
DeviceRead position_wrenches_wanted(PositionDevice *d) {
  const int64_t halves = 2 * WRENCH_PARTS * (int64_t)d->wrench_solids;
  return (DeviceRead){&d->wrenches, 0, halves * (int64_t)sizeof *d->wrenches_read, d->wrenches_read};
}

void position_take_wrenches(PositionDevice *d, Solids *solids) {
  for (int32_t k = 0; k < WRENCH_PARTS * d->wrench_solids; k++) {
    const uint64_t part = (uint64_t)d->wrenches_read[2 * k + 1] << 32 | d->wrenches_read[2 * k];
    atomic_fetch_add_explicit(&solids->items[k / WRENCH_PARTS].wrench.part[k % WRENCH_PARTS], (int64_t)part,
                              memory_order_relaxed);
  }
}

Status position_push_solids_device(Launcher *l) {
  PositionDevice *d = l->d;
  Solids *solids = &l->work->step->state->solids;
  const int64_t count = l->step.boundary_count;
  const double per_square = 1 / ((double)l->work->dt * (double)l->work->h); /* the mean over the substeps */
  const DeviceBuffer *there = &l->work->step->state->mirror->solids.solid;
  position_push_bodies(l->work);
  if (count == 0) return SCREE_OK;
  d->wrench_solids = solids->count;
  TRY(memory_grow(l->core, &d->wrenches_read, 2 * WRENCH_PARTS * (int64_t)solids->count, "forces on solids"));
  TRY(LAUNCH(l, position_push_boundary, (count + BOUNDARY_PUSHES - 1) / BOUNDARY_PUSHES, DEVICE_VALUE(l->step),
             DEVICE_VALUE(per_square), HERE(boundary), HERE(bodies), HERE(sums), HERE(total), DEVICE_BUFFER(there),
             HERE(wrenches)));
  d->to_tell.wrenches = !any_movable(l->work); /* bodies go by what pushes them before the step is over */
  if (d->to_tell.wrenches) return SCREE_OK;
  const DeviceRead read = position_wrenches_wanted(d);
  TRY(device_read_many(l->core, d->device, &read, 1));
  position_take_wrenches(d, solids);
  return SCREE_OK;
}
