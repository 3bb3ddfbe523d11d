/* Exchange takes support from grains at rest and gives them another. What they fall until they feel it is no motion of
 * the material: it should not shake a slope into sliding. So grains that were at rest come down through a thick fluid,
 * for as long as it takes, unless something strikes them. */
#include "core/parallel.h"
#include "terrain/parts.h"

enum { SETTLE_CHUNK = 4096 };

/* They sink at this many sqrt(g r), for so many sqrt(r / g); faster than so many sqrt(g r), something has struck them.
 * A grain comes down by a radius at the most. */
#define SINKING 0.1
#define SETTLING 12.0
#define STRUCK 0.6
/* Seconds of rest that a grain has behind it then. */
#define SETTLED_REST 0.2f

typedef struct Settling {
  State *state;
  const uint8_t *marked;
  float keeps, struck2, dt;
} Settling;

static void mark_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Settling *settling = context;
  const State *state = settling->state;
  const Terrain *t = state->terrain;
  for (int64_t i = b; i < e; i++) {
    if (!(t->rest[i] > 0)) continue;
    Vec3 at = vec3_sub(state_position(state, i), t->origin);
    if (settling->marked[column_of(t, at.x, at.y)]) t->rest[i] = -settling->dt;
  }
}

/* A unit of time, sqrt(r / g); without gravity nothing settles. */
static double settling_unit(const State *state) {
  double g = vec3_length(state->gravity);
  return g > 0 ? sqrt(state->radius / g) : 0;
}

void ground_settle_over(Core *core, State *state, const uint8_t *marked) {
  double seconds = SETTLING * settling_unit(state);
  Settling settling = {.state = state, .marked = marked, .dt = (float)seconds};
  parallel_for(core, 0, state->particles.count, SETTLE_CHUNK, mark_chunk, &settling);
  state->terrain->settled_at = state->time + seconds;
}

static void settle_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Settling *settling = context;
  Particles *p = &settling->state->particles;
  float *rest = settling->state->terrain->rest;
  for (int64_t i = b; i < e; i++) {
    if (!(rest[i] < 0)) continue;
    float speed = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
    float keeps = speed < settling->struck2 ? settling->keeps : 1;
    rest[i] = !(speed < settling->struck2) ? 0 : rest[i] + settling->dt < 0 ? rest[i] + settling->dt : SETTLED_REST;
    p->vx[i] *= keeps;
    p->vy[i] *= keeps;
    p->vz[i] *= keeps;
  }
}

void ground_settle(Core *core, State *state, double dt) {
  double unit = settling_unit(state), g = vec3_length(state->gravity);
  if (!(state->time < state->terrain->settled_at + dt) || !(unit > 0)) return;
  Settling settling = {.state = state,
                       .keeps = (float)(1 / (1 + dt / (SINKING * unit))),
                       .struck2 = (float)(STRUCK * STRUCK * g * state->radius),
                       .dt = (float)dt};
  parallel_for(core, 0, state->particles.count, SETTLE_CHUNK, settle_chunk, &settling);
}
