#define LANE_SCALAR
#include "methods/dem/dem_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/parallel.h"
#include "device/device.h"
#include "methods/dem/boundary_contacts.h"
#include "methods/dem/dem_shared.h"
#include "methods/dem/topology.h"
#include "state/mirror.h"

#define DEM_KERNELS(X)                                                                                                 \
  X(dem_kick, "device prepare")                                                                                        \
  X(dem_rows, "device contacts")                                                                                       \
  X(dem_count_kept, "device contacts")                                                                                 \
  X(dem_keep, "device contacts")                                                                                       \
  X(dem_list, "device contacts")                                                                                       \
  X(dem_count_walls, "device contacts")                                                                                \
  X(dem_fill_walls, "device contacts")                                                                                 \
  X(dem_number, "device contacts")                                                                                     \
  X(dem_forces, "device forces")
/* Rows of grains; lists of now and of before; what is the same for a while. */
#define DEM_BUFFERS(X)                                                                                                 \
  X(place)                                                                                                             \
  X(motion)                                                                                                            \
  X(turn)                                                                                                              \
  X(start)                                                                                                             \
  X(partner)                                                                                                           \
  X(springs)                                                                                                           \
  X(wall_start)                                                                                                        \
  X(wall_key)                                                                                                          \
  X(wall_springs)                                                                                                      \
  X(last_start)                                                                                                        \
  X(last_partner)                                                                                                      \
  X(last_springs)                                                                                                      \
  X(last_wall_start) X(last_wall_key) X(last_wall_springs) X(walls) X(counts) X(constants) X(frame) X(nothing)
/* Fields of the particles; those that Verlet adds may be missing. */
#define DEM_FIELDS_OF(X)                                                                                               \
  X(built_x)                                                                                                           \
  X(built_y)                                                                                                           \
  X(built_z)                                                                                                           \
  X(near_solids)                                                                                                       \
  X(x)                                                                                                                 \
  X(y)                                                                                                                 \
  X(z)                                                                                                                 \
  X(low_x)                                                                                                             \
  X(low_y)                                                                                                             \
  X(low_z)                                                                                                             \
  X(dx)                                                                                                                \
  X(dy)                                                                                                                \
  X(dz)                                                                                                                \
  X(vx)                                                                                                                \
  X(vy)                                                                                                                \
  X(vz)                                                                                                                \
  X(radius)                                                                                                            \
  X(mass)                                                                                                              \
  X(material)                                                                                                          \
  X(spin_x)                                                                                                            \
  X(spin_y)                                                                                                            \
  X(spin_z)                                                                                                            \
  X(contact_ax) X(contact_ay) X(contact_az) X(turning_x) X(turning_y) X(turning_z) X(contact_row)

static const char *const ADDED[] = {"spin_x",     "spin_y",    "spin_z",    "contact_ax", "contact_ay",
                                    "contact_az", "turning_x", "turning_y", "turning_z",  "contact_row"};
enum { ADDED_COUNT = sizeof ADDED / sizeof *ADDED };

/* Words of the method that are no reactions, in MIRROR_METHOD_WORD and on. */
#define WORDS_FOR(solids) (MIRROR_METHOD_WORD + DEM_WORD_REACTIONS + DEM_REACTION_WORDS * (solids))

struct DemDevice {
  Device *device;
  DeviceProgram *program;
  DEM_KERNELS(DEVICE_KERNEL_MEMBER)
  DEM_BUFFERS(DEVICE_BUFFER_MEMBER)
  MirrorField none; /* for fields that there are not */
#define DEM_MEMBER(name) MirrorField *of_##name;
  DEM_FIELDS_OF(DEM_MEMBER)
#undef DEM_MEMBER
  DemSettings built;                       /* what the program is built for */
  bool built_flat;                         /* and whether all solids are flat and at rest */
  bool changed;                            /* constants have */
  bool here, fetched;                      /* the device has springs; the host has them as well */
  int64_t builds, grains, entries, walled; /* lists: which, of how many grains, their entries, contacts with solids */
  int32_t spring_floats;
  int64_t sent_speeds, sent_accelerations; /* how often these had gone up when they were noted */
  double fastest, fastest_change;          /* m/s, m/s2; at the end of the last step */
  int64_t *host_start;                     /* on their way */
  int64_t *host_cells;
  int32_t *host_index;
  float *host_springs;
  double *host_frame, *sent_frame;
  int64_t frame_doubles;
};

#define LAUNCH(name, items, ...) device_launch(core, d->name, 0, (items), DEM_GROUP, DEVICE_ARGUMENTS(__VA_ARGS__))
#define HERE(name) DEVICE_BUFFER(&d->name)
#define FIELD(name) DEVICE_BUFFER(&d->of_##name->buffer)
#define FIELD3(x, y, z) FIELD(x), FIELD(y), FIELD(z)
#define ROW_ARGUMENTS FIELD3(x, y, z), FIELD3(low_x, low_y, low_z), FIELD(radius), FIELD(mass), FIELD(material)
#define MOVING FIELD3(vx, vy, vz), FIELD3(dx, dy, dz), FIELD3(spin_x, spin_y, spin_z)
#define ACCELERATIONS FIELD3(contact_ax, contact_ay, contact_az), FIELD3(turning_x, turning_y, turning_z)
#define ROWS_HERE HERE(place), HERE(motion), HERE(turn)

const char *dem_device_missing(const State *state) {
  if (state->terrain) return "terrain";
  if (state->samples.count > 0) return "contact by samples";
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    if (solid->shape.kind == SCREE_SHAPE_MESH) return "meshes";
  }
  return NULL;
}

static MirrorField *field_or_none(const State *state, DemDevice *d, const char *name) {
  return particles_field(&state->particles, name) ? mirror_field(state->mirror, &state->particles, name) : &d->none;
}

Status dem_device_open(Core *core, State *state, DemDevice **device) {
  DemDevice *d = NULL;
  TRY(memory_new(core, &d, 1, "grains on a device"));
  *device = d;
  d->device = state->mirror->device;
  d->builds = -1;
  for (int f = 0; f < ADDED_COUNT; f++)
    if (particles_field(&state->particles, ADDED[f])) particles_mirror_field(&state->particles, ADDED[f]);
#define DEM_FIND(name) d->of_##name = field_or_none(state, d, #name);
  DEM_FIELDS_OF(DEM_FIND)
#undef DEM_FIND
  list_maker_lend(state->mirror->lists, &d->place, &d->motion); /* rows are made anew with the lists */
  TRY(device_reserve(core, d->device, &d->none.buffer, 64, 0, "nothing"));
  return device_reserve(core, d->device, &d->nothing, 64, 0, "nothing");
}

static void drop_program(Core *core, DemDevice *d) {
  DEM_KERNELS(DEVICE_KERNEL_FREE)
  device_program_free(core, d->program);
  d->program = NULL;
}

void dem_device_close(Core *core, DemDevice *d) {
  if (!d) return;
  drop_program(core, d);
  DEM_BUFFERS(DEVICE_BUFFER_RELEASE)
  device_release(d->device, &d->none.buffer);
  memory_drop(core, &d->host_start);
  memory_drop(core, &d->host_index);
  memory_drop(core, &d->host_cells);
  memory_drop(core, &d->host_springs);
  memory_drop(core, &d->host_frame);
  memory_drop(core, &d->sent_frame);
  memory_free(&core->memory, d);
}

/* A program for what contacts can do: loops without what they cannot are faster. */
static Status use_program(Core *core, DemDevice *d, const DemSettings *settings, const Solids *solids) {
  char macros[128];
  bool flat = true;
  for (int32_t k = 0; k < solids->count; k++) flat = flat && dem_boundary_is_flat(&solids->items[k]);
  const bool same = d->built.rolling == settings->rolling && d->built.bonds == settings->bonds &&
                    d->built.cap_total == settings->cap_total && d->built_flat == flat;
  if (d->program && same) return SCREE_OK;
  drop_program(core, d);
  snprintf(macros, sizeof macros, "-DDEM_ROLLING=%d -DDEM_BONDS=%d -DDEM_CAP_TOTAL=%d -DDEM_FLAT=%d", settings->rolling,
           settings->bonds, settings->cap_total, flat);
  TRY(device_build(core, d->device, "methods/dem/dem.cl", macros, &d->program));
  DEM_KERNELS(DEVICE_KERNEL_MAKE)
  d->built = *settings;
  d->built_flat = flat;
  d->spring_floats = settings->rolling ? 6 : 3;
  return SCREE_OK;
}

static DemShared shared_of(const DemStep *work) {
  const State *state = work->step->state;
  return (DemShared){
      .count = (int)state->particles.count,
      .verlet = work->settings->verlet,
      .rotation = work->settings->rotation,
      .columns = work->constants->columns,
      .words = mirror_words_begin(state->mirror) + MIRROR_METHOD_WORD,
      .dt = work->dt,
      .gravity = {(float)state->gravity.x, (float)state->gravity.y, (float)state->gravity.z},
      .quantum = (float)work->topology->quantum,
      .per_quantum = work->topology->quantum > 0 ? (float)(1 / work->topology->quantum) : 0,
  };
}

static Status reserve_rows(Core *core, DemDevice *d, int64_t count) {
  const int64_t bytes = (count + 1) * (int64_t)sizeof(float[4]);
  TRY(device_reserve(core, d->device, &d->place, bytes, 0, "rows"));
  TRY(device_reserve(core, d->device, &d->motion, bytes, 0, "rows"));
  return device_reserve(core, d->device, &d->turn, bytes, 0, "rows");
}

Status dem_device_kick(DemDevice *d, DemStep *work) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  TRY(use_program(core, d, work->settings, &state->solids));
  TRY(mirror_words_reserve(core, state->mirror, WORDS_FOR(state->solids.count)));
  TRY(reserve_rows(core, d, state->particles.count));
  const DemShared shared = shared_of(work);
  return LAUNCH(dem_kick, shared.count, DEVICE_VALUE(shared), ROW_ARGUMENTS, MOVING, ACCELERATIONS, ROWS_HERE,
                DEVICE_BUFFER(&state->mirror->words.buffer));
}

/* ---- what a step counts ---- */

static double word_float(const int32_t *words, int word) {
  float value;
  memcpy(&value, &words[word], sizeof value);
  return (double)value;
}

double dem_device_displacement(const int32_t *words) {
  return (double)sqrtf((float)word_float(words, DEM_WORD_LONGEST));
}
double dem_device_stiffest(const int32_t *words) { return word_float(words, DEM_WORD_STIFFEST); }

Status dem_device_longest(Step *step, double *longest) {
  TRY(mirror_words_read(step->core, step->state->mirror));
  *longest = dem_device_displacement(step->state->mirror->words.here + MIRROR_METHOD_WORD);
  return SCREE_OK;
}

void dem_device_react(const int32_t *words, State *state) {
  for (int32_t k = 0; k < state->solids.count; k++)
    for (int c = 0; c < 6; c++) {
      int64_t sum;
      memcpy(&sum, &words[DEM_WORD_REACTIONS + DEM_REACTION_WORDS * k + 2 * c], sizeof sum);
      atomic_fetch_add_explicit(&state->solids.items[k].wrench.part[c], sum, memory_order_relaxed);
    }
}

void dem_device_note_speeds(DemDevice *d, const int32_t *words, double fastest) {
  d->fastest = sqrt(fastest);
  d->fastest_change = sqrt(word_float(words, DEM_WORD_ACCELERATION));
  d->sent_speeds = d->of_vx->sent;
  d->sent_accelerations = d->of_contact_ax->sent;
}

/* Rounded up: floats of the kick are off by a little. */
#define ROUNDED_UP 1.00001
double dem_device_farthest(const DemDevice *d, double dt) {
  if (d->sent_speeds != d->of_vx->sent || d->sent_accelerations != d->of_contact_ax->sent) return INFINITY;
  return ROUNDED_UP * (d->fastest + 0.5 * dt * d->fastest_change) * dt;
}

/* ---- lists ---- */

static Status reserve_pairs(Core *core, DemDevice *d, int64_t grains, int64_t entries) {
  const int64_t four = (int64_t)sizeof(int32_t), springs = d->spring_floats * (int64_t)sizeof(float);
  TRY(device_reserve(core, d->device, &d->start, (grains + 1) * (int64_t)sizeof(int64_t), 0, "lists"));
  TRY(device_reserve(core, d->device, &d->partner, (entries + 1) * four, 0, "lists"));
  return device_reserve(core, d->device, &d->springs, (entries + 1) * springs, 0, "springs");
}

static Status reserve_walls(Core *core, DemDevice *d, int64_t walls) {
  const int64_t four = (int64_t)sizeof(int32_t), springs = d->spring_floats * (int64_t)sizeof(float);
  TRY(device_reserve(core, d->device, &d->walls, (walls + 1) * (int64_t)sizeof(DemWall), 0, "lists"));
  TRY(device_reserve(core, d->device, &d->wall_key, (walls + 1) * four, 0, "lists"));
  return device_reserve(core, d->device, &d->wall_springs, (walls + 1) * springs, 0, "springs");
}

/* What lists of now remember becomes what those of before do: of pairs those alone that have springs. Then there is one
 * set of all springs, and another of some. */
static Status keep_springs(Core *core, DemDevice *d, const State *state) {
  const int64_t four = (int64_t)sizeof(int32_t), springs = d->spring_floats * (int64_t)sizeof(float);
  const int32_t grains = (int32_t)d->grains;
  int64_t kept;
  device_swap(&d->wall_start, &d->last_wall_start);
  device_swap(&d->wall_key, &d->last_wall_key);
  device_swap(&d->wall_springs, &d->last_wall_springs);
  TRY(device_reserve(core, d->device, &d->counts, (d->grains + 1) * four, 0, "lists"));
  TRY(LAUNCH(dem_count_kept, grains, DEVICE_VALUE(grains), HERE(start), HERE(partner), HERE(counts)));
  TRY(list_maker_starts(core, state->mirror->lists, &d->counts, grains, &d->last_start, NULL, 0, &kept));
  TRY(device_reserve(core, d->device, &d->last_partner, (kept + 1) * four, 0, "lists"));
  TRY(device_reserve(core, d->device, &d->last_springs, (kept + 1) * springs, 0, "springs"));
  return LAUNCH(dem_keep, grains, DEVICE_VALUE(grains), HERE(start), HERE(partner), HERE(springs), HERE(last_start),
                HERE(last_partner), HERE(last_springs));
}

static void springs_to_host(float *to, const DemTopology *t, const DemContacts *contacts, int64_t at) {
  for (int c = 0; c < t->spring_size; c++) to[c] = *dem_spring(t, contacts, at, c);
}

static void springs_from_host(const float *from, const DemTopology *t, const DemContacts *contacts, int64_t at) {
  for (int c = 0; c < t->spring_size; c++) *dem_spring(t, contacts, at, c) = from[c];
}

/* Both members of each pair of a topology: counted into start[i + 1], or written where `at` says. */
static void both_members(DemDevice *d, const DemTopology *t, const DemContacts *contacts, int64_t *at, bool write) {
  for (int64_t i = 0; i < t->grains; i++)
    for (int32_t k = contacts->start[i]; k < contacts->start[i + 1]; k++) {
      const int64_t j = contacts->second[k] / DEM_ROW, members[2] = {i, j};
      if (i == j) continue; /* padding */
      for (int m = 0; m < 2; m++) {
        const int32_t place = at[members[m]]++;
        if (!write) continue;
        d->host_index[place] = (int32_t)((uint32_t)members[1 - m] | DEM_HAS_SPRINGS);
        springs_to_host(d->host_springs + d->spring_floats * place, t, contacts, k);
      }
    }
}

/* What the topology on the host remembers goes up, as the lists of now: after a checkpoint was loaded, say. */
static Status send_lists(Core *core, DemDevice *d, const DemTopology *t) {
  const int64_t grains = t->grains, four = (int64_t)sizeof(int32_t), number = (int64_t)sizeof(float);
  const int64_t starts = (grains + 1) * (int64_t)sizeof *d->host_start;
  const int64_t walls = grains > 0 ? t->boundary.count : 0,
                most = grains > 0 ? 2 * (t->pairs.count + t->outer.count) : 0;
  TRY(memory_grow(core, &d->host_start, grains + 1, "lists"));
  TRY(memory_grow(core, &d->host_cells, grains + 1, "lists"));
  TRY(memory_grow(core, &d->host_index, most, "lists"));
  TRY(memory_grow(core, &d->host_springs, d->spring_floats * (most > walls ? most : walls), "springs"));
  memset(d->host_cells, 0, sizeof *d->host_cells * (size_t)(grains + 1));
  if (grains > 0) both_members(d, t, &t->pairs, d->host_cells, false);
  if (grains > 0) both_members(d, t, &t->outer, d->host_cells, false);
  d->host_start[0] = 0;
  for (int64_t i = 0; i < grains; i++) {
    d->host_start[i + 1] = d->host_start[i] + d->host_cells[i];
    d->host_cells[i] = d->host_start[i];
  }
  if (grains > 0) both_members(d, t, &t->pairs, d->host_cells, true);
  if (grains > 0) both_members(d, t, &t->outer, d->host_cells, true);
  d->grains = grains, d->entries = d->host_start[grains], d->walled = walls;
  TRY(reserve_pairs(core, d, grains, d->entries));
  TRY(reserve_walls(core, d, walls));
  TRY(device_reserve(core, d->device, &d->wall_start, starts, 0, "lists"));
  TRY(device_write(core, d->device, &d->start, 0, starts, d->host_start));
  TRY(device_write(core, d->device, &d->partner, 0, d->entries * four, d->host_index));
  TRY(device_write(core, d->device, &d->springs, 0, d->entries * d->spring_floats * number, d->host_springs));
  if (grains == 0) return SCREE_OK;
  for (int64_t k = 0; k < walls; k++) springs_to_host(d->host_springs + d->spring_floats * k, t, &t->boundary, k);
  for (int64_t i = 0; i <= grains; i++) d->host_start[i] = t->boundary.start[i];
  TRY(device_write(core, d->device, &d->wall_start, 0, starts, d->host_start));
  TRY(device_write(core, d->device, &d->wall_key, 0, walls * four, t->boundary.key));
  return device_write(core, d->device, &d->wall_springs, 0, walls * d->spring_floats * number, d->host_springs);
}

static void put(double to[3], Vec3 from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

/* The state's origin and how solids move, where that has changed. */
static Status send_frame(Core *core, DemDevice *d, const State *state) {
  const int64_t doubles = DEM_ORIGIN_DOUBLES + DEM_SOLID_DOUBLES * state->solids.count,
                bytes = doubles * (int64_t)sizeof(double);
  TRY(memory_grow(core, &d->host_frame, doubles, "solids"));
  TRY(memory_grow(core, &d->sent_frame, doubles, "solids"));
  put(d->host_frame, state->origin);
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    double *to = d->host_frame + DEM_ORIGIN_DOUBLES + DEM_SOLID_DOUBLES * k;
    put(to + DEM_SOLID_CENTER, solid->center);
    put(to + DEM_SOLID_VELOCITY, solid->velocity);
    put(to + DEM_SOLID_SPIN, solid->spin);
    to[DEM_SOLID_INVERSE_MASS] = dem_boundary_inverse_mass(solid);
    to[DEM_SOLID_MOVABLE] = solid_is_movable(solid);
    to[DEM_SOLID_FLAT] = dem_boundary_is_flat(solid);
  }
  if (d->frame_doubles == doubles && memcmp(d->host_frame, d->sent_frame, (size_t)bytes) == 0) return SCREE_OK;
  memcpy(d->sent_frame, d->host_frame, (size_t)bytes);
  d->frame_doubles = doubles;
  TRY(device_reserve(core, d->device, &d->frame, bytes, 0, "solids"));
  return device_write(core, d->device, &d->frame, 0, bytes, d->sent_frame);
}

static Status send_constants(Core *core, DemDevice *d, const DemConstantsTable *constants) {
  const int64_t bytes = constants->rows * constants->columns * (int64_t)sizeof *constants->items;
  TRY(device_reserve(core, d->device, &d->constants, bytes, 0, "constants"));
  TRY(device_write(core, d->device, &d->constants, 0, bytes, constants->items));
  d->changed = false;
  return SCREE_OK;
}

/* The lists of the world, in the order of sums, with what the last ones remember. */
static Status list_pairs(Core *core, DemDevice *d, const State *state, const DemListShared *shared) {
  const ListDevice *pairs = &state->mirror->pairs;
  TRY(reserve_pairs(core, d, pairs->count, pairs->entries));
  TRY(device_copy(core, d->device, &pairs->start, &d->start, 0, (pairs->count + 1) * (int64_t)sizeof(int64_t)));
  d->entries = pairs->entries;
  return LAUNCH(dem_list, pairs->count, DEVICE_VALUE(*shared), HERE(start), DEVICE_BUFFER(&pairs->index),
                FIELD(contact_row), HERE(last_start), HERE(last_partner), HERE(last_springs), HERE(partner),
                HERE(springs));
}

#define NEAR_WALLS                                                                                                     \
  FIELD(near_solids), HERE(frame), DEVICE_VALUE(lag), SOLIDS_ARGUMENTS(state->mirror), FIELD3(x, y, z),                \
      FIELD3(low_x, low_y, low_z), FIELD3(dx, dy, dz), FIELD(radius)

/* Contacts with solids that may come about for as long as the lists hold. */
static Status list_walls(Core *core, DemDevice *d, const State *state, const DemListShared *shared,
                         const DemShared *step, DemLagShared lag) {
  TRY(device_reserve(core, d->device, &d->counts, (shared->count + 1) * (int64_t)sizeof(int32_t), 0, "lists"));
  TRY(LAUNCH(dem_count_walls, shared->count, DEVICE_VALUE(*shared), DEVICE_VALUE(*step), NEAR_WALLS, HERE(counts)));
  TRY(list_maker_starts(core, state->mirror->lists, &d->counts, shared->count, &d->wall_start, NULL, 0, &d->walled));
  TRY(reserve_walls(core, d, d->walled));
  return LAUNCH(dem_fill_walls, shared->count, DEVICE_VALUE(*shared), DEVICE_VALUE(*step), NEAR_WALLS,
                FIELD3(built_x, built_y, built_z), HERE(wall_start), FIELD(contact_row), HERE(last_wall_start),
                HERE(last_wall_key), HERE(last_wall_springs), HERE(wall_key), HERE(walls), HERE(wall_springs));
}

static Status renew_lists(DemDevice *d, DemStep *work, const DemShared *step, DemLagShared lag) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  const int64_t grains = state->particles.count;
  const DemListShared shared = {.margin = 2 * (double)state->contacts.skin,
                                .count = (int)grains,
                                .last_count = (int)d->grains,
                                .window = (int)dem_window_for(grains),
                                .words = 2 * (int)state->contacts.near_words,
                                .solids = state->solids.count,
                                .materials = state->materials.count};
  TRY(keep_springs(core, d, state));
  TRY(list_pairs(core, d, state, &shared));
  TRY(list_walls(core, d, state, &shared, step, lag));
  TRY(LAUNCH(dem_number, grains, DEVICE_VALUE(shared.count), FIELD(contact_row)));
  d->grains = grains;
  d->here = true;
  d->builds = state->contacts.builds;
  return SCREE_OK;
}

Status dem_device_forces(DemDevice *d, DemStep *work) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  Mirror *mirror = state->mirror;
  const DemLagShared lag = {dem_boundary_lag(work, false), dem_boundary_lag(work, true)};
  const bool renew = !d->here || d->builds != state->contacts.builds || d->grains != state->particles.count;
  work->rows.grains = state->particles.count;
  if (renew) dem_choose_quantum(work);
  const DemShared shared = shared_of(work);
  TRY(solids_mirror_send(core, d->device, &mirror->solids, &state->solids));
  TRY(send_frame(core, d, state));
  if (renew) {
    if (!d->here) TRY(send_lists(core, d, work->topology));
    TRY(renew_lists(d, work, &shared, lag));
    TRY(LAUNCH(dem_rows, shared.count, DEVICE_VALUE(shared), ROW_ARGUMENTS, MOVING, ROWS_HERE));
  }
  if (renew || d->changed) TRY(send_constants(core, d, work->constants));
  d->fetched = false;
  return LAUNCH(dem_forces, shared.count, DEVICE_VALUE(shared), HERE(constants), ROWS_HERE, HERE(start), HERE(partner),
                HERE(springs), HERE(wall_start), HERE(walls), HERE(wall_springs), HERE(frame), DEVICE_VALUE(lag),
                SOLIDS_ARGUMENTS(mirror), FIELD3(x, y, z), FIELD3(low_x, low_y, low_z), MOVING, ACCELERATIONS,
                DEVICE_BUFFER(&mirror->words.buffer));
}

/* ---- to the host ---- */

static bool is_of(const DemDevice *d, int64_t i, int64_t k, int64_t window, bool outer) {
  const uint32_t entry = (uint32_t)d->host_index[k];
  const int64_t j = entry & ~DEM_HAS_SPRINGS;
  return (entry & DEM_HAS_SPRINGS) && j > i && (j / window != i / window) == outer;
}

/* Pairs with springs, each at its first grain. */
static Status fetch_pairs(Core *core, const DemDevice *d, DemTopology *t, DemContacts *contacts, bool outer) {
  int64_t count, fullest;
  TRY(memory_new(core, &contacts->start, t->grains + 1, "contacts"));
  for (int64_t i = 0; i < t->grains; i++)
    for (int64_t k = d->host_start[i]; k < d->host_start[i + 1]; k++)
      contacts->start[i + 1] += is_of(d, i, k, t->window, outer);
  TRY(dem_starts(core, t, contacts->start, &count, &fullest));
  TRY(dem_contacts_room(core, contacts, &contacts->second, count, t->spring_size));
  for (int64_t i = 0; i < t->grains; i++) {
    int64_t at = contacts->start[i];
    for (int64_t k = d->host_start[i]; k < d->host_start[i + 1]; k++) {
      if (!is_of(d, i, k, t->window, outer)) continue;
      contacts->second[at] = (int32_t)(DEM_ROW * ((uint32_t)d->host_index[k] & ~DEM_HAS_SPRINGS));
      springs_from_host(d->host_springs + d->spring_floats * k, t, contacts, at++);
    }
    for (; at < contacts->start[i + 1]; at++) contacts->second[at] = (int32_t)(DEM_ROW * i); /* padding */
  }
  return SCREE_OK;
}

static Status fetch_walls(Core *core, const DemDevice *d, DemTopology *t) {
  const int64_t four = (int64_t)sizeof(int32_t), number = (int64_t)sizeof(float);
  DemContacts *walls = &t->boundary;
  if (d->walled > INT32_MAX) return fail(core, SCREE_NO_MEMORY, "dem: too many contacts with solids");
  TRY(memory_new(core, &walls->start, t->grains + 1, "contacts"));
  TRY(dem_contacts_room(core, walls, &walls->key, dem_padded(d->walled), t->spring_size));
  TRY(device_read(core, d->device, &d->wall_start, 0, (t->grains + 1) * (int64_t)sizeof *d->host_start, d->host_start));
  for (int64_t i = 0; i < t->grains; i++) walls->start[i] = (int32_t)d->host_start[i];
  walls->start[t->grains] = (int32_t)walls->count;
  for (int64_t k = d->walled; k < walls->count; k++) walls->key[k] = DEM_NOBODY;
  TRY(device_read(core, d->device, &d->wall_key, 0, d->walled * four, walls->key));
  TRY(device_read(core, d->device, &d->wall_springs, 0, d->walled * d->spring_floats * number, d->host_springs));
  for (int64_t k = 0; k < d->walled; k++) springs_from_host(d->host_springs + d->spring_floats * k, t, walls, k);
  return SCREE_OK;
}

static Status fetch_topology(Core *core, DemDevice *d, DemTopology *t) {
  const int64_t four = (int64_t)sizeof(int32_t), number = (int64_t)sizeof(float);
  const int64_t most = d->entries > d->walled ? d->entries : d->walled;
  TRY(memory_grow(core, &d->host_start, d->grains + 1, "lists"));
  TRY(memory_grow(core, &d->host_index, d->entries, "lists"));
  TRY(memory_grow(core, &d->host_springs, d->spring_floats * most, "springs"));
  TRY(device_read(core, d->device, &d->start, 0, (d->grains + 1) * (int64_t)sizeof *d->host_start, d->host_start));
  TRY(device_read(core, d->device, &d->partner, 0, d->entries * four, d->host_index));
  TRY(device_read(core, d->device, &d->springs, 0, d->entries * d->spring_floats * number, d->host_springs));
  TRY(fetch_pairs(core, d, t, &t->pairs, false));
  TRY(fetch_pairs(core, d, t, &t->outer, true));
  return fetch_walls(core, d, t);
}

Status dem_device_fetch(Core *core, DemDevice *d, DemTopology *topology) {
  if (!d->here || d->fetched) return SCREE_OK;
  DemTopology fresh = {.builds = -1,
                       .grains = d->grains,
                       .spring_size = d->spring_floats,
                       .quantum = topology->quantum,
                       .window = dem_window_for(d->grains)};
  fresh.windows = (fresh.grains + fresh.window - 1) / fresh.window;
  Status status = fetch_topology(core, d, &fresh);
  dem_topology_destroy(core, status == SCREE_OK ? topology : &fresh);
  if (status == SCREE_OK) *topology = fresh;
  d->fetched = status == SCREE_OK;
  return status;
}

void dem_device_forget(DemDevice *d) { d->here = d->fetched = false; }
void dem_device_change(DemDevice *d) { d->changed = true; }
