/* Kinetic and potential energy of grains and free bodies, turning included. */
#include "world/probes/probes.h"

enum { KINETIC, POTENTIAL, TURNING };

/* Balls turn, where the method's grains have spins. */
static int energy_totals(const ScreeWorld *world, const Probe *probe, ProbeTotal totals[PROBE_TOTALS]) {
  (void)probe;
  totals[KINETIC].what = TOTAL_KINETIC;
  totals[POTENTIAL].what = TOTAL_POTENTIAL;
  totals[TURNING].what = TOTAL_TURNING;
  return world->state.parcels || !particles_field(&world->state.particles, "spin_z") ? TURNING : TURNING + 1;
}

static Status energy_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)seconds;
  State *state = &world->state;
  double *values = probe->state.values;
  values[0] = probe->totals[KINETIC] + probe->totals[TURNING];
  values[1] = probe->totals[POTENTIAL];
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

const ProbeKind PROBE_ENERGY = {.totals = energy_totals, .frame = energy_frame};
