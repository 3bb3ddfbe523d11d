/* Phases of a step on a device: particles live there, and what a phase on the host reads of them comes down first. */
#include <math.h>
#include <string.h>

#include "neighbors/scan_device.h"
#include "world/world.h"
#include "world/world_shared.h"

enum { GROUP = 64 };

#define WORLD_DEVICE_KERNELS(X)                                                                                        \
  X(world_leave, "device neighbors")                                                                                   \
  X(world_list_asked, "device neighbors")                                                                              \
  X(world_answer, "device neighbors")                                                                                  \
  X(world_count_near, "device neighbors")                                                                              \
  X(world_list_near, "device neighbors")                                                                               \
  X(world_move, "device commit")
#define WORLD_DEVICE_BUFFERS(X) X(near) X(before) X(words) X(list) X(places) X(answers)

struct WorldDevice {
  DeviceProgram *program;
  ScanDevice scan;
#define WORLD_MEMBER(name, phase) DeviceKernel *name;
  WORLD_DEVICE_KERNELS(WORLD_MEMBER)
#undef WORLD_MEMBER
#define WORLD_MEMBER(name) DeviceBuffer name;
  WORLD_DEVICE_BUFFERS(WORLD_MEMBER)
#undef WORLD_MEMBER
  int64_t near_count; /* particles near any solid */
  int64_t near_known; /* so many particles the device knows this of */
  int32_t *who;       /* on their way */
  float *places_down;
  AnswerShared *answers_up;
};

#define LAUNCH(name, items, ...)                                                                                       \
  device_launch(&world->core, world->on_device->name, 0, (items), GROUP, (DeviceArgument[]){__VA_ARGS__},              \
                (int)(sizeof((DeviceArgument[]){__VA_ARGS__}) / sizeof(DeviceArgument)))
#define HERE(name) DEVICE_BUFFER(&world->on_device->name)
#define FIELD(name) DEVICE_BUFFER(&mirror_field(world->state.mirror, &world->state.particles, #name)->buffer)
#define FIELD3(x, y, z) FIELD(x), FIELD(y), FIELD(z)

/* ---- where particles are ---- */

Status world_to_host(ScreeWorld *world, StateSet reads) {
  if (!world->on_device) return SCREE_OK;
  return mirror_fetch(&world->core, world->state.mirror, &world->state.particles, reads);
}

static Status to_device(ScreeWorld *world, StateSet reads) {
  return mirror_send(&world->core, world->state.mirror, &world->state.particles, reads);
}

Status world_method_to_host(ScreeWorld *world) {
  TRY(world_to_host(world, SET_PARTICLES));
  return world->on_device ? world->method->device->fetch(&world->core, world->method_data) : SCREE_OK;
}

void world_wrote_on_host(ScreeWorld *world, StateSet writes) {
  if (world->on_device) mirror_wrote_here(world->state.mirror, &world->state.particles, writes);
}

void world_loaded_on_host(ScreeWorld *world) {
  if (!world->on_device) return;
  world_wrote_on_host(world, SET_PARTICLES);
  world->method->device->forget(world->method_data);
}

void world_leave_device(ScreeWorld *world) {
  WorldDevice *d = world->on_device;
  if (!d) return;
#define WORLD_DROP(name) device_release(world->device, &d->name);
  WORLD_DEVICE_BUFFERS(WORLD_DROP)
#undef WORLD_DROP
#define WORLD_FREE(name, phase) device_kernel_free(&world->core, d->name);
  WORLD_DEVICE_KERNELS(WORLD_FREE)
#undef WORLD_FREE
  scan_close(&world->core, &d->scan);
  device_program_free(&world->core, d->program);
  memory_drop(&world->core, &d->who);
  memory_drop(&world->core, &d->places_down);
  memory_drop(&world->core, &d->answers_up);
  memory_drop(&world->core, &world->on_device);
}

Status world_enter_device(ScreeWorld *world) {
  Core *core = &world->core;
  TRY(mirror_create(core, world->device, &world->state.mirror));
  TRY(memory_new(core, &world->on_device, 1, "a world on a device"));
  WorldDevice *d = world->on_device;
  TRY(device_build(core, world->device, "world/world.cl", "", &d->program));
#define WORLD_MAKE(name, phase) TRY(device_kernel(core, d->program, #name, phase, &d->name));
  WORLD_DEVICE_KERNELS(WORLD_MAKE)
#undef WORLD_MAKE
  TRY(scan_open(core, world->device, d->program, &d->scan));
  TRY(device_reserve(core, world->device, &d->words, WORLD_WORDS * (int64_t)sizeof(int32_t), 0, "counters"));
  return world->method->device->open(core, &world->state, world->method_data);
}

Status world_check_device(ScreeWorld *world) {
  if (!world->on_device) return SCREE_OK;
  const char *missing = world->method->device->missing(world->method_data, &world->state);
  if (!missing) return SCREE_OK;
  TRY(world_method_to_host(world));
  log_line(&world->core, SCREE_LOG_WARNING, "warning: %s goes on on the CPU: it has no device form for %s",
           world->definition.scene.method.name, missing);
  world->method->device->close(&world->core, world->method_data);
  world_leave_device(world);
  mirror_destroy(&world->core, world->state.mirror);
  world->state.mirror = NULL;
  return world_note_device(world, missing);
}

static Status run_on_host(ScreeWorld *world, const Phase *phase, Step *step) {
  const DevicePhase *known = phase->device;
  if (known && known->apart(world)) return phase->run(world, step);
  TRY(world_to_host(world, known ? known->reads : phase->reads));
  TRY(phase->run(world, step));
  world_wrote_on_host(world, known ? known->writes : phase->writes);
  return SCREE_OK;
}

Status world_run_on_device(ScreeWorld *world, const Phase *phase, Step *step) {
  const DevicePhase *there = phase->device;
  if (!there || !there->run) return run_on_host(world, phase, step);
  TRY(to_device(world, there->reads));
  TRY(there->run(world, step));
  mirror_wrote_there(world->state.mirror, &world->state.particles, there->writes);
  return SCREE_OK;
}

/* ---- prepare and method ---- */

static Status prepare(ScreeWorld *world, Step *step) {
  return world->method->device->prepare(world->method_data, step);
}

static Status method_step(ScreeWorld *world, Step *step) {
  return world->method->device->step(world->method_data, step);
}

/* ---- neighbors ---- */

/* Room for as many as there are particles. */
static Status reserve(ScreeWorld *world) {
  WorldDevice *d = world->on_device;
  const int64_t count = world->state.particles.count;
  TRY(device_reserve(&world->core, world->device, &d->near, count + 1, 0, "near solids"));
  return device_reserve(&world->core, world->device, &d->before, (count + 1) * (int64_t)sizeof(int32_t), 0,
                        "near solids");
}

/* So many of a list and of what is known of each come down. */
static Status read_list(ScreeWorld *world, int64_t count, int64_t floats) {
  WorldDevice *d = world->on_device;
  TRY(memory_grow(&world->core, &d->who, count, "near solids"));
  TRY(memory_grow(&world->core, &d->places_down, count * floats, "near solids"));
  TRY(device_read(&world->core, world->device, &d->list, 0, count * (int64_t)sizeof *d->who, d->who));
  return device_read(&world->core, world->device, &d->places, 0, count * floats * (int64_t)sizeof *d->places_down,
                     d->places_down);
}

static Status reserve_list(ScreeWorld *world, int64_t count, int64_t floats) {
  WorldDevice *d = world->on_device;
  TRY(device_reserve(&world->core, world->device, &d->list, (count + 1) * (int64_t)sizeof(int32_t), 0, "near solids"));
  return device_reserve(&world->core, world->device, &d->places, (count + 1) * floats * (int64_t)sizeof(float), 0,
                        "near solids");
}

/* The host asks the solids, and what it learns goes up. */
static Status ask(ScreeWorld *world, const NearSolids *near, int64_t count) {
  WorldDevice *d = world->on_device;
  Particles *p = &world->state.particles;
  const int32_t all = (int32_t)p->count, asked = (int32_t)count;
  if (count == 0) return SCREE_OK;
  TRY(reserve_list(world, count, 4));
  TRY(scan_run(&world->core, &d->scan, &d->before, p->count + 1));
  TRY(LAUNCH(world_list_asked, p->count, DEVICE_VALUE(all), HERE(before), FIELD3(built_x, built_y, built_z), HERE(list),
             HERE(places)));
  TRY(read_list(world, count, 4));
  TRY(memory_grow(&world->core, &d->answers_up, count, "near solids"));
  for (int64_t k = 0; k < count; k++) {
    const float *at = d->places_down + 4 * k;
    p->built_x[d->who[k]] = at[0], p->built_y[d->who[k]] = at[1], p->built_z[d->who[k]] = at[2];
    d->near_count -= world_is_near(near, d->who[k]);
  }
  world_ask_near(&world->core, near, d->who, count);
  for (int64_t k = 0; k < count; k++) {
    const int32_t i = d->who[k];
    d->answers_up[k] = (AnswerShared){.index = i, .near = world_is_near(near, i), .clear = p->clear[i]};
    d->near_count += d->answers_up[k].near;
  }
  const int64_t bytes = count * (int64_t)sizeof *d->answers_up;
  TRY(device_reserve(&world->core, world->device, &d->answers, bytes, 0, "near solids"));
  TRY(device_write(&world->core, world->device, &d->answers, 0, bytes, d->answers_up));
  return LAUNCH(world_answer, count, DEVICE_VALUE(asked), HERE(answers), FIELD(clear), HERE(near));
}

/* Who has left the place where he is known. Returns how many in *moved. */
static Status leave(ScreeWorld *world, const LeaveShared *shared, const NearSolids *near, int64_t *moved) {
  WorldDevice *d = world->on_device;
  int32_t words[WORLD_WORDS] = {0};
  TRY(device_write(&world->core, world->device, &d->words, 0, sizeof words, words));
  TRY(LAUNCH(world_leave, shared->count + 1, DEVICE_VALUE(*shared), FIELD3(x, y, z), FIELD3(dx, dy, dz),
             FIELD3(built_x, built_y, built_z), FIELD(clear), FIELD(radius), HERE(near), HERE(before), HERE(words)));
  TRY(device_read(&world->core, world->device, &d->words, 0, sizeof words, words));
  *moved = words[WORLD_MOVED];
  return ask(world, near, words[WORLD_ASKED]);
}

/* After the host has looked at all: who is near any. */
static Status send_near(ScreeWorld *world, const NearSolids *near) {
  WorldDevice *d = world->on_device;
  const int64_t count = world->state.particles.count;
  uint8_t *any = NULL;
  int mark = scratch_mark(&world->scratch);
  TRY(reserve(world));
  TRY(scratch_take(&world->core, &world->scratch, &any, count, "near solids"));
  d->near_count = 0;
  d->near_known = count;
  for (int64_t i = 0; i < count; i++) d->near_count += any[i] = world_is_near(near, i);
  Status status = device_write(&world->core, world->device, &d->near, 0, count, any);
  scratch_release(&world->core, &world->scratch, mark);
  return status;
}

/* The particles near any solid come down. */
static Status list_near(ScreeWorld *world) {
  WorldDevice *d = world->on_device;
  State *state = &world->state;
  Particles *p = &state->particles;
  const int64_t near = d->near_count;
  const int32_t all = (int32_t)p->count;
  state->contacts.near_list_count = near;
  if (near == 0) return SCREE_OK;
  TRY(reserve_list(world, near, NEAR_FLOATS));
  TRY(LAUNCH(world_count_near, p->count + 1, DEVICE_VALUE(all), HERE(near), HERE(before)));
  TRY(scan_run(&world->core, &d->scan, &d->before, p->count + 1));
  TRY(LAUNCH(world_list_near, p->count, DEVICE_VALUE(all), HERE(before), FIELD3(x, y, z), FIELD3(low_x, low_y, low_z),
             FIELD3(dx, dy, dz), HERE(list), HERE(places)));
  TRY(read_list(world, near, NEAR_FLOATS));
  TRY(memory_grow(&world->core, &state->contacts.near_list, near, "near solids"));
  memcpy(state->contacts.near_list, d->who, sizeof *d->who * (size_t)near);
  for (int64_t k = 0; k < near; k++) {
    const int32_t i = d->who[k];
    const float *at = d->places_down + NEAR_FLOATS * k;
    p->x[i] = at[0], p->y[i] = at[1], p->z[i] = at[2];
    p->low_x[i] = at[3], p->low_y[i] = at[4], p->low_z[i] = at[5];
    p->dx[i] = at[6], p->dy[i] = at[7], p->dz[i] = at[8];
  }
  return SCREE_OK;
}

/* All of it on the host: particles are sorted there. */
static Status keep_up_on_host(ScreeWorld *world, const MethodNeeds *needs, bool sort) {
  TRY(world_to_host(world, SET_PARTICLES));
  TRY(world_keep_up(world, needs, sort));
  world_wrote_on_host(world, SET_PARTICLES);
  TRY(to_device(world, SET_PARTICLES));
  const NearSolids near = world_near_solids(world, needs, world->state.contacts.skin, false);
  return send_near(world, &near);
}

static Status neighbors(ScreeWorld *world, Step *step) {
  State *state = &world->state;
  const MethodNeeds needs = world_needs(world);
  world_solids_step(world, step->dt);
  if (world->neighbors_stale || !world->lists_known) {
    TRY(keep_up_on_host(world, &needs, false));
    return list_near(world);
  }
  const float skin = state->contacts.skin, allowed = world_allowed(world, &needs);
  const bool closer = world->surfaces_moved > (double)allowed;
  const NearSolids near = world_near_solids(world, &needs, skin, closer);
  const LeaveShared shared = {.count = (int)state->particles.count,
                              .allowed = allowed,
                              .closer = near.closer,
                              .reach = near.reach,
                              .skin = near.skin,
                              .slack = world_near_slack(state)};
  int64_t moved = 0;
  if (world->on_device->near_known != state->particles.count) TRY(send_near(world, &near)); /* some were born */
  TRY(leave(world, &shared, &near, &moved));
  world->moved_on += moved;
  if (closer) world->surfaces_moved = 0;
  if (world_must_sort(world)) TRY(keep_up_on_host(world, &needs, true));
  return list_near(world);
}

/* ---- commit ---- */

static Status commit(ScreeWorld *world, Step *step) {
  WorldDevice *d = world->on_device;
  const int32_t count = (int32_t)world->state.particles.count;
  int32_t words[WORLD_WORDS] = {0};
  float largest = 0;
  TRY(world_to_host(world, world_probes_step_reads(world)));
  world_probes_commit(world);
  TRY(device_write(&world->core, world->device, &d->words, 0, sizeof words, words));
  TRY(LAUNCH(world_move, count, DEVICE_VALUE(count), FIELD3(x, y, z), FIELD3(low_x, low_y, low_z), FIELD3(dx, dy, dz),
             FIELD3(vx, vy, vz), HERE(words)));
  TRY(device_read(&world->core, world->device, &d->words, 0, sizeof words, words));
  TRY(device_finish(&world->core, world->device));
  memcpy(&largest, &words[WORLD_FASTEST], sizeof largest);
  if (words[WORLD_BAD]) {
    mirror_wrote_there(world->state.mirror, &world->state.particles, SET_X | SET_LOW);
    TRY(world_to_host(world, SET_PARTICLES));
    return world_blew_up(world);
  }
  return world_end_commit(world, (double)largest, step->dt);
}

/* ---- what phases on the host need of particles ---- */

static bool nothing_queued(const ScreeWorld *world) {
  return world->state.queue.birth_count == 0 && world->state.queue.death_count == 0;
}

static bool no_event_now(const ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  for (int32_t k = 0; k < scene->event_count; k++)
    if (!world->events_done[k] && !(scene->events[k].t > world->state.time + 1e-12)) return false;
  return true;
}

static bool always(const ScreeWorld *world) {
  (void)world;
  return true;
}

static bool no_emitters(const ScreeWorld *world) { return world->definition.scene.emitter_count == 0; }
static bool no_sinks(const ScreeWorld *world) { return world->definition.scene.sink_count == 0; }
static bool nobody_looks(const ScreeWorld *world) {
  return !world->upsample && world->definition.scene.probe_count == 0;
}

#define MOVED (SET_X | SET_LOW | SET_D | SET_V)
const DevicePhase DEVICE_BIRTHS = {NULL, SET_PARTICLES, SET_PARTICLES, nothing_queued};
const DevicePhase DEVICE_EVENTS = {NULL, SET_X | SET_LOW | SET_V, SET_V, no_event_now};
const DevicePhase DEVICE_PREPARE = {prepare, SET_V | SET_D, SET_D, NULL};
const DevicePhase DEVICE_NEIGHBORS = {neighbors, SET_X | SET_LOW | SET_D | SET_BIRTH | SET_BUILT, SET_BUILT, NULL};
const DevicePhase DEVICE_METHOD = {method_step, MOVED | SET_BIRTH | SET_ADDED, SET_D | SET_V | SET_ADDED, NULL};
/* Terrain, free bodies and mechanisms have no device form: there are none. */
const DevicePhase DEVICE_TERRAIN = {NULL, SET_PARTICLES, SET_ADDED, always};
const DevicePhase DEVICE_BODIES = {NULL, SET_V, 0, always};
const DevicePhase DEVICE_COMMIT = {commit, MOVED, SET_X | SET_LOW, NULL};
const DevicePhase DEVICE_EMIT = {NULL, SET_X | SET_LOW | SET_BIRTH, 0, no_emitters};
const DevicePhase DEVICE_DRAIN = {NULL, SET_X | SET_LOW | SET_BIRTH, 0, no_sinks};
/* Fields that probes add have no copy on the device; one that asks for the pressure fetches what that needs. */
const DevicePhase DEVICE_FRAME = {NULL, MOVED | SET_BIRTH, 0, nobody_looks};
