/* Commit: positions take up the displacement; what went wrong is found here. */
#include <math.h>

#include "core/parallel.h"
#include "world/world.h"
#include "world/world_kernels.h"

enum { COMMIT_GRAIN = 128, SUM_GRAIN = 4096, OVERLAP_GRAIN = 256 };

Status world_blew_up(ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++) {
    float sum = p->x[i] + p->y[i] + p->z[i] + p->vx[i] + p->vy[i] + p->vz[i];
    float speed = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
    if (!isfinite(sum) || !isfinite(speed))
      return fail(
          &world->core, SCREE_FAILED,
          "the simulation blew up: grain %u is not finite at t = %.6g s (step %lld); a smaller time_step may help",
          p->id[i], world->state.time, (long long)world->state.step);
  }
  return fail(&world->core, SCREE_NO_MEMORY, "out of memory for partial sums");
}

Status world_commit(ScreeWorld *world, double dt) {
  State *state = &world->state;
  DeviceRead none;
  TRY(world_probes_step_begin(world, &none));
  world_probes_step_end(world);
  double largest = parallel_max(&world->core, 0, state->particles.count, COMMIT_GRAIN, 0,
                                KERNEL_CALL(&world->core, world_move), &state->particles);
  if (!isfinite(largest)) return world_blew_up(world);
  return world_end_commit(world, largest, dt);
}

Status world_end_commit(ScreeWorld *world, double largest, double dt) {
  State *state = &world->state;
  world->tally.speed = sqrt(largest);
  if (world->tally.speed > world->tally.max_speed) world->tally.max_speed = world->tally.speed;
  for (int32_t k = 0; k < state->solids.count; k++) {
    Solid *solid = &state->solids.items[k];
    solid->impulse = vec3_madd(solid->impulse, wrench_force(solid), dt);
    solid->angular_impulse = vec3_madd(solid->angular_impulse, wrench_torque(solid), dt);
    wrench_clear(solid);
  }
  state->time += dt;
  return SCREE_OK;
}

/* What the step has queued belongs to it: only then the next begins. */
Status world_count_step(ScreeWorld *world) {
  world->state.step++;
  return SCREE_OK;
}

static double mass_chunk(void *context, int64_t b, int64_t e) {
  const Particles *p = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++) sum += (double)p->mass[i];
  return sum;
}

double world_mass(ScreeWorld *world) {
  return parallel_sum(&world->core, 0, world->state.particles.count, SUM_GRAIN, mass_chunk, &world->state.particles) +
         world_terrain_mass(world);
}

static double overlap_chunk(void *context, int64_t b, int64_t e) {
  const State *state = context;
  const Particles *p = &state->particles;
  const NeighborList *list = &state->contacts.particles.list;
  double largest = 0;
  for (int64_t i = b; i < e; i++) /* both have the other in their rows: one look is enough */
    for (int64_t k = list->start[i + 1] - 1; k >= list->start[i] && list->index[k] > i; k--) {
      int32_t j = list->index[k];
      float x = p->x[i] - p->x[j], y = p->y[i] - p->y[j], z = p->z[i] - p->z[j];
      float radii = p->radius[i] + p->radius[j];
      float square = x * x + y * y + z * z;
      if (square >= radii * radii) continue;
      double share = 2 * (double)(radii - sqrtf(square)) / (double)radii;
      if (share > largest) largest = share;
    }
  return largest;
}

/* Deepest overlap of two grains as a share of their mean radius: among the pairs that the lists know, or as the method
 * has measured it at the end of the frame; NaN where overlap has no meaning. */
double world_overlap(ScreeWorld *world) {
  const State *state = &world->state;
  if (world->method->particle != PARTICLE_GRAIN) return NAN;
  if (world_needs(world).neighbors == NEIGHBORS_SEARCHED) return state->contacts.overlap;
  if (state->contacts.particles.list.count != state->particles.count) return NAN;
  return parallel_max(&world->core, 0, state->particles.count, OVERLAP_GRAIN, 0, overlap_chunk, (void *)state);
}
