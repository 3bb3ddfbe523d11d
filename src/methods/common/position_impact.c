/* Steps while a heavy body runs into grains.
 *
 * A contact tells its two sides of each other by the lighter one's mass: a pass adds to the multiplier what stops a
 * grain. A body of M that lands on grains of m is so borne by springs of about m / h^2 and runs on for h sqrt(M / m)
 * before they hold it. And pairs get their slots at the prediction, which knows nothing of what a blow sends ahead of
 * the body within the step: the grains that it pushes then run into others without a contact. Both shrink with the
 * step. (Scaling the remembered multipliers round a body by what its speed asks for was tried: it takes the rebound
 * away and leaves the depth, since what a chain of grains bears still grows by a contact a pass.)
 *
 * So a step is no longer than a heavy body takes for POSITION_IMPACT_WAY radii, but need not be so short that waves
 * through grains become faster than POSITION_IMPACT_WAVE sqrt(M / m): from there on a contact is as stiff as one of dem
 * with its default modulus. docs/methods/pbd.md has the depths. */
#include <math.h>

#include "methods/common/position.h"
#include "state/solid_touch.h"

/* What a body moves among. */
typedef struct Surroundings {
  double mass;
  Vec3 momentum;
  int64_t count;
} Surroundings;

static Surroundings surroundings_of(const State *state, Vec3 center, double reach) {
  const Particles *p = &state->particles;
  Surroundings found = {0};
  for (int64_t i = 0; i < p->count; i++) {
    const Vec3 from = vec3_sub(state_position(state, i), center);
    if (vec3_dot(from, from) > reach * reach) continue;
    const double mass = (double)p->mass[i];
    found.count++;
    found.mass += mass;
    found.momentum = vec3_madd(found.momentum, vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]), mass);
  }
  return found;
}

/* The longest step for a body that moves at `speed` against grains of which it has the mass of `ratio`. */
static double impact_step(const PositionSettings *settings, double radius, double speed, double ratio) {
  const double wave = POSITION_IMPACT_WAVE * sqrt(fmin(ratio, POSITION_IMPACT_RATIO));
  return fmax(POSITION_IMPACT_WAY * radius / speed, settings->iterations * radius / wave);
}

/* Whether the body may ask for steps shorter than the scene's, whatever it moves among. */
static bool may_land(const PositionSettings *settings, const State *state, const Solid *solid) {
  const double speed = vec3_length(solid->velocity);
  return solid->motion == MOTION_FREE && speed > 0 &&
         impact_step(settings, state->radius, speed, POSITION_IMPACT_RATIO) < settings->time_step;
}

bool position_impact_looks(const PositionSettings *settings, const State *state) {
  bool looks = false;
  if (settings->averaging || settings->iterations < 1) return false;
  for (int32_t k = 0; k < state->solids.count; k++) looks |= may_land(settings, state, &state->solids.items[k]);
  return looks;
}

double position_impact_step(const PositionSettings *settings, const State *state) {
  double longest = INFINITY;
  if (settings->averaging || settings->iterations < 1) return longest;
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    const double speed = vec3_length(solid->velocity), radius = state->radius;
    if (!may_land(settings, state, solid)) continue;
    const double reach = solid_extent(solid, solid->center_in_shape) + radius + speed * settings->time_step;
    const Surroundings round = surroundings_of(state, solid->center, reach);
    if (round.count == 0) continue;
    const Vec3 against = vec3_madd(solid->velocity, round.momentum, -1 / round.mass);
    const double ratio = solid->mass * (double)round.count / round.mass;
    longest = fmin(longest, impact_step(settings, radius, vec3_length(against), ratio));
  }
  return longest;
}
