/* Round the steps: how long one may be, and what happens at the beginning and end of a frame. */
#include <math.h>

#include "world/world.h"

#define STEPS_MOST 100000000 /* of a frame: more would take days */

/* Speed of the fastest grain in the step that begins: those of the queue are born at its start. */
static double fastest_grain(const ScreeWorld *world) {
  const Queue *queue = &world->state.queue;
  double fastest = world->tally.speed;
  for (int64_t k = 0; k < queue->birth_count; k++) fastest = fmax(fastest, vec3_length(queue->births[k].velocity));
  return fastest;
}

/* The longest step, `longest` at most, of which a whole number makes `time`. */
static double equal_part(double time, double longest) { return time / fmax(ceil(time / longest - 1e-6), 1); }

/* The longest step that the scene, the method, the bodies and the CFL rule allow, cut so that the rest of the frame
 * is made of equal steps. */
double world_choose_step(ScreeWorld *world) {
  State *state = &world->state;
  const ScreeMethodDef *method = &world->definition.scene.method;
  double left = (double)(state->frame + 1) / world->definition.scene.frame_rate - state->time;
  double wanted = method->time_step;
  double stable = world->method->largest_step(world->method_data, state);
  bool by_method = world_needs(world).cfl == CFL_BY_METHOD;
  double limit = bodies_largest_step(&world->core, world->bodies, state, wanted);
  if (by_method) limit = fmin(limit, stable);
  else if (stable < wanted) wanted = stable;
  world->uncut_step = equal_part(1 / world->definition.scene.frame_rate, wanted);
  /* A grain also gains g dt in the step: solve (v + g dt) dt <= cfl r for dt. */
  double most = method->cfl * method->radius, g = vec3_length(state->gravity), v = fastest_grain(world);
  double cfl = g > 0 ? 2 * most / (v + sqrt(v * v + 4 * g * most)) : v > 0 ? most / v : INFINITY;
  if (cfl < limit && !by_method) limit = cfl;
  if (limit < wanted) {
    state_count(state, "cfl_limited_steps", 1);
    wanted = limit;
  }
  double steps = ceil(left / wanted - 1e-6);
  world->last_of_frame = !(steps > 1);
  world->steps_left = world->last_of_frame ? 1 : steps < 1e9 ? (int64_t)steps : (int64_t)1e9;
  return world->last_of_frame ? left : left / steps;
}

/* The end of the frame must be within reach: with a body at 1e200 m/s a step would not even change the time. */
Status world_check_step(ScreeWorld *world, double dt) {
  if (world->steps_left < STEPS_MOST) return SCREE_OK;
  const Solids *solids = &world->state.solids;
  const Solid *fastest = NULL;
  double speed = 0;
  for (int32_t k = 0; k < solids->count; k++) {
    double here = solid_surface_speed(&solids->items[k], solids->items[k].velocity, solids->items[k].spin);
    if (!(here <= speed)) fastest = &solids->items[k], speed = here;
  }
  return fail(
      &world->core, SCREE_FAILED,
      "the simulation blew up: at t = %.6g s a frame would need steps of %.3g s. Grains move at up to %.3g m/s, "
      "%s at %.3g m/s; weaker forces or a smaller time_step may help",
      world->state.time, dt, fastest_grain(world), fastest ? fastest->name : "bodies", speed);
}

void world_frame_begin(ScreeWorld *world) {
  State *state = &world->state;
  world->frame_open = true;
  if (world->device) device_begin_frame(world->device);
  /* Lists are rebuilt at every frame's first step, so that a resumed run, which has none, goes on bit for bit; or they
   * are kept up in a way that does not depend on when they were built. */
  if (world_needs(world).neighbors != NEIGHBORS_SEARCHED) world->neighbors_stale = true;
  state->queue.done_birth_count = state->queue.done_death_count = 0;
  for (int32_t k = 0; k < state->solids.count; k++) {
    state->solids.items[k].impulse = vec3(0, 0, 0);
    state->solids.items[k].angular_impulse = vec3(0, 0, 0);
  }
}

static Status upsample(ScreeWorld *world, double dt) {
  if (!world->upsample) return SCREE_OK;
  double began = profile_begin();
  Status status = upsample_advance(&world->core, world->upsample, &world->state, &world->sinks, &world->scratch, dt);
  world->seconds_upsample = timer_now() - began;
  profile_end(&world->profile, "upsample", began);
  return status;
}

Status world_frame_end(ScreeWorld *world) {
  State *state = &world->state;
  double rate = world->definition.scene.frame_rate;
  state->frame++;
  state->time = (double)state->frame / rate; /* exact: steps do not pile up rounding errors */
  world->frame_open = false;
  for (int32_t k = 0; k < state->solids.count; k++) {
    Solid *solid = &state->solids.items[k];
    solid->frame_force = vec3_scale(solid->impulse, rate);
    solid->frame_torque = vec3_scale(solid->angular_impulse, rate);
  }
  TRY(world_terrain_mesh(world));
  TRY(upsample(world, 1 / rate));
  double overlap = NAN;
  if (world_is_on_device(world) && world_needs(world).neighbors == NEIGHBORS_LISTED)
    TRY(world_overlap_on_device(world, &overlap));
  else overlap = world_overlap(world);
  if (overlap > world->tally.max_overlap) world->tally.max_overlap = overlap;
  if (overlap > 1) state_count(state, "deep_overlap_frames", 1); /* a centre inside another grain: more could pass */
  world_device_times(world);
  return world_probes_frame(world, 1 / rate);
}

Status world_frame(ScreeWorld *world) {
  int64_t frame = world->state.frame;
  double began = timer_now(), bodies = profile_seconds(&world->profile, "bodies");
  while (world->state.frame == frame) TRY(world_step(world));
  world->seconds_bodies = profile_seconds(&world->profile, "bodies") - bodies;
  world->seconds_coarse = timer_now() - began - world->seconds_bodies - world->seconds_upsample;
  return SCREE_OK;
}
