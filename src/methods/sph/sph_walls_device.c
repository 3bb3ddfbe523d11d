#define LANE_SCALAR
#include "methods/sph/sph_walls_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/distance_grid.h"
#include "methods/sph/spline.h"
#include "methods/sph/walls_shared.h"

#define SPH_WALL_KERNELS(X)                                                                                            \
  X(sph_wall_rows, "device walls")                                                                                     \
  X(sph_hide, "device pairs")                                                                                          \
  X(sph_wall_faces, "device walls")                                                                                    \
  X(sph_wall_rays, "device walls")                                                                                     \
  X(sph_wall_moved, "device walls")                                                                                    \
  X(sph_wall_told, "device walls")                                                                                     \
  X(sph_wall_forces, "device walls")                                                                                   \
  X(sph_wall_end, "device walls")
#define SPH_WALL_BUFFERS(X)                                                                                            \
  X(who)                                                                                                               \
  X(begin) X(shielded) X(point) X(side) X(moved) X(told) X(forces) X(looking) X(counters) X(solids) X(sand) X(rays)
/* Groups that look along rays; each goes on until no parcel is left. */
enum { LOOKING_GROUPS = 2048, LOOKING_GROUPS_PROCESSOR = 16, SMALL_GROUP = 64 };

struct SphWallsDevice {
  Device *device;
  DeviceProgram *program;
  SPH_WALL_KERNELS(DEVICE_KERNEL_MEMBER)
  SPH_WALL_BUFFERS(DEVICE_BUFFER_MEMBER)
  SphSolidShared *solids_here, *solids_sent;
  SphMovedShared *moved_here;
  SphToldShared *told_here;
  float (*forces_here)[4];
  int32_t solid_count;
  float sand_sent[MATERIALS_MAX];
  bool sand_known;
  int64_t rows, shielded_count, room;
  int32_t counted[SPH_COUNTERS]; /* as they came down */
};

/* ---- what the device can do ---- */

static bool can_be_met(const State *state, const Solid *solid) {
  const Shape *shape = &solid->shape;
  if (solid_is_sampled(solid) || shape->kind == SCREE_SHAPE_HEIGHTFIELD) return false;
  return shape->kind != SCREE_SHAPE_MESH ||
         (shape->grid && !(SPLINE_SUPPORT * 2 * state->radius > (double)shape->grid->band));
}

bool sph_walls_are_there(const State *state) {
  for (int32_t k = 0; k < state->solids.count; k++)
    if (!can_be_met(state, &state->solids.items[k])) return false;
  return state->samples.count == 0 && !state->terrain;
}

static Status send_rays(Core *core, SphWallsDevice *d, const SphRays *rays) {
  const int64_t bytes = VIEW_RAYS * (int64_t)sizeof *rays->x;
  TRY(device_reserve(core, d->device, &d->rays, 3 * bytes, 0, "rays"));
  TRY(device_write(core, d->device, &d->rays, 0, bytes, rays->x));
  TRY(device_write(core, d->device, &d->rays, bytes, bytes, rays->y));
  return device_write(core, d->device, &d->rays, 2 * bytes, bytes, rays->z);
}

Status sph_walls_device_open(Core *core, const State *state, const SphRays *rays, SphWallsDevice **walls) {
  SphWallsDevice *d = NULL;
  TRY(memory_new(core, &d, 1, "walls on a device"));
  *walls = d;
  d->device = state->mirror->device;
  TRY(device_build(core, d->device, "methods/sph/sph_walls.cl", "", &d->program));
  SPH_WALL_KERNELS(DEVICE_KERNEL_MAKE)
  return send_rays(core, d, rays);
}

void sph_walls_device_close(Core *core, SphWallsDevice *d) {
  if (!d) return;
  SPH_WALL_BUFFERS(DEVICE_BUFFER_RELEASE)
  SPH_WALL_KERNELS(DEVICE_KERNEL_FREE)
  device_program_free(core, d->program);
  memory_drop(core, &d->solids_here);
  memory_drop(core, &d->solids_sent);
  memory_drop(core, &d->moved_here);
  memory_drop(core, &d->told_here);
  memory_drop(core, &d->forces_here);
  memory_free(&core->memory, d);
}

/* ---- what goes up ---- */

static SphSolidShared share_solid(const Solid *solid) {
  const Mat3 turn = mat3_from_quat(solid->rotation);
  SphSolidShared to = {.velocity = {solid->velocity.x, solid->velocity.y, solid->velocity.z},
                       .spin = {solid->spin.x, solid->spin.y, solid->spin.z},
                       .friction_static = solid->friction_static,
                       .friction_kinetic = solid->friction_kinetic,
                       .shields = sph_may_shield(solid),
                       .moves = sph_can_move(solid)};
  for (int k = 0; k < 9; k++) to.turn[k] = turn.m[k / 3][k % 3];
  if (solid->shape.kind != SCREE_SHAPE_MESH) return to;
  for (int k = 0; k < 3; k++) to.low[k] = solid->shape.grid->low_f[k];
  to.inverse_cell = solid->shape.grid->inverse_cell;
  return to;
}

/* Where they have changed. */
static Status send_solids(SphWallsDevice *d, const SphWork *work) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  const int64_t count = state->solids.count, bytes = count * (int64_t)sizeof *d->solids_here;
  TRY(solids_mirror_send(core, d->device, &state->mirror->solids, &state->solids));
  TRY(memory_grow(core, &d->solids_here, count + 1, "solids"));
  TRY(memory_grow(core, &d->solids_sent, count + 1, "solids"));
  TRY(device_reserve(core, d->device, &d->solids, bytes + 1, 0, "solids"));
  for (int32_t k = 0; k < count; k++) d->solids_here[k] = share_solid(&state->solids.items[k]);
  if (d->solid_count == count && memcmp(d->solids_here, d->solids_sent, (size_t)bytes) == 0) return SCREE_OK;
  memcpy(d->solids_sent, d->solids_here, (size_t)bytes);
  d->solid_count = (int32_t)count;
  return device_write(core, d->device, &d->solids, 0, bytes, d->solids_sent);
}

static Status send_sand(SphWallsDevice *d, const SphWork *work) {
  Core *core = work->step->core;
  float sand[MATERIALS_MAX];
  for (int k = 0; k < MATERIALS_MAX; k++) sand[k] = work->materials[k].wall_friction;
  if (d->sand_known && memcmp(sand, d->sand_sent, sizeof sand) == 0) return SCREE_OK;
  memcpy(d->sand_sent, sand, sizeof sand);
  d->sand_known = true;
  TRY(device_reserve(core, d->device, &d->sand, sizeof sand, 0, "solids"));
  return device_write(core, d->device, &d->sand, 0, sizeof sand, d->sand_sent);
}

/* ---- launches ---- */

static SphWallShared shared_of(const SphWallsDevice *d, const SphWork *work) {
  const State *state = work->step->state;
  return (SphWallShared){.origin = {state->origin.x, state->origin.y, state->origin.z},
                         .spacing = (double)work->control.spacing,
                         .slips = SLIPPING * state->radius,
                         .count = (int)work->count,
                         .rows = (int)d->rows,
                         .words = 2 * (int)state->contacts.near_words,
                         .walls = (int)d->room,
                         .memory = work->settings->memory,
                         .dt = work->control.dt};
}

#define LAUNCH(name, items, group, ...)                                                                                \
  device_launch(work->step->core, d->name, 0, (items), (group), DEVICE_ARGUMENTS(__VA_ARGS__))
#define HERE(name) DEVICE_BUFFER(&d->name)
#define FIELD(name) DEVICE_BUFFER(&mirror_field(mirror, particles, #name)->buffer)
#define FIELD3(x, y, z) FIELD(x), FIELD(y), FIELD(z)
#define WALL_SOLIDS FIELD(near_solids), HERE(solids), SOLIDS_ARGUMENTS(mirror)
#define PARCELS                                                                                                        \
  HERE(who), HERE(begin), FIELD3(x, y, z), FIELD3(low_x, low_y, low_z), FIELD3(vx, vy, vz), FIELD(mass),               \
      FIELD(material), HERE(sand), FIELD(sph_grip)
#define CONTACTS DEVICE_BUFFER(to->rows), HERE(point), HERE(side)

static Status reserve(SphWallsDevice *d, const SphWork *work, DeviceBuffer *buffer, int64_t bytes) {
  return device_reserve(work->step->core, d->device, buffer, bytes > 64 ? bytes : 64, 0, "parcels near walls");
}

Status sph_walls_device_number(SphWallsDevice *d, const SphWork *work, const SphWallBuffers *to) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  const Particles *particles = &state->particles;
  Mirror *mirror = state->mirror;
  const int64_t count = work->count, four = (int64_t)sizeof(int32_t), eight = (int64_t)sizeof(int64_t);
  TRY(send_solids(d, work));
  TRY(reserve(d, work, to->row, count * four));
  TRY(reserve(d, work, to->hidden_start, count * eight));
  TRY(reserve(d, work, &d->who, count * four));
  TRY(reserve(d, work, &d->begin, count * four));
  TRY(reserve(d, work, &d->shielded, count * four));
  TRY(reserve(d, work, &d->looking, count * four));
  TRY(reserve(d, work, &d->counters, (int64_t)sizeof d->counted));
  TRY(device_clear(core, d->device, &d->counters, (int64_t)sizeof d->counted));
  const SphWallShared shared = shared_of(d, work);
  return LAUNCH(sph_wall_rows, count, SMALL_GROUP, DEVICE_VALUE(shared), WALL_SOLIDS,
                DEVICE_BUFFER(&mirror->pairs.start), DEVICE_BUFFER(to->row), HERE(who), HERE(begin), HERE(shielded),
                DEVICE_BUFFER(to->hidden_start), FIELD(sph_grip), HERE(counters));
}

DeviceRead sph_walls_device_wanted(SphWallsDevice *d) {
  return (DeviceRead){&d->counters, 0, (int64_t)sizeof d->counted, d->counted};
}

Status sph_walls_device_numbered(SphWallsDevice *d, const SphWork *work, const SphWallBuffers *to, int64_t *rows,
                                 int64_t *room) {
  Core *core = work->step->core;
  const int64_t four = (int64_t)sizeof(int32_t);
  *rows = d->rows = d->counted[SPH_NEAR_ROWS];
  *room = d->room = d->counted[SPH_WALL_ROOM];
  d->shielded_count = d->counted[SPH_SHIELDED];
  const int64_t all = SPH_WALL_KINDS * d->room + d->rows;
  if (d->room < 0 || all > INT32_MAX)
    return fail(core, SCREE_NO_MEMORY, "too many boundary contacts: %lld", (long long)d->room);
  if (d->shielded_count > 0)
    TRY(reserve(d, work, to->hidden, work->step->state->mirror->pairs.entries / 8 + work->count + 1));
  TRY(reserve(d, work, &d->point, 3 * d->room * (int64_t)sizeof(double)));
  TRY(reserve(d, work, &d->side, 2 * d->room * four));
  return reserve(d, work, to->rows, all * 4 * four);
}

Status sph_walls_device_hide(SphWallsDevice *d, const SphWork *work, const SphWallBuffers *to) {
  const Particles *particles = &work->step->state->particles;
  Mirror *mirror = work->step->state->mirror;
  const int32_t some = (int32_t)d->shielded_count;
  TRY(send_solids(d, work));
  if (some == 0) return SCREE_OK;
  const SphWallShared shared = shared_of(d, work);
  return LAUNCH(sph_hide, some * (int64_t)SPH_HIDE_GROUP, SPH_HIDE_GROUP, DEVICE_VALUE(shared), DEVICE_VALUE(some),
                WALL_SOLIDS, FIELD3(x, y, z), FIELD(id), DEVICE_BUFFER(&mirror->pairs.start),
                DEVICE_BUFFER(&mirror->pairs.index), HERE(shielded), DEVICE_BUFFER(to->hidden));
}

Status sph_walls_device_find(SphWallsDevice *d, const SphWork *work, const SphWallBuffers *to) {
  const Particles *particles = &work->step->state->particles;
  Mirror *mirror = work->step->state->mirror;
  const int64_t groups = device_is_processor(d->device) ? LOOKING_GROUPS_PROCESSOR : LOOKING_GROUPS;
  if (d->rows == 0) return SCREE_OK;
  TRY(send_sand(d, work));
  TRY(device_clear(work->step->core, d->device, &d->counters, 2 * (int64_t)sizeof(int32_t)));
  const SphWallShared shared = shared_of(d, work);
  TRY(LAUNCH(sph_wall_faces, d->rows, SMALL_GROUP, DEVICE_VALUE(shared), WALL_SOLIDS, PARCELS, CONTACTS, HERE(looking),
             HERE(counters)));
  return LAUNCH(sph_wall_rays, (groups < d->rows ? groups : d->rows) * VIEW_RAYS, VIEW_RAYS, DEVICE_VALUE(shared),
                WALL_SOLIDS, PARCELS, CONTACTS, HERE(rays), HERE(looking), HERE(counters));
}

/* ---- solids that sand moves ---- */

static int by_parcel(const void *a, const void *b) {
  const SphMovedShared *x = a, *y = b;
  if (x->parcel != y->parcel) return x->parcel < y->parcel ? -1 : 1;
  return x->contact < y->contact ? -1 : x->contact > y->contact;
}

static Status tell(SphWallsDevice *d, const SphWork *work, const SphWallBuffers *to) {
  Core *core = work->step->core;
  const int32_t count = (int32_t)work->walls.count;
  const int64_t bytes = count * (int64_t)sizeof *d->told_here;
  const SphWallShared shared = shared_of(d, work);
  for (int32_t n = 0; n < count; n++) {
    const SphContact *contact = &work->walls.contacts[n];
    SphToldShared *told = &d->told_here[n];
    memcpy(told->velocity, contact->velocity, sizeof told->velocity);
    told->mobility = contact->mobility;
    told->grip_gain = contact->grip_gain;
  }
  TRY(device_write(core, d->device, &d->told, 0, bytes, d->told_here));
  return LAUNCH(sph_wall_told, count, SMALL_GROUP, DEVICE_VALUE(shared), DEVICE_VALUE(count), HERE(told),
                DEVICE_BUFFER(to->rows));
}

/* In the order of the parcels, as the host would have found them. */
static Status take_moved(SphWallsDevice *d, SphWork *work, int32_t count) {
  Core *core = work->step->core;
  SphWalls *walls = &work->walls;
  int32_t *moving = NULL;
  TRY(memory_grow(core, &d->told_here, count, "moved walls"));
  TRY(memory_grow(core, &d->forces_here, count, "moved walls"));
  TRY(reserve(d, work, &d->told, count * (int64_t)sizeof *d->told_here));
  TRY(reserve(d, work, &d->forces, count * (int64_t)sizeof *d->forces_here));
  TRY(scratch_take(core, work->step->scratch, &walls->contacts, count, "moved walls"));
  TRY(scratch_take(core, work->step->scratch, &moving, count, "moved walls"));
  qsort(d->moved_here, (size_t)count, sizeof *d->moved_here, by_parcel);
  for (int32_t n = 0; n < count; n++) {
    const SphMovedShared *from = &d->moved_here[n];
    SphContact *contact = &walls->contacts[n];
    *contact = (SphContact){
        .particle = from->parcel, .solid = from->solid, .slope = from->slope, .part = from->part, .mass = from->mass};
    memcpy(contact->normal, from->normal, sizeof contact->normal);
    memcpy(contact->point, from->point, sizeof contact->point);
    const Vec3 at = solid_velocity_at(&work->step->state->solids.items[from->solid],
                                      vec3(from->point[0], from->point[1], from->point[2]));
    for (int c = 0; c < 3; c++) contact->velocity[c] = (float)vec3_get(at, c);
    d->told_here[n].contact = from->contact;
    moving[n] = n;
  }
  walls->moving = moving;
  walls->count = walls->moving_count = count;
  return SCREE_OK;
}

Status sph_walls_device_split(SphWallsDevice *d, SphWork *work, const SphWallBuffers *to) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  const Particles *particles = &state->particles;
  Mirror *mirror = state->mirror;
  int32_t count = 0;
  bool some = false;
  work->walls.count = work->walls.moving_count = 0;
  for (int32_t k = 0; k < state->solids.count; k++) some |= sph_can_move(&state->solids.items[k]);
  if (!some || d->rows == 0) return SCREE_OK;
  TRY(reserve(d, work, &d->moved, d->room * (int64_t)sizeof *d->moved_here));
  const SphWallShared shared = shared_of(d, work);
  TRY(LAUNCH(sph_wall_moved, d->rows, SMALL_GROUP, DEVICE_VALUE(shared), HERE(solids), HERE(who), FIELD(mass), CONTACTS,
             HERE(moved), HERE(counters)));
  TRY(device_read(core, d->device, &d->counters, SPH_MOVED * (int64_t)sizeof count, sizeof count, &count));
  if (count == 0) return SCREE_OK;
  TRY(memory_grow(core, &d->moved_here, count, "moved walls"));
  TRY(device_read(core, d->device, &d->moved, 0, count * (int64_t)sizeof *d->moved_here, d->moved_here));
  TRY(take_moved(d, work, count));
  sph_walls_split(work);
  return tell(d, work, to);
}

Status sph_walls_device_follow(SphWallsDevice *d, SphWork *work, const SphWallBuffers *to) {
  Core *core = work->step->core;
  const int32_t count = (int32_t)work->walls.count;
  const SphWallShared shared = shared_of(d, work);
  TRY(LAUNCH(sph_wall_forces, count, SMALL_GROUP, DEVICE_VALUE(shared), DEVICE_VALUE(count), HERE(told),
             DEVICE_BUFFER(to->rows), HERE(forces)));
  TRY(device_read(core, d->device, &d->forces, 0, count * (int64_t)sizeof *d->forces_here, d->forces_here));
  for (int32_t n = 0; n < count; n++) {
    SphContact *contact = &work->walls.contacts[n];
    memcpy(contact->grip, d->forces_here[n], sizeof contact->grip);
    contact->normal_force = d->forces_here[n][3];
  }
  sph_walls_follow(work);
  return tell(d, work, to);
}

Status sph_walls_device_end(SphWallsDevice *d, const SphWork *work, const SphWallBuffers *to) {
  const State *state = work->step->state;
  const Particles *particles = &state->particles;
  Mirror *mirror = state->mirror;
  const int32_t held = work->control.held > 0, begin = mirror_words_begin(mirror) + MIRROR_METHOD_WORD;
  if (d->rows == 0) return SCREE_OK;
  const SphWallShared shared = shared_of(d, work);
  return LAUNCH(sph_wall_end, d->rows, SMALL_GROUP, DEVICE_VALUE(shared), DEVICE_VALUE(held), DEVICE_VALUE(begin),
                SOLIDS_ARGUMENTS(mirror), HERE(who), CONTACTS, FIELD(sph_grip), DEVICE_BUFFER(&mirror->words.buffer));
}

int32_t sph_walls_device_words(const State *state) {
  return MIRROR_METHOD_WORD + SPH_REACTION_WORDS * state->solids.count;
}

void sph_walls_device_load(const int32_t *words, State *state) {
  for (int32_t k = 0; k < state->solids.count; k++)
    for (int c = 0; c < 6; c++) {
      int64_t sum;
      memcpy(&sum, &words[SPH_REACTION_WORDS * k + 2 * c], sizeof sum);
      atomic_fetch_add_explicit(&state->solids.items[k].wrench.part[c], sum, memory_order_relaxed);
    }
}
