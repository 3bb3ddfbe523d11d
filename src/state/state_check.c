/* What a checkpoint said about the state, looked at once after all of it was read: a file may say anything, and a step
 * looks up materials, grains and solids by the numbers in it. */
#include <math.h>

#include "state/state.h"
#include "state/state_bounds.h"

/* Nor is one that much heavier or lighter than a cube of its material as wide as the nominal one. */
#define MASS_MOST 1e6

static bool mass_possible(const State *state, int32_t material, float mass) {
  const ScreeMaterialDef *stuff = &state->materials.items[material].definition;
  double share = (double)mass / (parcel_volume(state->radius) * fmax(stuff->grain_density, stuff->density));
  return share > 1 / MASS_MOST && share < MASS_MOST;
}

static bool within(Vec3 vector, double most) {
  return fabs(vector.x) < most && fabs(vector.y) < most && fabs(vector.z) < most;
}

static bool motion_possible(Vec3 position, Vec3 velocity) {
  return within(position, STATE_FAR_MOST) && within(velocity, STATE_SPEED_MOST);
}

static Status check_grains(Core *core, const Archive *archive, const State *state) {
  const Particles *p = &state->particles;
  TRY(particles_check(core, archive, p));
  for (int64_t i = 0; i < p->count; i++) {
    if (p->material[i] >= state->materials.count)
      return archive_refuse(core, archive, "grain %u is of material %d of %d", p->id[i], p->material[i] + 1,
                            state->materials.count);
    Vec3 velocity = vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
    if (!motion_possible(state_position(state, i), velocity) ||
        !within(vec3((double)p->dx[i], (double)p->dy[i], (double)p->dz[i]), STATE_FAR_MOST))
      return archive_refuse(core, archive, "grain %u is farther away or faster than anything", p->id[i]);
    if (!state_radius_possible((double)p->radius[i], state->radius) ||
        !mass_possible(state, p->material[i], p->mass[i]))
      return archive_refuse(core, archive, "grain %u has radius %g m and mass %g kg", p->id[i], (double)p->radius[i],
                            (double)p->mass[i]);
  }
  return SCREE_OK;
}

static Status check_queue(Core *core, const Archive *archive, const State *state) {
  const Queue *queue = &state->queue;
  uint32_t next = state->particles.next_id;
  for (int64_t k = 0; k < queue->birth_count; k++) {
    const Birth *birth = &queue->births[k];
    bool reason = birth->reason == REASON_EMIT || birth->reason == REASON_SPLIT || birth->reason == REASON_MERGE ||
                  birth->reason == REASON_EXHUME;
    if (!reason || birth->material < 0 || birth->material >= state->materials.count || birth->parent >= next ||
        !motion_possible(birth->position, birth->velocity) ||
        !state_radius_possible((double)birth->radius, state->radius) ||
        !mass_possible(state, birth->material, birth->mass))
      return archive_refuse(core, archive, "birth %lld of the queue cannot be", (long long)k + 1);
  }
  for (int64_t k = 0; k < queue->death_count; k++) {
    const Death *death = &queue->deaths[k];
    bool reason = death->reason == REASON_SINK || death->reason == REASON_SPLIT || death->reason == REASON_MERGE ||
                  death->reason == REASON_BURY;
    if (!reason || death->id == 0 || death->id >= next || death->heir >= next || !isfinite(death->mass))
      return archive_refuse(core, archive, "death %lld of the queue cannot be", (long long)k + 1);
  }
  return SCREE_OK;
}

static Status check_solids(Core *core, const Archive *archive, const Solids *solids) {
  for (int32_t k = 0; k < solids->count; k++) {
    const Solid *s = &solids->items[k];
    const Vec3 vectors[] = {s->position,       s->center,  s->velocity,        s->spin,        s->outside_force,
                            s->outside_torque, s->impulse, s->angular_impulse, s->frame_force, s->frame_torque};
    bool finite = doubles_finite(&s->inverse_inertia[0][0], 36) && doubles_finite(s->driven, 6);
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) finite = finite && vec3_finite(vectors[v]);
    if (!finite || !quat_usable(s->rotation) || !motion_possible(s->position, s->velocity) ||
        !motion_possible(s->center, s->spin))
      return archive_refuse(core, archive, "state of '%s' is not finite", s->name);
  }
  return SCREE_OK;
}

Status state_check(Core *core, const Archive *archive, const State *state) {
  if (!isfinite(state->time) || state->time < 0 || state->step < 0 || state->frame < 0)
    return archive_refuse(core, archive, "it is of no time");
  TRY(check_grains(core, archive, state));
  TRY(check_solids(core, archive, &state->solids));
  return check_queue(core, archive, state);
}
