/* Phases of a step on a device: particles live there, and what a phase on the host reads of them comes down first. */
#include <math.h>
#include <string.h>

#include "world/births.h"
#include "world/on_device.h"

/* ---- where particles are ---- */

Status world_to_host(ScreeWorld *world, StateSet reads) {
  if (!world->on_device) return SCREE_OK;
  return mirror_fetch(&world->core, world->state.mirror, &world->state.particles, reads);
}

Status world_look_ahead(ScreeWorld *world) {
  const MethodDevice *method = world->method->device;
  if (!world->on_device || !method->looks || !method->looks(world->method_data, &world->state)) return SCREE_OK;
  return world_to_host(world, SET_X | SET_LOW | SET_V | SET_BIRTH);
}

Status world_to_device(ScreeWorld *world, StateSet reads) {
  return mirror_send(&world->core, world->state.mirror, &world->state.particles, reads);
}

Status world_method_to_host(ScreeWorld *world) {
  TRY(world_to_host(world, SET_PARTICLES));
  if (!world->on_device) return SCREE_OK;
  return world->method->device->fetch(&world->core, world->method_data);
}

void world_wrote_on_host(ScreeWorld *world, StateSet writes) {
  if (world->on_device) mirror_wrote_here(world->state.mirror, &world->state.particles, writes);
}

/* What was counted was so in another run. */
Status world_loaded_on_host(ScreeWorld *world) {
  if (!world->on_device) return SCREE_OK;
  world_wrote_on_host(world, SET_PARTICLES);
  world->method->device->forget(world->method_data);
  world->on_device->gone_known = 0;
  return mirror_words_clear(&world->core, world->state.mirror);
}

void world_leave_device(ScreeWorld *world) {
  Core *core = &world->core;
  WorldDevice *d = world->on_device;
  if (!d) return;
  world_probes_leave_device(world);
  solids_mirror_drop(core, d->device, &d->sinks);
  memory_drop(core, &d->drained_here.items);
  memory_drop(core, &d->crowd_here.items);
  WORLD_DEVICE_BUFFERS(DEVICE_BUFFER_RELEASE)
  for (int k = 0; k < WORLD_TOGETHER; k++) device_release(d->device, &d->spares[k]);
  WORLD_DEVICE_KERNELS(DEVICE_KERNEL_FREE)
  device_program_free(core, d->program);
  memory_drop(&world->core, &world->on_device);
}

Status world_enter_device(ScreeWorld *world) {
  Core *core = &world->core;
  TRY(mirror_create(core, world->device, &world->state.mirror));
  TRY(memory_new(core, &world->on_device, 1, "a world on a device"));
  WorldDevice *d = world->on_device;
  d->device = world->device;
  TRY(device_build(core, world->device, "world/world.cl", "", &d->program));
  WORLD_DEVICE_KERNELS(DEVICE_KERNEL_MAKE)
  particles_mirror_field(&world->state.particles, "near_solids");
  if (world_needs(world).neighbors != NEIGHBORS_NONE)
    TRY(list_maker_open(core, world->device, &world->state.mirror->lists));
  return world->method->device->open(core, &world->state, world->method_data);
}

const char *world_missing_on_device(const ScreeWorld *world) {
  const MethodDevice *method = world->method->device;
  const char *missing = method->missing ? method->missing(world->method_data, &world->state) : NULL;
  if (missing) return missing;
  if (!device_has_doubles(world->device)) return "devices without doubles";
  const MethodNeeds needs = world_needs(world);
  if (world->state.solids.count > world->near_words * SOLIDS_PER_WORD) return "as many bodies that were added";
  if (needs.neighbors == NEIGHBORS_LISTED) return NULL; /* where it has to, the host makes the lists */
  return solids_mirror_missing(&world->state.solids, world_solid_reach(world, &needs));
}

Status world_check_device(ScreeWorld *world) {
  if (!world->on_device) return SCREE_OK;
  const char *missing = world_missing_on_device(world);
  if (!missing) return SCREE_OK;
  TRY(world_method_to_host(world));
  TRY(world_lists_to_host(world));
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
  TRY(world_to_device(world, there->reads));
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

static float word_float(const Mirror *mirror, int word) {
  float value;
  memcpy(&value, &mirror->words.here[word], sizeof value);
  return value;
}

/* ---- neighbors ---- */

Status world_launch_leave(ScreeWorld *world, const LeaveShared *shared) {
  TRY(WORLD_LAUNCH(world_leave, shared->count, DEVICE_VALUE(*shared), WORLD_FIELD3(x, y, z), WORLD_FIELD3(dx, dy, dz),
                   WORLD_FIELD3(built_x, built_y, built_z), WORLD_FIELD(clear), WORLD_FIELD(radius),
                   WORLD_FIELD(near_solids), SOLIDS_ARGUMENTS(world->state.mirror),
                   DEVICE_BUFFER(&world->state.mirror->words.buffer)));
  mirror_wrote_there(world->state.mirror, &world->state.particles, SET_BUILT | SET_ADDED);
  return SCREE_OK;
}

LeaveShared world_leave_shared(const ScreeWorld *world, const NearSolids *near) {
  const State *state = &world->state;
  return (LeaveShared){.origin = {state->origin.x, state->origin.y, state->origin.z},
                       .count = (int)state->particles.count,
                       .solids = state->solids.count,
                       .words = 2 * (int)near->words,
                       .closer = near->closer,
                       .reach = near->reach,
                       .skin = near->skin,
                       .slack = world_near_slack(state),
                       .beyond = world_near_beyond(state),
                       .counters = mirror_words_begin(state->mirror)};
}

/* A resumed world: all of it on the host. */
static Status keep_up_on_host(ScreeWorld *world, const MethodNeeds *needs) {
  TRY(world_to_host(world, SET_PARTICLES));
  world_wrote_on_host(world, SET_PARTICLES);
  TRY(world_keep_up(world, needs));
  return world_to_device(world, SET_PARTICLES);
}

/* Whether lists must be made anew is measured on the device, where it is not known. */
static Status refresh_lists(ScreeWorld *world, const Step *step) {
  Mirror *mirror = world->state.mirror;
  const MethodDevice *method = world->method->device;
  MethodNeeds needs = world_needs(world);
  ListsAge age = world_lists_age(world, &needs, step->farthest);
  if (age == LISTS_GOOD) return SCREE_OK;
  if (age == LISTS_UNKNOWN) {
    const int32_t count = (int32_t)world->state.particles.count, begin = mirror_words_begin(mirror);
    TRY(WORLD_LAUNCH(world_farthest, count, DEVICE_VALUE(count), DEVICE_VALUE(begin), WORLD_FIELD3(x, y, z),
                     WORLD_FIELD3(dx, dy, dz), WORLD_FIELD3(built_x, built_y, built_z),
                     DEVICE_BUFFER(&mirror->words.buffer)));
  }
  if (age == LISTS_UNKNOWN || method->surveyed) TRY(mirror_words_read(&world->core, mirror));
  if (age == LISTS_UNKNOWN) age = world_lists_measured(world, (double)word_float(mirror, WORD_FARTHEST));
  if (age == LISTS_GOOD) return SCREE_OK;
  if (method->surveyed) method->surveyed(world->method_data, mirror->words.here + MIRROR_METHOD_WORD);
  needs = world_needs(world);
  return world_rebuild_on_device(world, &needs);
}

/* How many have moved on, once the step's counters are here. */
static void count_gone(ScreeWorld *world) {
  const int64_t gone = world->state.mirror->words.here[WORD_GONE];
  world->moved_on += gone - world->on_device->gone_known;
  world->on_device->gone_known = gone;
}

static Status neighbors(ScreeWorld *world, Step *step) {
  State *state = &world->state;
  const MethodNeeds needs = world_needs(world);
  world_place_samples(world);
  world_solids_step(world, step->dt);
  if (needs.neighbors == NEIGHBORS_LISTED) return refresh_lists(world, step);
  TRY(solids_mirror_send(&world->core, world->device, &state->mirror->solids, &state->solids));
  if (world->neighbors_stale) return world_rebuild_on_device(world, &needs);
  if (!world->lists_known) return keep_up_on_host(world, &needs);
  const float skin = state->contacts.skin, allowed = world_allowed(world, &needs);
  const bool closer = world->surfaces_moved > (double)allowed;
  const NearSolids near = world_near_solids(world, &needs, skin, closer);
  LeaveShared shared = world_leave_shared(world, &near);
  shared.allowed = allowed;
  TRY(world_launch_leave(world, &shared));
  if (closer) world->surfaces_moved = 0;
  if (!world_must_sort_after(world, state->particles.count)) return SCREE_OK; /* even if all have left */
  TRY(mirror_words_read(&world->core, state->mirror));
  count_gone(world);
  return world_must_sort_after(world, 0) ? world_rebuild_on_device(world, &needs) : SCREE_OK;
}

/* ---- commit ---- */

/* All that the step has counted comes down here. */
static Status commit(ScreeWorld *world, Step *step) {
  Mirror *mirror = world->state.mirror;
  const MethodDevice *method = world->method->device;
  const int32_t count = (int32_t)world->state.particles.count, words = mirror->words.count,
                items = count > words ? count : words;
  const MoveShared shared = {.count = count,
                             .words = mirror_words_begin(mirror),
                             .next = (1 - mirror->words.set) * words,
                             .word_count = words};
  DeviceRead reads[2 + METHOD_READS_MAX + WORLD_GATHER_READS] = {mirror_words_wanted(mirror)};
  int wanted = 1;
  if (method->wanted) wanted += method->wanted(world->method_data, reads + wanted);
  TRY(world_probes_step_begin(world, &reads[wanted]));
  wanted += reads[wanted].bytes > 0;
  TRY(WORLD_LAUNCH(world_move, items, DEVICE_VALUE(shared), WORLD_FIELD3(x, y, z), WORLD_FIELD3(low_x, low_y, low_z),
                   WORLD_FIELD3(dx, dy, dz), WORLD_FIELD3(vx, vy, vz), DEVICE_BUFFER(&mirror->words.buffer)));
  TRY(world_gather_begin(world, step->dt, reads, &wanted));
  TRY(device_read_many(&world->core, world->device, reads, wanted));
  world_probes_step_end(world);
  TRY(world_gather_end(world, step->dt));
  mirror->words.set = 1 - mirror->words.set;
  count_gone(world);
  world->on_device->gone_known = 0;
  if (mirror->words.here[WORD_BAD]) {
    mirror_wrote_there(world->state.mirror, &world->state.particles, SET_X | SET_LOW);
    TRY(world_to_host(world, SET_PARTICLES));
    return world_blew_up(world);
  }
  const double fastest = (double)word_float(mirror, WORD_FASTEST);
  if (method->counted) method->counted(world->method_data, step, mirror->words.here + MIRROR_METHOD_WORD, fastest);
  return world_end_commit(world, fastest, step->dt);
}

/* ---- births, deaths, throws ---- */

static Status births_and_deaths(ScreeWorld *world, Step *step) {
  (void)step;
  if (world->state.queue.birth_count == 0 && world->state.queue.death_count == 0) return SCREE_OK;
  if (world_births_are_there(world)) return world_births_and_deaths(world);
  TRY(world_to_host(world, SET_PARTICLES));
  TRY(world_births_and_deaths(world));
  world_wrote_on_host(world, SET_PARTICLES);
  return SCREE_OK;
}

static Status events(ScreeWorld *world, Step *step) {
  (void)step;
  return world_events(world);
}

static Status emit(ScreeWorld *world, Step *step) { return world_emit(world, step->dt); }

static Status drain(ScreeWorld *world, Step *step) {
  (void)step;
  if (world_sinks_are_there(world)) return world_drain_there(world);
  TRY(world_to_host(world, SET_X | SET_LOW | SET_BIRTH));
  return world_drain(world);
}

/* ---- what phases on the host need of particles ---- */

static bool always(const ScreeWorld *world) {
  (void)world;
  return true;
}

/* Without exchange grains and columns meet in contacts alone. */
static bool terrain_is_apart(const ScreeWorld *world) { return !world->ground || !ground_exchanges(world->ground); }

static bool nobody_looks(const ScreeWorld *world) {
  const bool fine = world->upsample && upsample_reads_host(world->upsample, &world->state);
  return !fine && !world_probes_look(world);
}

#define MOVED (SET_X | SET_LOW | SET_D | SET_V)
/* These send and fetch what they need by themselves. */
const DevicePhase DEVICE_BIRTHS = {births_and_deaths, 0, 0, NULL};
const DevicePhase DEVICE_EVENTS = {events, 0, 0, NULL};
const DevicePhase DEVICE_EMIT = {emit, 0, 0, NULL};
const DevicePhase DEVICE_DRAIN = {drain, 0, 0, NULL};
const DevicePhase DEVICE_PREPARE = {prepare, MOVED | SET_BIRTH | SET_ADDED, SET_D | SET_V | SET_ADDED, NULL};
/* Which solids are near is a field that the world has added. */
const DevicePhase DEVICE_NEIGHBORS = {neighbors, SET_X | SET_LOW | SET_D | SET_BIRTH | SET_BUILT | SET_ADDED, 0, NULL};
const DevicePhase DEVICE_METHOD = {method_step, MOVED | SET_BIRTH | SET_ADDED, SET_D | SET_V | SET_ADDED, NULL};
/* How long grains rest is a field that has no copy on the device. Bodies ask for velocities where they need them
 * (fastest_round). */
const DevicePhase DEVICE_TERRAIN = {NULL, SET_X | SET_LOW | SET_V | SET_BIRTH, SET_V, terrain_is_apart};
const DevicePhase DEVICE_BODIES = {NULL, SET_V, 0, always};
const DevicePhase DEVICE_COMMIT = {commit, MOVED, SET_X | SET_LOW, NULL};
/* Fields that probes add have no copy on the device; one that asks for the pressure fetches what that needs. */
const DevicePhase DEVICE_FRAME = {NULL, SET_X | SET_LOW | SET_V | SET_BIRTH, 0, nobody_looks};
