/* One step. Order lives here, the mathematics in the rooms that are called; docs/architecture.md numbers the phases. */
#include "world/world.h"

/* Runs one phase and times it. */
#define PHASE(name, call)                                                                                              \
  do {                                                                                                                 \
    double phase_began_ = profile_begin();                                                                             \
    Status phase_status_ = (call);                                                                                     \
    profile_end(&world->profile, (name), phase_began_);                                                                \
    if (phase_status_ != SCREE_OK) return phase_status_;                                                               \
  } while (0)

Status world_step(ScreeWorld *world) {
  Core *core = &world->core;
  State *state = &world->state;
  const Method *method = world->method;

  if (!world->frame_open) world_frame_begin(world);
  double dt = world_choose_step(world);
  Step step = {.core = core,
               .state = state,
               .scratch = &world->scratch,
               .profile = &world->profile,
               .dt = dt,
               .farthest = INFINITY,
               .measure_overlap = world->last_of_frame && world_needs(world).neighbors == NEIGHBORS_SEARCHED};

  PHASE("births", world_births_and_deaths(world));
  PHASE("events", world_events(world));
  if (method->prepare) PHASE("prepare", method->prepare(world->method_data, &step));
  PHASE("bodies", bodies_refresh(core, world->bodies, state, dt));
  PHASE("neighbors", world_refresh_surroundings(world, &step));
  PHASE("method", method->step(world->method_data, &step));
  PHASE("terrain", world_terrain(world, dt));
  PHASE("bodies", bodies_advance(core, world->bodies, state, dt));
  PHASE("commit", world_commit(world, dt));
  PHASE("births", world_emit(world, dt));
  PHASE("births", world_drain(world));

  state->step++;
  if (world->last_of_frame) PHASE("frame", world_frame_end(world));
  return SCREE_OK;
}
