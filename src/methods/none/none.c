/* none: ballistic grains that meet nothing. For tests of everything around a method, and the template for a new one
 * (docs/adding_a_method.md). Every method has these functions; this one needs no private data. */
#include "methods/none/none.h"

#include <math.h>

#include "core/parallel.h"

enum { NONE_GRAIN = 4096 };

/* A parabola is exact whatever the step; this one keeps events and emitters fine-grained. */
#define NONE_TIME_STEP 0.005

static Status none_create(Core *core, State *state, ScreeMethodDef *definition, void **data) {
  (void)core;
  (void)state;
  if (scree_is_auto(definition->time_step)) definition->time_step = NONE_TIME_STEP;
  *data = NULL;
  return SCREE_OK;
}

/* Nothing is met, so nothing is searched; the particles are sorted all the same. */
static MethodNeeds none_needs(const void *data) {
  (void)data;
  return method_needs_default();
}

static double none_largest_step(const void *data, const State *state) {
  (void)data;
  (void)state;
  return INFINITY;
}

typedef struct Flight {
  Particles *particles;
  float dt;
  float gain[3]; /* g dt */
} Flight;

/* Exact for constant gravity: d = v dt + g dt^2 / 2. */
static void fly(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Flight *flight = context;
  Particles *p = flight->particles;
  const float *gain = flight->gain, dt = flight->dt;
  for (int64_t i = b; i < e; i++) p->dx[i] = dt * (p->vx[i] + 0.5f * gain[0]);
  for (int64_t i = b; i < e; i++) p->dy[i] = dt * (p->vy[i] + 0.5f * gain[1]);
  for (int64_t i = b; i < e; i++) p->dz[i] = dt * (p->vz[i] + 0.5f * gain[2]);
}

static void speed_up(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Flight *flight = context;
  Particles *p = flight->particles;
  for (int64_t i = b; i < e; i++) p->vx[i] += flight->gain[0];
  for (int64_t i = b; i < e; i++) p->vy[i] += flight->gain[1];
  for (int64_t i = b; i < e; i++) p->vz[i] += flight->gain[2];
}

static Flight flight_of(const Step *step) {
  Vec3 gain = vec3_scale(step->state->gravity, step->dt);
  return (Flight){&step->state->particles, (float)step->dt, {(float)gain.x, (float)gain.y, (float)gain.z}};
}

static Status none_prepare(void *data, Step *step) {
  (void)data;
  Flight flight = flight_of(step);
  parallel_for(step->core, 0, step->state->particles.count, NONE_GRAIN, fly, &flight);
  return SCREE_OK;
}

static Status none_step(void *data, Step *step) {
  (void)data;
  Flight flight = flight_of(step);
  parallel_for(step->core, 0, step->state->particles.count, NONE_GRAIN, speed_up, &flight);
  return SCREE_OK;
}

static void none_destroy(Core *core, void *data) {
  (void)core;
  (void)data;
}

const Method METHOD_NONE = {
    .info = {.name = "none", .summary = "ballistic grains that meet nothing", .paper = ""},
    .particle = PARTICLE_POINT,
    .create = none_create,
    .needs = none_needs,
    .largest_step = none_largest_step,
    .prepare = none_prepare,
    .step = none_step,
    .destroy = none_destroy,
};
