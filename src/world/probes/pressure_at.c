/* Mean pressure of the particles in a box, weighted by their mass; 0 where none is. */
#include "world/probes/probes.h"

typedef struct Load {
  ProbeBox box;
  const float *pressure; /* of every particle, Pa */
} Load;

static double load_chunk(void *context, int64_t b, int64_t e) {
  const Load *load = context;
  const State *state = load->box.state;
  double sum = 0;
  for (int64_t i = b; i < e; i++)
    if (probe_box_holds(&load->box, state_position(state, i)))
      sum += (double)state->particles.mass[i] * (double)load->pressure[i];
  return sum;
}

static Status know_pressure(ScreeWorld *world, float *pressure) {
  const Method *method = world->method;
  if (!method->pressure) return SCREE_BAD_INPUT;
  return method->pressure(&world->core, &world->state, world->method_data, pressure);
}

/* There are no particles yet: only whether the method knows a pressure is asked. */
static Status pressure_at_create(ScreeWorld *world, Probe *probe) {
  if (know_pressure(world, NULL) == SCREE_OK) return SCREE_OK;
  return world_fail_at(world, SCREE_BAD_INPUT, probe->definition->source,
                       "probe '%s': method '%s' knows no pressure with these parameters", probe->definition->name,
                       world->method->info.name);
}

static Status pressure_at_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)seconds;
  int mark = scratch_mark(&world->scratch);
  float *pressure = NULL;
  TRY(world_method_to_host(world));
  TRY(world_lists_to_host(world));
  TRY(scratch_take(&world->core, &world->scratch, &pressure, world->state.particles.count, "pressure"));
  TRY(know_pressure(world, pressure));
  Load load = {probe_box(world, probe), pressure};
  double mass = probe_mass(world, &load.box);
  probe->state.values[0] = mass > 0 ? probe_sum(world, load_chunk, &load) / mass : 0;
  scratch_release(&world->core, &world->scratch, mark);
  return SCREE_OK;
}

const ProbeKind PROBE_PRESSURE_AT = {.create = pressure_at_create, .looks = true, .frame = pressure_at_frame};
