#include "methods/sph/sph_device.h"

#include <string.h>

#include "core/parallel.h"
#include "methods/sph/density_law.h"
#include "methods/sph/solver.h"
#include "methods/sph/sph_walls_device.h"
#include "neighbors/lists_device.h"

/* Iterations between two looks at whether it is done, once there were as many as in the step before. */
enum { LOOK_EVERY = 2 };

#define SPH_DEVICE_KERNELS(X)                                                                                          \
  X(sph_places, "device pairs")                                                                                        \
  X(sph_take, "device pairs")                                                                                          \
  X(sph_number_rows, "device pairs")                                                                                   \
  X(sph_room, "device pairs")                                                                                          \
  X(sph_row_lengths, "device pairs")                                                                                   \
  X(sph_row_entries, "device pairs")                                                                                   \
  X(sph_pairs, "device pairs")                                                                                         \
  X(sph_weigh, "device forces")                                                                                        \
  X(sph_compressed, "device forces")                                                                                   \
  X(sph_compressed_mean, "device forces")                                                                              \
  X(sph_decide, "device pressure")                                                                                     \
  X(sph_velocity, "device pressure")                                                                                   \
  X(sph_bound, "device pressure")                                                                                      \
  X(sph_stress, "device pressure")                                                                                     \
  X(sph_shift, "device forces")                                                                                        \
  X(sph_air, "device forces")                                                                                          \
  X(sph_start, "device forces")                                                                                        \
  X(sph_collide, "device forces")                                                                                      \
  X(sph_begin, "device forces")                                                                                        \
  X(sph_loosen, "device forces")                                                                                       \
  X(sph_balance, "device forces")                                                                                      \
  X(sph_loosened, "device forces")                                                                                     \
  X(sph_finish, "device forces")
/* Rows of a float4 for every parcel. */
#define SPH_DEVICE_ROWS(X)                                                                                             \
  X(place) X(sum) X(gains) X(limits) X(own) X(start) X(wall_gain) X(velocity) X(shift) X(stream)
/* Others. */
#define SPH_DEVICE_BUFFERS(X)                                                                                          \
  X(found)                                                                                                             \
  X(stress)                                                                                                            \
  X(density)                                                                                                           \
  X(row)                                                                                                               \
  X(base)                                                                                                              \
  X(head)                                                                                                              \
  X(tail)                                                                                                              \
  X(who)                                                                                                               \
  X(asked) X(counts) X(entries) X(words) X(hidden_start) X(hidden) X(walls) X(materials) X(sums) X(control) X(residual)
#define SPH_DEVICE_FIELDS(X)                                                                                           \
  X(x)                                                                                                                 \
  X(y)                                                                                                                 \
  X(z)                                                                                                                 \
  X(low_x)                                                                                                             \
  X(low_y)                                                                                                             \
  X(low_z) X(dx) X(dy) X(dz) X(vx) X(vy) X(vz) X(mass) X(id) X(material) X(sph_pressure) X(sph_shear)

struct SphDevice {
  Device *device;
  DeviceProgram *program;
  SPH_DEVICE_KERNELS(DEVICE_KERNEL_MEMBER)
  SPH_DEVICE_ROWS(DEVICE_BUFFER_MEMBER)
  SPH_DEVICE_BUFFERS(DEVICE_BUFFER_MEMBER)
  int64_t builds;                 /* that lists and rows are of; -1: none */
  int32_t *who_here, *asked_here; /* parcels that may touch walls; whose places the host needs */
  int64_t rows, asked_count;      /* how many */
  int64_t room;                   /* for contacts, where the device finds them */
  bool slots_known;               /* where they begin */
  SphWallsDevice *finder;         /* of walls */
  bool grips;                     /* friction of walls is there; otherwise the host has it */
  bool finds;                     /* walls there; otherwise the host does */
  bool loaded;                    /* solids know what the step pushes them with */
  int64_t sent_speeds;            /* how often these had gone up when the fastest was noted */
  double fastest;                 /* square, at the end of the last step */
  int32_t *words_here;            /* what comes down */
  float (*walls_here)[4];         /* what goes up */
  float materials_sent[MATERIALS_MAX][4];
  bool materials_known;
  int64_t expected; /* iterations of the last step */
};

/* What a step has at hand. */
typedef struct Launcher {
  Core *core;
  Sph *sph;
  SphDevice *d;
  SphWork *work;
  SphShared step;
  double fastest; /* square */
  double control[SPH_CONTROLS];
  SPH_DEVICE_FIELDS(DEVICE_BUFFER_POINTER)
} Launcher;

#define LAUNCH(l, name, items, ...)                                                                                    \
  device_launch((l)->core, (l)->d->name, 0, (items), SPH_GROUP, DEVICE_ARGUMENTS(__VA_ARGS__))
#define STEP DEVICE_VALUE(l->step)
#define HERE(name) DEVICE_BUFFER(&l->d->name)
#define FIELD(name) DEVICE_BUFFER(l->name)
#define FIELD3(x, y, z) FIELD(x), FIELD(y), FIELD(z)
#define SLOTS HERE(base), HERE(found), HERE(head), HERE(tail)

/* ---- opening and closing ---- */

static const char *missing(const void *data, const State *state) {
  (void)data;
  return state->terrain ? "terrain" : NULL;
}

static Status open_device(Core *core, State *state, void *data) {
  Sph *sph = data;
  TRY(memory_new(core, &sph->device, 1, "parcels on a device"));
  SphDevice *d = sph->device;
  d->device = state->mirror->device;
  d->builds = -1;
  particles_mirror_field(&state->particles, "sph_pressure");
  particles_mirror_field(&state->particles, "sph_shear");
  d->grips = sph_walls_are_there(state);
  if (d->grips) particles_mirror_field(&state->particles, "sph_grip");
  TRY(sph_walls_device_open(core, state, &sph->rays, &d->finder));
  TRY(device_build(core, d->device, "methods/sph/sph.cl", "", &d->program));
  SPH_DEVICE_KERNELS(DEVICE_KERNEL_MAKE)
  return SCREE_OK;
}

void sph_device_close(Core *core, void *data) {
  SphDevice *d = ((Sph *)data)->device;
  if (!d) return;
  sph_walls_device_close(core, d->finder);
  SPH_DEVICE_ROWS(DEVICE_BUFFER_RELEASE)
  SPH_DEVICE_BUFFERS(DEVICE_BUFFER_RELEASE)
  SPH_DEVICE_KERNELS(DEVICE_KERNEL_FREE)
  device_program_free(core, d->program);
  memory_drop(core, &d->who_here);
  memory_drop(core, &d->asked_here);
  memory_drop(core, &d->words_here);
  memory_drop(core, &d->walls_here);
  memory_drop(core, &((Sph *)data)->device);
}

/* All that outlives a step is in fields: stress and friction of walls; the mirror knows of them, or the host has them.
 */
static Status fetch(Core *core, void *data) {
  (void)core, (void)data;
  return SCREE_OK;
}

static void forget(void *data) { ((Sph *)data)->device->builds = -1; }

static void find_fields(Launcher *l, const State *state) {
#define SPH_FIND(name) l->name = &mirror_field(state->mirror, &state->particles, #name)->buffer;
  SPH_DEVICE_FIELDS(SPH_FIND)
#undef SPH_FIND
}

/* ---- when lists are new ---- */

static Status reserve(const Launcher *l, DeviceBuffer *buffer, int64_t bytes) {
  return device_reserve(l->core, l->d->device, buffer, bytes > 64 ? bytes : 64, 0, "parcels");
}

static Status send(const Launcher *l, DeviceBuffer *buffer, const void *from, int64_t bytes) {
  TRY(reserve(l, buffer, bytes));
  return device_write(l->core, l->d->device, buffer, 0, bytes, from);
}

/* Who is far from walls holds on to none. Mostly he did not before: then it is enough to look. */
static void let_go(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Launcher *l = context;
  SphGrip(*grip)[SPH_GRIPS] = l->work->fields.grip;
  for (int64_t i = b; i < e; i++)
    if (grip[i][0].face != 0 && !sph_walls_possible(l->work->step->state, i)) memset(grip[i], 0, sizeof *grip);
}

/* Parcels that may touch walls. */
static Status list_rows(Launcher *l) {
  SphDevice *d = l->d;
  const State *state = l->work->step->state;
  const Contacts *contacts = &state->contacts;
  const int64_t count = l->work->count, most = contacts->solids.list.entries + contacts->samples.list.entries;
  parallel_for(l->core, 0, count, SPH_CHUNK, let_go, l);
  TRY(memory_grow(l->core, &d->who_here, (most < count ? most : count) + 1, "parcels near walls"));
  d->rows = 0;
  for (int64_t i = 0; i < count; i++)
    if (sph_walls_possible(state, i)) d->who_here[d->rows++] = (int32_t)i;
  return send(l, &d->who, d->who_here, d->rows * (int64_t)sizeof *d->who_here);
}

/* Parcels near solids that may hide neighbours. */
static Status list_shielded(const Launcher *l, int32_t **who, int32_t *some) {
  const SphDevice *d = l->d;
  const State *state = l->work->step->state;
  TRY(scratch_take(l->core, l->work->step->scratch, who, d->rows, "parcels near walls"));
  *some = 0;
  for (int64_t r = 0; r < d->rows && state->contacts.solids.list.start; r++)
    if (sph_shield_possible(state, d->who_here[r])) (*who)[(*some)++] = d->who_here[r];
  return SCREE_OK;
}

/* The host looks for what they hide: of the lists their rows come down, and only those. */
static Status fetch_shielded(const Launcher *l, const int32_t *who, int32_t some) {
  SphDevice *d = l->d;
  State *state = l->work->step->state;
  NeighborList *list = &state->contacts.particles.list;
  const ListDevice *pairs = &state->mirror->pairs;
  const int64_t count = l->work->count, four = (int64_t)sizeof(int32_t);
  int32_t *lengths = NULL;
  TRY(scratch_take(l->core, l->work->step->scratch, &lengths, some, "parcels near walls"));
  TRY(memory_grow(l->core, &list->start, count + 1, "neighbour list"));
  TRY(send(l, &d->asked, who, some * four));
  TRY(reserve(l, &d->counts, (some + 1) * four));
  TRY(LAUNCH(l, sph_row_lengths, some, DEVICE_VALUE(some), HERE(asked), DEVICE_BUFFER(&pairs->start), HERE(counts)));
  TRY(device_read(l->core, d->device, &d->counts, 0, some * four, lengths));
  memset(list->start, 0, sizeof *list->start * (size_t)(count + 1));
  for (int32_t k = 0; k < some; k++) list->start[who[k] + 1] = lengths[k];
  for (int64_t i = 0; i < count; i++) list->start[i + 1] += list->start[i];
  list->count = count;
  list->entries = list->start[count];
  TRY(memory_grow(l->core, &list->index, list->entries + 1, "neighbour list"));
  TRY(reserve(l, &d->entries, list->entries * four));
  TRY(list_maker_starts(l->core, state->mirror->lists, &d->counts, some, &d->base, NULL, 0, &list->entries));
  TRY(LAUNCH(l, sph_row_entries, some, DEVICE_VALUE(some), HERE(asked), DEVICE_BUFFER(&pairs->start),
             DEVICE_BUFFER(&pairs->index), HERE(base), HERE(entries)));
  return device_read(l->core, d->device, &d->entries, 0, list->entries * four, list->index);
}

/* Parcels whose places the host needs to find walls: those near them, and neighbours that a solid may hide. */
static Status list_asked(const Launcher *l, const int32_t *shielded, int32_t some) {
  SphDevice *d = l->d;
  const NeighborList *list = &l->work->step->state->contacts.particles.list;
  const int64_t count = l->work->count;
  uint8_t *marks = NULL;
  d->asked_count = 0;
  TRY(memory_grow(l->core, &d->asked_here, (some > 0 ? count : d->rows) + 1, "parcels near walls"));
  if (some == 0)
    for (; d->asked_count < d->rows; d->asked_count++) d->asked_here[d->asked_count] = d->who_here[d->asked_count];
  else {
    TRY(scratch_take(l->core, l->work->step->scratch, &marks, count, "parcels near walls"));
    memset(marks, 0, (size_t)count);
    for (int64_t r = 0; r < d->rows; r++) marks[d->who_here[r]] = 1;
    for (int32_t s = 0; s < some; s++)
      for (int64_t k = list->start[shielded[s]]; k < list->start[shielded[s] + 1]; k++) marks[list->index[k]] = 1;
    for (int64_t i = 0; i < count; i++)
      if (marks[i]) d->asked_here[d->asked_count++] = (int32_t)i;
  }
  return send(l, &d->asked, d->asked_here, d->asked_count * (int64_t)sizeof *d->asked_here);
}

static Status number_rows(const Launcher *l) {
  SphDevice *d = l->d;
  const int64_t bytes = l->work->count * (int64_t)sizeof(int32_t);
  const int32_t rows = (int32_t)d->rows;
  TRY(reserve(l, &d->row, bytes));
  TRY(device_clear(l->core, d->device, &d->row, bytes));
  return LAUNCH(l, sph_number_rows, rows, DEVICE_VALUE(rows), HERE(who), HERE(row));
}

/* Where the slots of SPH_ABREAST parcels begin: room for the longest list among them. What the host waits for besides
 * comes down with their number. */
static Status lay_out_slots(const Launcher *l, DeviceRead with) {
  SphDevice *d = l->d;
  const Mirror *mirror = l->work->step->state->mirror;
  const int64_t slices = (l->work->count + SPH_ABREAST - 1) / SPH_ABREAST;
  int64_t slots = 0;
  TRY(reserve(l, &d->counts, (slices + 1) * (int64_t)sizeof(int32_t)));
  TRY(LAUNCH(l, sph_room, slices, DEVICE_VALUE(l->step.count), DEVICE_BUFFER(&mirror->pairs.start), HERE(counts)));
  TRY(list_maker_starts(l->core, mirror->lists, &d->counts, slices, &d->base, &with, 1, &slots));
  TRY(reserve(l, &d->head, slots * (int64_t)sizeof(uint32_t[2])));
  d->slots_known = true;
  return reserve(l, &d->tail, slots * (int64_t)sizeof(int16_t));
}

static Status reserve_parcels(const Launcher *l) {
  SphDevice *d = l->d;
  const int64_t count = l->work->count, four = (int64_t)sizeof(int32_t);
#define SPH_TAKE(name) TRY(reserve(l, &d->name, count * 4 * four));
  SPH_DEVICE_ROWS(SPH_TAKE)
#undef SPH_TAKE
  TRY(reserve(l, &d->stress, count * 8 * four));
  TRY(reserve(l, &d->found, count * four));
  TRY(reserve(l, &d->density, count * four));
  TRY(reserve(l, &d->control, SPH_CONTROLS * (int64_t)sizeof(double)));
  TRY(reserve(l, &d->sums, parallel_chunks(0, count, SPH_CHUNK) * (int64_t)sizeof(double)));
  return reserve(l, &d->residual, parallel_chunks(0, count, SPH_GROUP) * (int64_t)sizeof(float[RESIDUALS]));
}

static SphWallBuffers wall_buffers(SphDevice *d) {
  return (SphWallBuffers){&d->walls, &d->row, &d->hidden_start, &d->hidden};
}

static Status follow_there(Launcher *l) {
  SphDevice *d = l->d;
  const SphWallBuffers to = wall_buffers(d);
  int64_t rows, room;
  TRY(reserve_parcels(l));
  TRY(sph_walls_device_number(d->finder, l->work, &to));
  TRY(lay_out_slots(l, sph_walls_device_wanted(d->finder)));
  TRY(sph_walls_device_numbered(d->finder, l->work, &to, &rows, &room));
  d->rows = rows, d->room = room;
  d->asked_count = 0;
  d->builds = l->work->step->state->contacts.builds;
  return SCREE_OK;
}

/* What follows from lists when they were made anew. */
static Status follow_lists(Launcher *l) {
  SphDevice *d = l->d;
  const Contacts *contacts = &l->work->step->state->contacts;
  int32_t *shielded = NULL, some = 0;
  if (d->builds == contacts->builds) return SCREE_OK;
  if (d->finds) return follow_there(l);
  int mark = scratch_mark(l->work->step->scratch);
  TRY(reserve_parcels(l));
  TRY(list_rows(l));
  TRY(list_shielded(l, &shielded, &some));
  if (contacts->elsewhere && some > 0) TRY(fetch_shielded(l, shielded, some));
  TRY(list_asked(l, shielded, some));
  TRY(number_rows(l));
  d->slots_known = false;
  scratch_release(l->core, l->work->step->scratch, mark);
  d->builds = contacts->builds;
  return SCREE_OK;
}

/* ---- pairs and walls ---- */

/* Whether the largest speed is that of the end of the last step, or nobody asks for it. */
static bool fastest_is_known(Launcher *l) {
  const State *state = l->work->step->state;
  const SphDevice *d = l->d;
  l->fastest = d->fastest;
  if (!(l->work->settings->drag > 0)) return true;
  return d->sent_speeds > 0 && d->sent_speeds == mirror_field(state->mirror, &state->particles, "vx")->sent;
}

/* Places of the parcels that the host asks for, and the largest speed, come down. */
static Status read_places(Launcher *l) {
  SphDevice *d = l->d;
  Particles *p = &l->work->step->state->particles;
  const int32_t count = l->step.count, asked = (int32_t)d->asked_count;
  const int64_t words = SPH_WORDS + SPH_PLACE_FLOATS * d->asked_count, bytes = words * (int64_t)sizeof(int32_t);
  float square;
  TRY(reserve(l, &d->words, bytes));
  TRY(device_clear(l->core, d->device, &d->words, SPH_WORDS * (int64_t)sizeof(int32_t)));
  TRY(LAUNCH(l, sph_places, count, DEVICE_VALUE(count), FIELD3(x, y, z), FIELD(mass), FIELD3(vx, vy, vz), HERE(place),
             HERE(words)));
  if (d->finds && fastest_is_known(l)) return SCREE_OK;
  TRY(LAUNCH(l, sph_take, asked, DEVICE_VALUE(asked), HERE(asked), FIELD3(x, y, z), FIELD3(low_x, low_y, low_z),
             FIELD3(vx, vy, vz), HERE(words)));
  TRY(memory_grow(l->core, &d->words_here, words, "places"));
  const DeviceRead read = {&d->words, 0, bytes, d->words_here};
  TRY(d->slots_known ? device_read_many(l->core, d->device, &read, 1) : lay_out_slots(l, read));
  memcpy(&square, &d->words_here[SPH_FASTEST], sizeof square);
  l->fastest = (double)square;
  const float *at = (const float *)(d->words_here + SPH_WORDS);
  for (int64_t k = 0; k < d->asked_count; k++, at += SPH_PLACE_FLOATS) {
    const int32_t i = d->asked_here[k];
    p->x[i] = at[0], p->y[i] = at[1], p->z[i] = at[2];
    p->low_x[i] = at[3], p->low_y[i] = at[4], p->low_z[i] = at[5];
    p->vx[i] = at[6], p->vy[i] = at[7], p->vz[i] = at[8];
  }
  return SCREE_OK;
}

/* The host has found the pairs that solids hide. */
static Status hide_here(const Launcher *l, int32_t *shielded) {
  SphDevice *d = l->d;
  const SphPairs *pairs = &l->work->pairs;
  TRY(sph_shield_find(l->work));
  *shielded = pairs->hidden_start != NULL;
  TRY(send(l, &d->hidden_start, pairs->hidden_start, *shielded ? d->rows * (int64_t)sizeof *pairs->hidden_start : 0));
  return send(l, &d->hidden, pairs->hidden, *shielded ? pairs->hidden_bytes : 0);
}

static Status hide_there(const Launcher *l) {
  const SphWallBuffers to = wall_buffers(l->d);
  TRY(reserve(l, &l->d->hidden, 0));
  return sph_walls_device_hide(l->d->finder, l->work, &to);
}

static Status find_pairs(const Launcher *l) {
  SphDevice *d = l->d;
  const ListDevice *pairs_there = &l->work->step->state->mirror->pairs;
  int32_t shielded = 1;
  TRY(d->finds ? hide_there(l) : hide_here(l, &shielded));
  return LAUNCH(l, sph_pairs, l->step.count, STEP, DEVICE_VALUE(shielded), HERE(place), FIELD(id),
                DEVICE_BUFFER(&pairs_there->start), DEVICE_BUFFER(&pairs_there->index), HERE(base), HERE(row),
                HERE(hidden_start), HERE(hidden), HERE(head), HERE(tail), HERE(found), HERE(density), HERE(sum));
}

static void set_row(float row[4], const float from[3], float fourth) {
  memcpy(row, from, 3 * sizeof *from);
  row[3] = fourth;
}

/* Contacts, and rows of the parcels that they are of, as sph_shared.h has them. */
static Status send_walls(Launcher *l) {
  SphDevice *d = l->d;
  SphWork *work = l->work;
  const int64_t count = work->walls.count, all = SPH_WALL_KINDS * count + d->rows;
  if (all > INT32_MAX) return fail(l->core, SCREE_NO_MEMORY, "too many boundary contacts: %lld", (long long)count);
  l->step.walls = (int)count;
  l->step.rows = (int)d->rows;
  TRY(memory_grow(l->core, &d->walls_here, all + 1, "boundary contacts"));
  for (int64_t r = 0; r < d->rows; r++) {
    float *row = d->walls_here[SPH_WALL_KINDS * count + r];
    memcpy(row, work->walls.start + r, 2 * sizeof *work->walls.start); /* its own, and the next one's */
    row[2] = sph_walls_twice(work, r);
    row[3] = 0;
  }
  sph_walls_split(work);
  for (int64_t k = 0; k < count; k++) {
    const SphContact *contact = &work->walls.contacts[k];
    const float share[3] = {contact->share, contact->friction, contact->grip_gain};
    set_row(d->walls_here[SPH_WALL_NORMAL * count + k], contact->normal, contact->slope);
    set_row(d->walls_here[SPH_WALL_SHARE * count + k], share, contact->mobility);
    set_row(d->walls_here[SPH_WALL_VELOCITY * count + k], contact->velocity, 0);
    set_row(d->walls_here[SPH_WALL_FORCE * count + k], contact->grip, 0);
  }
  return send(l, &d->walls, d->walls_here, all * (int64_t)sizeof *d->walls_here);
}

static Status find_walls_here(Launcher *l) {
  Step *step = l->work->step;
  TRY(scratch_take(l->core, step->scratch, &l->work->walls.start, l->d->rows + 1, "sph"));
  TRY(sph_weigh_samples(l->core, step->state, l->sph));
  TRY(sph_walls_find(l->work, &l->sph->rays, l->sph->sample_volume));
  return send_walls(l);
}

static Status find_walls_there(Launcher *l) {
  const SphWallBuffers to = wall_buffers(l->d);
  l->step.walls = (int)l->d->room;
  l->step.rows = (int)l->d->rows;
  TRY(sph_walls_device_find(l->d->finder, l->work, &to));
  return sph_walls_device_split(l->d->finder, l->work, &to);
}

/* Pairs and walls at the places of now, densities and diagonals, and the mean compression or misfit. Where the host
 * looks for walls it does so while the device looks for pairs. */
static Status look(Launcher *l, bool seat) {
  const int32_t misfit = seat;
  Step *step = l->work->step;
  double began = profile_begin();
  TRY(read_places(l));
  TRY(find_pairs(l));
  profile_end(step->profile, "pairs", began);
  began = profile_begin();
  TRY(l->d->finds ? find_walls_there(l) : find_walls_here(l));
  profile_end(step->profile, "walls", began);
  TRY(LAUNCH(l, sph_weigh, l->step.count, STEP, HERE(place), HERE(sum), HERE(walls), HERE(row), HERE(density),
             HERE(gains)));
  TRY(LAUNCH(l, sph_compressed, parallel_chunks(0, l->step.count, SPH_CHUNK), STEP, DEVICE_VALUE(misfit), HERE(density),
             HERE(sums)));
  return LAUNCH(l, sph_compressed_mean, 1, STEP, HERE(sums), HERE(control));
}

/* ---- the iteration ---- */

static Status read_control(Launcher *l) {
  return device_read(l->core, l->d->device, &l->d->control, 0, sizeof l->control, l->control);
}

/* Forces of the contacts, as the last pass has left them, come down. */
static Status read_forces(const Launcher *l) {
  const int64_t count = l->work->walls.count, size = (int64_t)sizeof *l->d->walls_here;
  float(*rows)[4] = l->d->walls_here;
  TRY(device_read(l->core, l->d->device, &l->d->walls, SPH_WALL_FORCE * count * size, count * size, rows));
  for (int64_t k = 0; k < count; k++) {
    SphContact *contact = &l->work->walls.contacts[k];
    memcpy(contact->grip, rows[k], sizeof contact->grip);
    contact->normal_force = rows[k][3];
  }
  return SCREE_OK;
}

/* Solids that sand can move follow the forces of the pass before. */
static Status follow(const Launcher *l) {
  const int64_t count = l->work->walls.count, size = (int64_t)sizeof *l->d->walls_here;
  if (l->work->walls.moving_count == 0) return SCREE_OK;
  if (l->d->finds) {
    const SphWallBuffers to = wall_buffers(l->d);
    return sph_walls_device_follow(l->d->finder, l->work, &to);
  }
  TRY(read_forces(l));
  sph_walls_follow(l->work);
  for (int64_t k = 0; k < count; k++) set_row(l->d->walls_here[k], l->work->walls.contacts[k].velocity, 0);
  return device_write(l->core, l->d->device, &l->d->walls, SPH_WALL_VELOCITY * count * size, count * size,
                      l->d->walls_here);
}

static Status find_velocity(const Launcher *l, bool iterating, const DeviceBuffer *to) {
  const int32_t waits = iterating;
  return LAUNCH(l, sph_velocity, l->step.count, STEP, DEVICE_VALUE(waits), HERE(control), SLOTS, HERE(sum), HERE(gains),
                HERE(start), HERE(stress), HERE(wall_gain), DEVICE_BUFFER(to));
}

static Status pass(const Launcher *l, int64_t iteration, const SphStopShared *stop) {
  if (iteration % BOUND_EVERY == 0)
    TRY(LAUNCH(l, sph_bound, l->step.count, STEP, HERE(control), SLOTS, HERE(limits), HERE(stress), HERE(own)));
  TRY(find_velocity(l, true, &l->d->velocity));
  TRY(follow(l));
  TRY(LAUNCH(l, sph_stress, l->step.count, STEP, HERE(control), SLOTS, HERE(sum), HERE(gains), HERE(velocity),
             HERE(walls), HERE(row), HERE(stress), HERE(own), HERE(wall_gain), HERE(residual)));
  return LAUNCH(l, sph_decide, SPH_GROUP, STEP, DEVICE_VALUE(*stop), HERE(residual), HERE(control));
}

/* The device knows by itself when it is done, and leaves the passes that are queued behind that alone. So the host may
 * look late: it makes no difference to the bits. */
static Status iterate(Launcher *l, double residual) {
  const SphSettings *settings = l->work->settings;
  const int64_t most = settings->most_iterations;
  const SphStopShared stop = {.most = residual,
                              .shear = settings->shear,
                              .flowing = FLOWING_SHARE,
                              .least = LEAST_ITERATIONS,
                              .chunks = (int)parallel_chunks(0, l->step.count, SPH_GROUP)};
  int64_t queued = 0, until = l->d->expected > LEAST_ITERATIONS ? l->d->expected : LEAST_ITERATIONS;
  if (l->work->walls.moving_count > 0) until = 1;
  for (bool done = false; !done && queued < most; until = queued + (l->work->walls.moving_count > 0 ? 1 : LOOK_EVERY)) {
    for (; queued < until && queued < most; queued++) TRY(pass(l, queued, &stop));
    TRY(read_control(l));
    done = l->control[SPH_DONE] != 0;
  }
  l->d->expected = (int64_t)l->control[SPH_ITERATIONS];
  return find_velocity(l, false, &l->d->velocity);
}

/* ---- a step ---- */

static Status start_velocity(const Launcher *l) {
  const SphAirShared air = sph_air_of(l->work, l->fastest);
  const float share = 2 * l->work->control.collision / SPH_GRADIENT_STEPS;
  if (air.drag > 0)
    TRY(LAUNCH(l, sph_air, l->step.count, STEP, DEVICE_VALUE(air), SLOTS, HERE(sum), HERE(walls), HERE(row),
               FIELD3(vx, vy, vz), HERE(stream)));
  TRY(LAUNCH(l, sph_start, l->step.count, STEP, DEVICE_VALUE(air), HERE(stream), FIELD3(vx, vy, vz), FIELD(mass),
             HERE(velocity), HERE(start)));
  if (!(l->work->control.collision > 0)) return SCREE_OK;
  return LAUNCH(l, sph_collide, l->step.count, STEP, DEVICE_VALUE(share), SLOTS, HERE(velocity), HERE(start));
}

static Status send_materials(const Launcher *l) {
  SphDevice *d = l->d;
  float rows[MATERIALS_MAX][4] = {{0}};
  for (int k = 0; k < MATERIALS_MAX; k++) {
    rows[k][0] = l->work->materials[k].friction;
    rows[k][1] = l->work->materials[k].cohesion;
  }
  if (d->materials_known && memcmp(rows, d->materials_sent, sizeof rows) == 0) return SCREE_OK;
  memcpy(d->materials_sent, rows, sizeof rows);
  d->materials_known = true;
  return send(l, &d->materials, rows, sizeof rows);
}

/* Sand that is too dense at the beginning is moved apart, or seated (see loosen of step.c). */
static Status loosen(Launcher *l, bool *dense) {
  State *state = l->work->step->state;
  const float most = LOOSEN_MOST * l->work->control.spacing;
  const SphLoosening loosening = sph_loosening(l->work);
  for (int k = 0; k < loosening.passes; k++) {
    int mark = scratch_mark(l->work->step->scratch);
    TRY(look(l, loosening.seat));
    TRY(read_control(l));
    *dense = l->control[SPH_FOUND] > loosening.above;
    if (*dense) {
      l->work->walls.moving_count = 0;
      TRY(LAUNCH(l, sph_loosen, l->step.count, STEP, DEVICE_VALUE(loosening.gains), HERE(density), HERE(walls),
                 HERE(row), HERE(gains), HERE(limits), HERE(stress), HERE(own), HERE(start), HERE(wall_gain)));
      TRY(find_velocity(l, false, &l->d->velocity));
      TRY(LAUNCH(l, sph_balance, l->step.count, STEP, HERE(velocity), HERE(start)));
      TRY(iterate(l, loosening.most));
      TRY(LAUNCH(l, sph_loosened, l->step.count, STEP, DEVICE_VALUE(most), HERE(velocity), FIELD3(x, y, z)));
      mirror_wrote_there(state->mirror, &state->particles, SET_X);
    }
    scratch_release(l->core, l->work->step->scratch, mark);
    if (!*dense) break;
  }
  return SCREE_OK;
}

static Status prepare_iteration(const Launcher *l) {
  TRY(LAUNCH(l, sph_shift, l->step.count, STEP, HERE(density), HERE(gains), HERE(walls), HERE(row), HERE(stress),
             HERE(start), HERE(wall_gain)));
  TRY(find_velocity(l, false, &l->d->shift));
  TRY(start_velocity(l));
  TRY(send_materials(l));
  return LAUNCH(l, sph_begin, l->step.count, STEP, HERE(place), HERE(density), HERE(sum), FIELD(material),
                HERE(materials), FIELD(sph_pressure), FIELD(sph_shear), HERE(walls), HERE(row), HERE(gains),
                HERE(limits), HERE(stress), HERE(own), HERE(wall_gain));
}

/* Solids that forces move are told before they move: all others when the step ends. */
static Status keep_there(const Launcher *l) {
  const SphWallBuffers to = wall_buffers(l->d);
  State *state = l->work->step->state;
  TRY(sph_walls_device_end(l->d->finder, l->work, &to));
  l->d->loaded = false;
  for (int32_t k = 0; k < state->solids.count; k++) l->d->loaded |= solid_is_movable(&state->solids.items[k]);
  if (!l->d->loaded) return SCREE_OK;
  TRY(mirror_words_read(l->core, state->mirror));
  sph_walls_device_load(state->mirror->words.here + MIRROR_METHOD_WORD, state);
  return SCREE_OK;
}

static Status keep_here(const Launcher *l) {
  State *state = l->work->step->state;
  TRY(read_forces(l));
  sph_walls_keep(l->work);
  sph_walls_load(l->work);
  if (!l->d->grips) return SCREE_OK;
  return device_write(l->core, l->d->device, &mirror_field(state->mirror, &state->particles, "sph_grip")->buffer, 0,
                      l->work->count * (int64_t)sizeof *l->work->fields.grip, l->work->fields.grip);
}

static Status solve(Launcher *l) {
  SphWork *work = l->work;
  SphStatistics *statistics = &l->sph->statistics;
  bool dense = false;
  TRY(follow_lists(l));
  work->walls.who = l->d->who_here;
  work->walls.rows = l->d->rows;
  if (work->step->state->step < LOOSEN_STEPS) TRY(loosen(l, &dense));
  TRY(look(l, false));
  TRY(prepare_iteration(l));
  double began = profile_begin();
  TRY(iterate(l, STEP_SHARE * work->settings->compression));
  profile_end(work->step->profile, "pressure", began);
  statistics->iterations = (int64_t)l->control[SPH_ITERATIONS];
  statistics->compression = l->control[RESIDUAL_COMPRESSION];
  statistics->expansion = l->control[RESIDUAL_EXPANSION];
  statistics->shear = sqrt(l->control[RESIDUAL_SHEAR]);
  statistics->compression_before = l->control[SPH_FOUND];
  sph_account(l->sph, work, dense);
  const float kept = work->control.kept, held = work->control.held;
  const int settles = work->control.settles;
  TRY(LAUNCH(l, sph_finish, l->step.count, STEP, DEVICE_VALUE(kept), DEVICE_VALUE(held), DEVICE_VALUE(settles),
             HERE(velocity), HERE(shift), HERE(limits), HERE(stress), HERE(own), FIELD3(vx, vy, vz), FIELD3(dx, dy, dz),
             FIELD(sph_pressure), FIELD(sph_shear)));
  return l->d->finds ? keep_there(l) : keep_here(l);
}

static SphShared shared_step(const Sph *sph, const SphWork *work) {
  const SphControl *control = &work->control;
  return (SphShared){.count = (int)work->count,
                     .memory = work->settings->memory,
                     .dt = control->dt,
                     .spacing = control->spacing,
                     .volume = control->volume,
                     .pace = control->pace,
                     .slack = control->slack,
                     .down = {control->down[0], control->down[1], control->down[2]},
                     .collision = control->collision,
                     .gradient_step = work->pairs.gradient_step,
                     .lattice = (float)sph->lattice_square / (control->spacing * control->spacing),
                     .layer_length = (float)sph->layer.length,
                     .layer_sum = (float)sph->layer.sum,
                     .layer_ratio = (float)(sph->layer.length / sph->layer.sum)};
}

static Status step_on_device(void *data, Step *step) {
  Sph *sph = data;
  if (step->state->particles.count == 0) return SCREE_OK;
  SphWork work = sph_set_up(sph, step);
  Launcher launcher = {.core = step->core, .sph = sph, .d = sph->device, .work = &work};
  launcher.step = shared_step(sph, &work);
  find_fields(&launcher, step->state);
  if (sph->device->finds)
    TRY(mirror_words_reserve(step->core, step->state->mirror, sph_walls_device_words(step->state)));
  else if (sph->device->grips)
    TRY(mirror_fetch(step->core, step->state->mirror, &step->state->particles, SET_PARTICLES));
  int mark = scratch_mark(step->scratch);
  Status status = solve(&launcher);
  scratch_release(step->core, step->scratch, mark);
  return status;
}

/* Who finds walls is settled for as long as lists hold. */
static ListsHere lists(const void *data, const State *state) {
  SphDevice *d = ((const Sph *)data)->device;
  d->finds = d->grips && sph_walls_are_there(state);
  return d->finds ? LISTS_NOT_HERE : LISTS_SOLIDS_HERE;
}

static void counted(void *data, Step *step, const int32_t *words, double fastest) {
  SphDevice *d = ((Sph *)data)->device;
  State *state = step->state;
  if (d->finds && !d->loaded) sph_walls_device_load(words, state);
  d->fastest = fastest;
  d->sent_speeds = mirror_field(state->mirror, &state->particles, "vx")->sent;
}

const MethodDevice SPH_DEVICE = {
    .missing = missing,
    .open = open_device,
    .step = step_on_device,
    .lists = lists,
    .counted = counted,
    .fetch = fetch,
    .forget = forget,
    .close = sph_device_close,
};
