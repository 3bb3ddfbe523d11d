/* Kinetic and potential energy of grains and free bodies, turning included. */
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

/* Spins, where the method's grains have any; balls that turn. */
typedef struct Turning {
  const Particles *particles;
  const float *spin[3];
} Turning;

static double turning_chunk(void *context, int64_t b, int64_t e) {
  const Turning *turning = context;
  const Particles *p = turning->particles;
  double sum = 0;
  for (int64_t i = b; i < e; i++) {
    double x = (double)turning->spin[0][i], y = (double)turning->spin[1][i], z = (double)turning->spin[2][i];
    sum += 0.2 * (double)p->mass[i] * (double)p->radius[i] * (double)p->radius[i] * (x * x + y * y + z * z);
  }
  return sum;
}

static Status turning_energy(ScreeWorld *world, double *energy) {
  static const char *const names[3] = {"spin_x", "spin_y", "spin_z"};
  const Particles *p = &world->state.particles;
  Turning turning = {.particles = p};
  *energy = 0;
  for (int c = 0; c < 3; c++) {
    void **field = particles_field(p, names[c]);
    if (!field || world->state.parcels) return SCREE_OK;
    if (world->on_device) TRY(mirror_fetch_field(&world->core, world->state.mirror, p, names[c]));
    turning.spin[c] = *field;
  }
  *energy = probe_sum(world, turning_chunk, &turning);
  return SCREE_OK;
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
  double turning;
  TRY(turning_energy(world, &turning));
  values[0] = probe_sum(world, kinetic_chunk, state) + turning;
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
