/* Kinetic and potential energy of grains and free bodies. */
#include "world/probes/probes.h"

static double kinetic_chunk(void *context, int64_t b, int64_t e) {
  const State *state = context;
  const Particles *p = &state->particles;
  double sum = 0;
  for (int64_t i = b; i < e; i++) {
    double x = (double)p->vx[i], y = (double)p->vy[i], z = (double)p->vz[i];
    sum += 0.5 * (double)p->mass[i] * (x * x + y * y + z * z);
  }
  return sum;
}

static double potential_chunk(void *context, int64_t b, int64_t e) {
  const State *state = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++)
    sum -= (double)state->particles.mass[i] * vec3_dot(state->gravity, state_position(state, i));
  return sum;
}

static Status energy_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)seconds;
  State *state = &world->state;
  double *values = probe->state.values;
  values[0] = probe_sum(world, kinetic_chunk, state);
  values[1] = probe_sum(world, potential_chunk, state);
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    if (solid->motion != MOTION_FREE) continue;
    Vec3 spin = quat_rotate(quat_conjugate(solid->rotation), solid->spin);
    values[0] += 0.5 * solid->mass * vec3_dot(solid->velocity, solid->velocity) +
                 0.5 * vec3_dot(spin, mat3_apply(&solid->inertia, spin));
    values[1] -= solid->mass * vec3_dot(state->gravity, solid->center);
  }
  return SCREE_OK;
}

const ProbeKind PROBE_ENERGY = {.frame = energy_frame};
