/* One step. Order lives here, the mathematics in the rooms that are called; docs/architecture.md describes the phases.
 */
#include <math.h>

#include "world/world.h"

/* Gives a call the form of a phase. */
#define PHASE_FUNCTION(name, call)                                                                                     \
  static Status name(ScreeWorld *world, Step *step) {                                                                  \
    (void)step;                                                                                                        \
    return call;                                                                                                       \
  }
PHASE_FUNCTION(births_and_deaths, world_births_and_deaths(world))
PHASE_FUNCTION(events, world_events(world))
PHASE_FUNCTION(prepare, world->method->prepare(world->method_data, step))
PHASE_FUNCTION(refresh_bodies, bodies_refresh(step->core, world->bodies, step->state, step->dt))
PHASE_FUNCTION(surroundings, world_refresh_surroundings(world, step))
PHASE_FUNCTION(method_step, world->method->step(world->method_data, step))
PHASE_FUNCTION(terrain, world_terrain(world, step->dt))
PHASE_FUNCTION(advance_bodies, bodies_advance(step->core, world->bodies, step->state, step->dt))
PHASE_FUNCTION(commit, world_commit(world, step->dt))
PHASE_FUNCTION(emit, world_emit(world, step->dt))
PHASE_FUNCTION(drain, world_drain(world))
PHASE_FUNCTION(count_step, world_count_step(world))
PHASE_FUNCTION(frame_end, world_frame_end(world))

/* The test docs/phases compares this table with docs/architecture.md, the test unit/phases what each phase writes. */
const Phase WORLD_PHASES[] = {
    {"births", births_and_deaths, PHASE_ALWAYS, SET_PARTICLES | SET_QUEUE, SET_PARTICLES | SET_QUEUE, &DEVICE_BIRTHS},
    {"events", events, PHASE_ALWAYS, SET_X | SET_LOW | SET_V | SET_CLOCK, SET_V, &DEVICE_EVENTS},
    {"prepare", prepare, PHASE_IF_PREPARED, SET_PARTICLES | SET_SOLIDS | SET_CONTACTS | SET_CLOCK,
     SET_D | SET_V | SET_ADDED, &DEVICE_PREPARE},
    {"bodies", refresh_bodies, PHASE_ALWAYS, SET_SOLIDS | SET_CLOCK, SET_SOLIDS, NULL},
    {"neighbors", surroundings, PHASE_ALWAYS, SET_PARTICLES | SET_SOLIDS | SET_SAMPLES | SET_CONTACTS | SET_TERRAIN,
     SET_PARTICLES | SET_SAMPLES | SET_CONTACTS, &DEVICE_NEIGHBORS},
    {"method", method_step, PHASE_ALWAYS, SET_ALL,
     SET_X | SET_D | SET_V | SET_ADDED | SET_WRENCHES | SET_CONTACTS | SET_QUEUE, &DEVICE_METHOD},
    {"terrain", terrain, PHASE_ALWAYS, SET_PARTICLES | SET_SOLIDS | SET_WRENCHES | SET_TERRAIN | SET_QUEUE | SET_CLOCK,
     SET_V | SET_ADDED | SET_WRENCHES | SET_TERRAIN | SET_QUEUE, &DEVICE_TERRAIN},
    {"bodies", advance_bodies, PHASE_ALWAYS, SET_V | SET_SOLIDS | SET_WRENCHES | SET_CLOCK, SET_SOLIDS, &DEVICE_BODIES},
    {"commit", commit, PHASE_ALWAYS, SET_PARTICLES | SET_WRENCHES | SET_IMPULSES | SET_CLOCK,
     SET_X | SET_LOW | SET_WRENCHES | SET_IMPULSES | SET_CLOCK, &DEVICE_COMMIT},
    {"births", emit, PHASE_ALWAYS, SET_X | SET_LOW | SET_BIRTH | SET_QUEUE | SET_CLOCK, SET_QUEUE, &DEVICE_EMIT},
    {"births", drain, PHASE_ALWAYS, SET_X | SET_LOW | SET_BIRTH | SET_QUEUE, SET_QUEUE, &DEVICE_DRAIN},
    {"commit", count_step, PHASE_ALWAYS, SET_CLOCK, SET_CLOCK, NULL},
    {"frame", frame_end, PHASE_LAST_OF_FRAME, SET_ALL, SET_ADDED | SET_IMPULSES | SET_CLOCK, &DEVICE_FRAME},
};
const int32_t WORLD_PHASE_COUNT = sizeof WORLD_PHASES / sizeof *WORLD_PHASES;

Step world_begin_step(ScreeWorld *world) {
  if (!world->frame_open) world_frame_begin(world);
  double dt = world_choose_step(world);
  return (Step){.core = &world->core,
                .state = &world->state,
                .scratch = &world->scratch,
                .profile = &world->profile,
                .dt = dt,
                .uncut = world->uncut_step,
                .farthest = INFINITY,
                .measure_overlap = world->last_of_frame && world_needs(world).neighbors == NEIGHBORS_SEARCHED};
}

Status world_run_phase(ScreeWorld *world, const Phase *phase, Step *step) {
  if (phase->when == PHASE_IF_PREPARED && !world->method->prepare) return SCREE_OK;
  if (phase->when == PHASE_LAST_OF_FRAME && !world->last_of_frame) return SCREE_OK;
  double began = profile_begin();
  Status status = world_is_on_device(world) ? world_run_on_device(world, phase, step) : phase->run(world, step);
  profile_end(&world->profile, phase->name, began);
  return status;
}

Status world_step(ScreeWorld *world) {
  TRY(world_check_device(world));
  TRY(world_look_ahead(world));
  Step step = world_begin_step(world);
  TRY(world_check_step(world, step.dt));
  crew_begin(&world->crew, world->core.pool);
  for (int32_t k = 0; k < WORLD_PHASE_COUNT; k++) {
    /* Fine grains are many where simulated ones are few: the end of a frame has all threads. */
    if (WORLD_PHASES[k].when == PHASE_LAST_OF_FRAME) crew_end(&world->crew, world->core.pool);
    TRY(world_run_phase(world, &WORLD_PHASES[k], &step));
  }
  return SCREE_OK;
}
