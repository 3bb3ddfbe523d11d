/* Adds what outer pairs exert to the sums of a window; kicks its grains by the sums and by gravity. */
#include "methods/dem/contact_kernels.h"
#include "methods/dem/integrate_law.h"
#include "methods/dem/lanes.h"

enum { AHEAD = 12 }; /* outer pairs that are fetched beforehand */

/* The second grain gets the opposite force and rolling moment, and the same lever: see ContactForces. */
WIDE_INLINE void add(float *sum, const float *result, bool second, bool rolling) {
  for (int part = 0; part < (rolling ? 3 : 2); part++) {
    WideQuad value = *(const WideQuad *)(result + 4 * part);
    *(WideQuad *)(sum + 4 * part) += second && part != 1 ? -value : value;
  }
}

void KERNEL(dem_sum_outer)(const DemStep *work, int64_t b, int64_t e, float (*sums)[DEM_SUM]) {
  const DemTopology *t = work->topology;
  const DemContacts *outer = &t->outer;
  float *window = (float *)sums;
  int64_t base = DEM_ROW * b; /* quads */
  bool rolling = work->settings->rolling;
  for (int32_t k = outer->start[b]; k < outer->start[e]; k++)
    add(window + 4 * (outer->first[k] - base), work->forces.outer[k], false, rolling);
  int32_t at = t->incoming_start[b / t->window], last = t->incoming_start[b / t->window + 1] - 1;
  for (; at <= last; at++) {
    int32_t k = t->incoming[at];
    __builtin_prefetch(work->forces.outer[t->incoming[at + AHEAD < last ? at + AHEAD : last]]);
    add(window + 4 * (outer->second[k] - base), work->forces.outer[k], true, rolling);
  }
}

/* Verlet has kicked half already. Euler kicks once, for the whole step, and then knows its displacement. */
WIDE_INLINE void kick(const DemStep *work, const float (*sums)[DEM_SUM], int64_t i, int lanes) {
  const Particles *p = &work->step->state->particles;
  const DemFields *fields = work->fields;
  Vec3 g = work->step->state->gravity;
  bool verlet = work->settings->verlet;
  Wide dt = wide_set(verlet ? 0.5f * work->dt : work->dt);
  float *const velocity[3] = {p->vx, p->vy, p->vz}, *const displacement[3] = {p->dx, p->dy, p->dz};
  LaneVec3 force, lever, moment, gravity = {wide_set((float)g.x), wide_set((float)g.y), wide_set((float)g.z)};
  load_quads(sums[0], DEM_SUM, &force.x, &force.y, &force.z);
  Wide inverse_mass = wide_set(1) / load_some(p->mass + i, lanes);
  LaneVec3 acceleration = vec_mul(force, inverse_mass);
  LaneVec3 v = integrate_velocity(load_three(velocity, i, lanes), acceleration, gravity, dt);
  store_three(velocity, i, lanes, v);
  if (verlet) store_three(fields->acceleration, i, lanes, acceleration);
  else store_three(displacement, i, lanes, vec_mul(v, dt));
  if (!work->settings->rotation) return;
  load_quads(sums[0] + 4, DEM_SUM, &lever.x, &lever.y, &lever.z);
  load_quads(sums[0] + 8, DEM_SUM, &moment.x, &moment.y, &moment.z);
  LaneVec3 angular = integrate_angular_acceleration(lever, moment, load_some(p->radius + i, lanes), inverse_mass);
  store_three(fields->spin, i, lanes, integrate_spin(load_three(fields->spin, i, lanes), angular, dt));
  if (verlet) store_three(fields->angular_acceleration, i, lanes, angular);
}

void KERNEL(dem_kick_window)(const DemStep *work, int64_t b, int64_t e, const float (*sums)[DEM_SUM]) {
  int64_t whole = b + (e - b) / LANES * LANES;
  for (int64_t i = b; i < whole; i += LANES) kick(work, sums + (i - b), i, LANES);
  if (whole < e) kick(work, sums + (whole - b), whole, (int)(e - whole));
}
