/* Events: things that happen at a moment. */
#include <math.h>

#include "core/parallel.h"
#include "world/births.h"

enum { EVENT_GRAIN = 4096 };

typedef struct Throw {
  State *state;
  Vec3 center;
  double radius, speed;
} Throw;

static double throw_chunk(void *context, int64_t b, int64_t e) {
  const Throw *t = context;
  Particles *p = &t->state->particles;
  double fastest = 0;
  for (int64_t i = b; i < e; i++) {
    Vec3 away = vec3_sub(state_position(t->state, i), t->center);
    double distance = vec3_length(away);
    if (distance > t->radius) continue;
    Vec3 kick = distance > 0 ? vec3_scale(away, t->speed / distance) : vec3(0, 0, t->speed);
    p->vx[i] += (float)kick.x;
    p->vy[i] += (float)kick.y;
    p->vz[i] += (float)kick.z;
    double speed = sqrt((double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]));
    if (speed > fastest) fastest = speed;
  }
  return fastest;
}

void world_throw(ScreeWorld *world, Vec3 center, double radius, double speed) {
  Throw t = {&world->state, center, radius, speed};
  double fastest =
      parallel_max(&world->core, 0, world->state.particles.count, EVENT_GRAIN, world->tally.speed, throw_chunk, &t);
  world->tally.speed = fastest; /* the next step must be short enough for it */
}

/* Those whose time lies in the step that begins now. The step was chosen before they were known, so they act on the
 * velocities and the CFL rule sees them from the following step on; a first step is at most time_step long. */
Status world_events(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  for (int32_t k = 0; k < scene->event_count; k++) {
    const ScreeEventDef *event = &scene->events[k];
    if (world->events_done[k] || event->t > world->state.time + 1e-12) continue;
    world->events_done[k] = true;
    const ScreeImpulseDef *impulse = &event->impulse;
    if (world->on_device) TRY(world_throw_there(world, impulse->center, impulse->radius, impulse->speed));
    else world_throw(world, impulse->center, impulse->radius, impulse->speed);
  }
  return SCREE_OK;
}
