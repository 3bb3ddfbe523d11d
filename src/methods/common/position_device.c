#include "methods/common/position_device.h"

#include <string.h>

#include "methods/common/position_launch.h"

Status position_launch(const Launcher *l, DeviceKernel *kernel, int64_t items, const DeviceArgument *arguments,
                       int count) {
  return device_launch(l->core, kernel, 0, items, POSITION_GROUP, arguments, count);
}

static const char *const added_fields[] = {"spin_x",      "spin_y",        "spin_z",
                                           "contact_row", "contacts_held", "contact_number"};
enum { ADDED_FIELDS = sizeof added_fields / sizeof *added_fields };

Status position_device_open(Core *core, State *state, const char *source, PositionDevice **device) {
  PositionDevice *d = NULL;
  TRY(memory_new(core, &d, 1, "grains on a device"));
  *device = d;
  d->device = state->mirror->device;
  for (int f = 0; f < ADDED_FIELDS; f++)
    if (particles_field(&state->particles, added_fields[f])) particles_mirror_field(&state->particles, added_fields[f]);
  TRY(device_build(core, d->device, source, "", &d->program));
  POSITION_KERNELS(DEVICE_KERNEL_MAKE)
  TRY(scan_open(core, d->device, d->program, &d->scan));
  TRY(bins_device_open(core, d->device, d->program, &d->bins));
  return device_reserve(core, d->device, &d->nothing, 64, 0, "nothing");
}

void position_device_close(Core *core, PositionDevice *d) {
  if (!d) return;
  POSITION_ROWS(DEVICE_BUFFER_RELEASE)
  POSITION_OWN_ROWS(DEVICE_BUFFER_RELEASE)
  POSITION_WALL_ROWS(DEVICE_BUFFER_RELEASE)
  POSITION_WALL_PARTS(DEVICE_BUFFER_RELEASE)
  device_release(d->device, &d->own);
  device_release(d->device, &d->wall);
  POSITION_BUFFERS(DEVICE_BUFFER_RELEASE)
#define POSITION_DROP(name) memory_drop(core, &d->name.data);
  POSITION_TABLES(POSITION_DROP)
#undef POSITION_DROP
  POSITION_KERNELS(DEVICE_KERNEL_FREE)
  scan_close(core, &d->scan);
  bins_device_close(core, &d->bins);
  device_program_free(core, d->program);
  memory_drop(core, &d->bodies_shared);
  memory_drop(core, &d->wrenches_read);
  memory_drop(core, &d->sums_read);
  memory_drop(core, &d->rides_here);
  memory_drop(core, &d->host_rows);
  memory_free(&core->memory, d);
}

/* ---- fields and private data ---- */

static void find_fields(Launcher *l, const State *state) {
#define POSITION_FIND(name) l->name = mirror_buffer(state->mirror, &state->particles, #name, &l->d->nothing);
  POSITION_FIELDS(POSITION_FIND)
#undef POSITION_FIND
}

void position_device_forget(PositionDevice *d) { d->here = d->fetched = false; }

/* The places of nobody are zero. */
static Status reserve_zero(Core *core, PositionDevice *d, int64_t places, int64_t size, DeviceBuffer *buffer) {
  const int64_t room = buffer->bytes;
  TRY(device_reserve(core, d->device, buffer, places * size, 0, "contact memory"));
  return buffer->bytes > room ? device_clear(core, d->device, buffer, LANES * size) : SCREE_OK;
}

static Status reserve_places(Core *core, PositionDevice *d, int64_t places, DeviceBuffer *key, DeviceBuffer *kept) {
  TRY(reserve_zero(core, d, places, sizeof(uint32_t), key));
  return reserve_zero(core, d, places, sizeof(float[4]), kept);
}

/* What contacts remember goes up, where the host's counts. */
static Status send_memory(Core *core, PositionDevice *d, const ContactMemory *memory) {
  if (d->here) return SCREE_OK;
  const ContactPlaces *now = &memory->now;
  int64_t places = memory->places > LANES ? memory->places : LANES;
  TRY(reserve_places(core, d, places, &d->last_key, &d->last_kept));
  TRY(memory_grow(core, &d->host_rows, places, "contact memory"));
  for (int64_t p = 0; p < memory->places; p++)
    for (int c = 0; c < CONTACT_KEPT; c++) d->host_rows[p][c] = now->kept[c][p];
  TRY(device_write(core, d->device, &d->last_key, 0, memory->places * (int64_t)sizeof *now->key, now->key));
  TRY(device_write(core, d->device, &d->last_kept, 0, memory->places * (int64_t)sizeof *d->host_rows, d->host_rows));
  d->places = memory->places;
  d->here = true;
  return SCREE_OK;
}

Status position_device_fetch(Core *core, PositionDevice *d, ContactMemory *memory) {
  if (!d->here || d->fetched || !memory->row) return SCREE_OK;
  ContactPlaces *now = &memory->now;
  TRY(contact_memory_free(core, memory, d->places));
  TRY(memory_grow(core, &d->host_rows, d->places, "contact memory"));
  TRY(device_read(core, d->device, &d->last_key, 0, d->places * (int64_t)sizeof *now->key, now->key));
  TRY(device_read(core, d->device, &d->last_kept, 0, d->places * (int64_t)sizeof *d->host_rows, d->host_rows));
  for (int64_t p = 0; p < d->places; p++)
    for (int c = 0; c < CONTACT_KEPT; c++) now->kept[c][p] = d->host_rows[p][c];
  memory->places = d->places;
  memory->ordered = 0;
  d->fetched = true;
  return SCREE_OK;
}

/* ---- the search ---- */

Status position_reserve_parts(const Launcher *l, DeviceBuffer *whole, DeviceBuffer *const *parts, int part_count,
                              int64_t count, int64_t *rows) {
  const int64_t row = (int64_t)sizeof(float[4]), whole_rows = DEVICE_SLICE / row;
  if (count <= *rows) return SCREE_OK;
  const int64_t wanted = (count + (*rows > 0 ? count / 8 : 0) + whole_rows - 1) / whole_rows * whole_rows;
  for (int k = 0; k < part_count; k++) device_release(l->d->device, parts[k]);
  TRY(device_reserve(l->core, l->d->device, whole, part_count * wanted * row, 0, "grains"));
  for (int k = 0; k < part_count; k++)
    TRY(device_slice(l->core, l->d->device, whole, k * wanted * row, wanted * row, parts[k]));
  *rows = wanted;
  return SCREE_OK;
}

static Status reserve_grains(Launcher *l) {
  const int64_t count = l->step.count, four = (int64_t)sizeof(int32_t);
  PositionDevice *d = l->d;
#define POSITION_TAKE(name) TRY(device_reserve(l->core, d->device, &d->name, count * 4 * four, 0, "grains"));
  POSITION_ROWS(POSITION_TAKE)
#undef POSITION_TAKE
#define POSITION_PART(name) &d->name,
  DeviceBuffer *const parts[] = {POSITION_OWN_ROWS(POSITION_PART)};
#undef POSITION_PART
  TRY(position_reserve_parts(l, &d->own, parts, OWN_ROWS, count, &d->own_rows));
  l->step.own_rows = (int)d->own_rows;
  TRY(device_reserve(l->core, d->device, &d->deepest, four, 0, "overlap"));
  TRY(device_reserve(l->core, d->device, &d->lowest, four, 0, "masses"));
  TRY(device_reserve(l->core, d->device, &d->inverse, count * four, 0, "masses"));
  TRY(device_reserve(l->core, d->device, &d->batch_key, count * four, 0, "batches"));
  TRY(device_reserve(l->core, d->device, &d->pairs, count * 4 * four, 0, "contact counts"));
  TRY(device_reserve(l->core, d->device, &d->walls, count * four, 0, "contact counts"));
  TRY(device_reserve(l->core, d->device, &d->begin, l->step.slices * POSITION_BATCHES * four, 0, "slices"));
  return device_reserve(l->core, d->device, &d->rows, (l->step.slices + 1 + count + 1) * four, 0, "slices");
}

/* What the step begins with, and grains into bins: those of the last time, see find_contacts. The rows of `now` and
 * `next` hold where grains are until position_load. */
static Status fill_bins(Launcher *l) {
  PositionDevice *d = l->d;
  const PositionStep *work = l->work;
  const State *state = work->step->state;
  const DevicePoints points = {l->x, l->y, l->z, l->dx, l->dy, l->dz, l->radius, &d->batch_key};
  TRY(bins_device_begin(l->core, &d->bins, &work->search->bins));
  const Vec3 up = vec3_scale(vec3_normalize(state->gravity), -1);
  const BeginShared shared = {.up = {up.x, up.y, up.z},
                              .scaling = work->settings->mass_scaling,
                              .count = l->step.count,
                              .bins = d->bins.entries,
                              .solids = state->solids.count,
                              .samples = (int)state->samples.count};
  const int32_t most = INT32_MAX, counters = 2 * WRENCH_PARTS * shared.solids,
                items = l->step.count > shared.bins ? l->step.count : shared.bins + 1;
  if (shared.scaling > 0) {
    TRY(device_write(l->core, d->device, &d->lowest, 0, sizeof most, &most));
    TRY(LAUNCH(l, position_lowest, l->step.count, DEVICE_VALUE(shared), FIELD3(x, y, z), HERE(lowest)));
  }
  TRY(LAUNCH(l, position_begin, items > counters ? items : counters, DEVICE_VALUE(l->step), DEVICE_VALUE(shared),
             FIELD3(x, y, z), FIELD3(low_x, low_y, low_z), FIELD3(dx, dy, dz), FIELD(radius), FIELD(mass), HERE(lowest),
             HERE(now), HERE(next), HERE(ahead), HERE(batch_key), HERE(inverse), HERE(bins.start), HERE(bins.box),
             HERE(touched), HERE(wrenches), HERE(deepest), HERE(sampled)));
  return bins_device_deal(l->core, &d->bins, &d->scan, &points, &work->search->bins);
}

static Status count_pairs(const Launcher *l) {
  return LAUNCH(l, position_count, l->step.count, DEVICE_VALUE(l->step), BINS, HERE(ahead), HERE(batch_key),
                HERE(pairs));
}

/* One grain that is nowhere is told of by the CPU's own search. */
static Status refuse(const Launcher *l) {
  State *state = l->work->step->state;
  TRY(mirror_fetch(l->core, state->mirror, &state->particles, SET_X | SET_D));
  return position_search_fill(l->work);
}

/* How many contacts there are comes down, and whether the bins held all grains: they are those of the last time, since
 * grains do not go far in a step. If not it is done again with those that do. */
static Status find_contacts(Launcher *l, int64_t *rows) {
  PositionDevice *d = l->d;
  PositionSearch *search = l->work->search;
  const PositionReach reach = position_survey_reach(l->work);
  const int64_t slices = l->step.slices, size = (int64_t)sizeof(int32_t);
  int32_t row = 0, all = 0;
  TRY(bins_begin(l->core, l->step.count, reach.differ, reach.most, l->work->margin, &search->bins));
  do {
    TRY(fill_bins(l));
    TRY(count_pairs(l));
    TRY(position_count_boundary(l));
    TRY(scan_run(l->core, &d->scan, &d->rows, slices + 1 + l->step.count + 1));
    const DeviceRead reads[] = {bins_device_wanted(&d->bins),
                                {&d->rows, slices * size, size, &row},
                                {&d->rows, (slices + 1 + l->step.count) * size, size, &all}};
    TRY(device_read_many(l->core, d->device, reads, 3));
    if (!bins_device_finite(&d->bins)) return refuse(l);
  } while (!bins_device_served(&d->bins, &search->bins));
  *rows = row;
  l->step.boundary_count = all - row;
  return SCREE_OK;
}

/* ---- slots ---- */

Status position_send_table(const Launcher *l, SentTable *sent, DeviceBuffer *buffer, const void *table, int64_t bytes) {
  TRY(device_reserve(l->core, l->d->device, buffer, bytes > 64 ? bytes : 64, 0, "tables"));
  if (!table || bytes == 0 || (sent->bytes == bytes && memcmp(sent->data, table, (size_t)bytes) == 0)) return SCREE_OK;
  TRY(memory_grow(l->core, &sent->data, bytes, "tables"));
  memcpy(sent->data, table, (size_t)bytes);
  sent->bytes = bytes;
  return device_write(l->core, l->d->device, buffer, 0, bytes, table);
}

static Status send_kinds(Launcher *l) {
  PositionStep *work = l->work;
  const State *state = work->step->state;
  bool told = false;
  TRY(position_mix_kinds(work, &told));
  const int64_t materials = state->materials.count, kinds = materials * (materials + state->solids.count),
                bytes = 2 * (kinds > 2 ? kinds : 2) * (int64_t)sizeof(float);
  float turns[256] = {0};
  for (int64_t k = 0; k < materials && k < 256; k++) turns[k] = position_turns(&state->materials.items[k]);
  l->step.kinds = told;
  l->step.bonds = work->layout.tension != NULL;
  l->step.materials = (int)materials;
  TRY(position_send_table(l, &l->d->sent_mu, &l->d->mu, work->layout.mu, bytes));
  TRY(position_send_table(l, &l->d->sent_tension, &l->d->tension, work->layout.tension, bytes));
  TRY(position_send_table(l, &l->d->sent_rolling, &l->d->rolling, work->layout.rolling, bytes));
  return position_send_table(l, &l->d->sent_turns, &l->d->turns, turns, sizeof turns);
}

static Status lay_out(Launcher *l, int64_t rows) {
  PositionDevice *d = l->d;
  TRY(position_reserve_boundary(l));
  const int64_t places = LANES + rows * SLICE;
  if (places > INT32_MAX - LANES) return fail(l->core, SCREE_NO_MEMORY, "too many contacts: %lld", (long long)places);
  TRY(reserve_places(l->core, d, places, &d->key, &d->kept));
  TRY(device_reserve(l->core, d->device, &d->pose, places * (int64_t)sizeof(float[4]), 0, "contacts"));
  if (l->step.kinds)
    TRY(device_reserve(l->core, d->device, &d->kind, places * (int64_t)sizeof(int32_t), 0, "contacts"));
  else TRY(device_reserve(l->core, d->device, &d->kind, 64, 0, "contacts"));
  d->slot_count = places;
  TRY(position_fill_boundary_device(l));
  TRY(LAUNCH(l, position_partners, l->step.count, DEVICE_VALUE(l->step), BINS, HERE(ahead), HERE(batch_key), HERE(rows),
             HERE(begin), HERE(key)));
  return LAUNCH(l, position_fill, l->step.count, DEVICE_VALUE(l->step), HERE(pairs), HERE(walls), HERE(rows),
                HERE(begin), FIELD(contact_row), FIELD(contacts_held), FIELD(contact_number), HERE(last_key),
                HERE(last_kept), HERE(now), HERE(next), FIELD(material), HERE(key), HERE(kept), HERE(pose), HERE(kind));
}

/* ---- passes ---- */

static void swap(DeviceBuffer *a, DeviceBuffer *b) {
  DeviceBuffer t = *a;
  *a = *b;
  *b = t;
}

static Status load(const Launcher *l) {
  return LAUNCH(l, position_load, l->step.count, DEVICE_VALUE(l->step), HERE(pairs), HERE(walls), FIELD3(vx, vy, vz),
                HERE(inverse), FIELD(radius), HERE(now), HERE(last), HERE(push), HERE(total), HERE(left), HERE(falls));
}

static Status stabilize(const Launcher *l) {
  for (int k = 0; k < l->stabilization; k++) {
    TRY(LAUNCH(l, position_shift, l->step.count, DEVICE_VALUE(l->step), HERE(pairs), HERE(walls), HERE(rows),
               HERE(begin), HERE(key), HERE(kept), HERE(pose), HERE(last), HERE(next), HERE(push),
               DEVICE_BUFFER(l->soft)));
    swap(&l->d->last, &l->d->next);
  }
  return SCREE_OK;
}

static Status pass_over(const Launcher *l, int32_t batch, int32_t last) {
  return LAUNCH(l, position_batch_pass, l->step.count, DEVICE_VALUE(l->step), DEVICE_VALUE(batch), DEVICE_VALUE(last),
                HERE(pairs), HERE(walls), HERE(rows), HERE(begin), HERE(key), HERE(kept), HERE(pose), HERE(kind),
                HERE(mu), HERE(tension), HERE(rolling), HERE(now), HERE(next), HERE(last), HERE(last_next), HERE(turn),
                HERE(turn_next), HERE(own), HERE(inverse), HERE(wall), HERE(sums));
}

static Status solve_batch(const Launcher *l, int32_t batch, int32_t last) {
  PositionDevice *d = l->d;
  const PositionExtra *extra = l->extra;
  if (extra && extra->solve_batch) TRY(extra->solve_batch(l, extra->data, batch, last));
  else TRY(pass_over(l, batch, last));
  swap(&d->now, &d->next);
  swap(&d->turn, &d->turn_next);
  return SCREE_OK;
}

static Status add_to_totals(const Launcher *l) {
  return LAUNCH(l, position_fall, l->step.count, DEVICE_VALUE(l->step), HERE(now), HERE(last), HERE(total));
}

static Status average_pass(const Launcher *l) {
  const PositionExtra *extra = l->extra;
  if (extra && extra->average) return extra->average(l, extra->data);
  return LAUNCH(l, position_average_pass, l->step.count, DEVICE_VALUE(l->step), HERE(pairs), HERE(walls), HERE(rows),
                HERE(begin), HERE(key), HERE(kept), HERE(pose), HERE(kind), HERE(mu), HERE(now), HERE(next), HERE(last),
                HERE(push), HERE(wall_now), HERE(wall_last));
}

/* Iterations of the papers. */
static Status iterate_averaged(Launcher *l, bool moving) {
  PositionDevice *d = l->d;
  TRY(position_begin_bodies(l));
  for (int k = 0; k < l->work->settings->iterations; k++) {
    if (k > 0) TRY(position_follow_bodies(l));
    if (moving) TRY(position_carry_boundary(l, 0));
    TRY(average_pass(l));
    swap(&d->now, &d->next);
  }
  TRY(LAUNCH(l, position_sum_walls, l->step.boundary_count, DEVICE_VALUE(l->step), HERE(slots), HERE(kept), HERE(pose),
             HERE(sums)));
  TRY(add_to_totals(l));
  return position_move_bodies_device(l, 0);
}

static Status solve(Launcher *l, bool moving) {
  PositionDevice *d = l->d;
  const PositionStep *work = l->work;
  TRY(LAUNCH(l, position_warm, l->step.count, DEVICE_VALUE(l->step), HERE(pairs), HERE(walls), HERE(rows), HERE(begin),
             HERE(kept), HERE(pose), HERE(kind), HERE(rolling), FIELD(material), HERE(turns),
             FIELD3(spin_x, spin_y, spin_z), HERE(now), HERE(next), HERE(last), HERE(push), HERE(total), HERE(before),
             HERE(torque), HERE(turn)));
  swap(&d->now, &d->next);
  if (work->settings->averaging) return iterate_averaged(l, moving);
  if (work->settings->iterations == 0) return add_to_totals(l);
  TRY(position_begin_bodies(l));
  for (int32_t substep = 0; substep < work->substeps; substep++) {
    const int32_t last = substep + 1 == work->substeps;
    for (int32_t batch = 0; batch < POSITION_PAIR_BATCHES; batch++) {
      if (batch == POSITION_PAIR_BATCHES - 1 && moving) TRY(position_carry_boundary(l, substep));
      TRY(solve_batch(l, batch, last));
    }
    swap(&d->last, &d->last_next);
    TRY(position_move_bodies_device(l, substep));
  }
  return SCREE_OK;
}

/* ---- the end ---- */

static Status measure_overlap(const Launcher *l) {
  return LAUNCH(l, position_overlap, l->step.count, DEVICE_VALUE(l->step), HERE(pairs), HERE(rows), HERE(begin),
                HERE(key), FIELD3(x, y, z), HERE(total), HERE(deepest));
}

/* How often grains may have come to stand elsewhere. */
static int64_t orders_of(const State *state) {
  return mirror_field(state->mirror, &state->particles, "contact_number")->sent + state->mirror->sorts;
}

static Status finish(Launcher *l) {
  PositionDevice *d = l->d;
  const State *state = l->work->step->state;
  TRY(LAUNCH(l, position_finish, l->step.count, DEVICE_VALUE(l->step), HERE(now), HERE(total), HERE(turn),
             FIELD3(vx, vy, vz), FIELD3(dx, dy, dz), FIELD3(spin_x, spin_y, spin_z), FIELD(contact_number), HERE(walls),
             HERE(rows), HERE(begin), HERE(boundary), HERE(key)));
  if (!l->step.memory) return SCREE_OK;
  swap(&d->key, &d->last_key);
  swap(&d->kept, &d->last_kept);
  d->places = d->slot_count;
  d->fetched = false;
  d->numbered = orders_of(state);
  return SCREE_OK;
}

/* ---- a step ---- */

Status position_device_predict(PositionDevice *d, Step *step) {
  const State *state = step->state;
  Launcher launcher = {.core = step->core, .d = d}, *l = &launcher;
  const int32_t count = (int32_t)state->particles.count;
  const Vec3 gain = vec3_scale(state->gravity, step->dt);
  const float dt = (float)step->dt, x = (float)gain.x, y = (float)gain.y, z = (float)gain.z;
  find_fields(l, state);
  return LAUNCH(l, position_predict, count, DEVICE_VALUE(count), DEVICE_VALUE(dt), DEVICE_VALUE(x), DEVICE_VALUE(y),
                DEVICE_VALUE(z), FIELD3(vx, vy, vz), FIELD3(dx, dy, dz));
}

static PositionShared shared_step(const PositionStep *work, const PositionDevice *d) {
  const State *state = work->step->state;
  const PositionSettings *settings = work->settings;
  const bool memory = settings->memory;
  PositionShared shared = {.count = (int)work->count,
                           .slices = (int)(work->padded / SLICE),
                           .boundary_row = (int)work->padded,
                           .faces = SOLID_FACES,
                           .memory = memory,
                           .turning = work->turning,
                           .places = (unsigned)d->places,
                           .substeps = work->substeps,
                           .h = work->h,
                           .recovered = work->recovered,
                           .slop = work->slop,
                           .carried = work->carried,
                           .margin = work->margin,
                           .history_scale = work->history_scale,
                           .relaxation = settings->relaxation,
                           .relaxation_pairs = position_relaxation(work, 0),
                           .relaxation_boundary = position_relaxation(work, POSITION_BOUNDARY_BATCH),
                           .shift_part = settings->shift_share > 0 ? settings->shift_share : 1,
                           .per_radius = 1 / (float)state->radius,
                           .averaging = settings->averaging,
                           .printed_limit = settings->printed_limit ? 2 * (float)state->radius : 0};
  memcpy(shared.fall, work->fall, sizeof shared.fall);
  if (memory) shared.renumbered = orders_of(state) != d->numbered;
  return shared;
}

/* Spins that a change of the materials has made the host forget go up again. */
static Status follow_spin(Core *core, State *state, bool before, const PositionSpin *spin) {
  if (before == spin->turning) return SCREE_OK;
  for (int c = 0; c < 3; c++) mirror_field(state->mirror, &state->particles, added_fields[c])->there = false;
  for (int c = 0; c < 3; c++) mirror_field(state->mirror, &state->particles, added_fields[c])->here = true;
  return mirror_send(core, state->mirror, &state->particles, SET_ADDED);
}

static Status run_step(Launcher *l) {
  PositionStep *work = l->work;
  bool moving = false;
  int64_t rows = 0;
  TRY(position_take_bodies(work));
  TRY(reserve_grains(l));
  TRY(send_kinds(l));
  TRY(position_send_bodies(l));
  TRY(position_send_motions(l, &moving));
  TRY(find_contacts(l, &rows));
  TRY(lay_out(l, rows));
  TRY(position_count_bodies(l));
  TRY(load(l));
  if (l->extra && l->extra->lay_out) TRY(l->extra->lay_out(l, l->extra->data));
  TRY(stabilize(l));
  TRY(solve(l, moving));
  if (l->extra && l->extra->solved) TRY(l->extra->solved(l, l->extra->data));
  if (work->step->measure_overlap) TRY(measure_overlap(l));
  TRY(finish(l));
  return position_push_solids_device(l);
}

Status position_device_step(PositionDevice *d, Step *step, const PositionSettings *settings, PositionSearch *search,
                            ContactMemory *memory, PositionSpin *spin, float history_scale,
                            const PositionExtra *extra) {
  PositionStep work;
  const bool turned = spin->turning;
  Launcher launcher = {.core = step->core,
                       .d = d,
                       .work = &work,
                       .extra = extra,
                       .stabilization = settings->stabilization,
                       .soft = &d->nothing};
  position_set_up(step, settings, search, memory, spin, history_scale, &work);
  TRY(follow_spin(step->core, step->state, turned, spin));
  d->to_tell = (PositionTold){.overlap = step->measure_overlap && work.count > 0};
  if (work.count == 0) return SCREE_OK;
  TRY(send_memory(step->core, d, memory));
  launcher.step = shared_step(&work, d);
  find_fields(&launcher, step->state);
  return run_step(&launcher);
}

int position_device_wanted(PositionDevice *d, DeviceRead *reads) {
  int count = 0;
  if (d->to_tell.overlap) reads[count++] = (DeviceRead){&d->deepest, 0, sizeof d->deepest_read, &d->deepest_read};
  if (d->to_tell.wrenches) reads[count++] = position_wrenches_wanted(d);
  return count;
}

void position_device_told(PositionDevice *d, State *state) {
  if (d->to_tell.overlap) state->contacts.overlap = 2 * (double)d->deepest_read;
  if (d->to_tell.wrenches) position_take_wrenches(d, &state->solids);
}
