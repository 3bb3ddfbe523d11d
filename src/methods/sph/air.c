/* Gravity and air (Eq. 4, 5, 17, 18; Gissler 2017). */
#include <math.h>

#include "core/parallel.h"
#define LANE_SCALAR /* one parcel at a time */
#include "methods/sph/air_law.h"
#include "methods/sph/contact.h"
#include "methods/sph/sph_kernels.h"

enum { AIR_CHUNK = 1024 };

#define AIR_DENSITY 1.2
/* Below this share of gravity drag is left out. */
#define DRAG_LEAST 1e-5

typedef struct Air {
  SphWork *work;
  SphOcclusion occlusion;
  SphAirShared is;
} Air;

static void stream_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Air *air = context;
  const SphWork *work = air->work;
  const Particles *p = &work->step->state->particles;
  float *const *sum = work->pairs.sum, *const *stream = air->occlusion.stream;
  for (int64_t i = b; i < e; i++) {
    LaneVec3 wind = vec_make(air->is.wind[0], air->is.wind[1], air->is.wind[2]);
    if (air->is.blows) {
      wind = air_deflect_surface(wind, vec_make(sum[0][i], sum[1][i], sum[2][i]), work->control.spacing);
      for (int32_t k = work->walls.start[i]; k < work->walls.start[i + 1]; k++)
        if (work->walls.contacts[k].slope > 0) wind = air_deflect(wind, contact_normal(&work->walls.contacts[k]));
    }
    stream[0][i] = wind.x - p->vx[i];
    stream[1][i] = wind.y - p->vy[i];
    stream[2][i] = wind.z - p->vz[i];
  }
}

/* Eq. 17 and 18 without friction, which belongs to the iteration. */
static void start_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Air *air = context;
  SphWork *work = air->work;
  const Particles *p = &work->step->state->particles;
  const float *v[3] = {p->vx, p->vy, p->vz};
  float *const *stream = air->occlusion.stream;
  for (int64_t i = b; i < e; i++) {
    float share = 0;
    work->motion.velocity[i][3] = p->mass[i];
    if (air->is.drag > 0)
      share = air_drag_share(vec_make(stream[0][i], stream[1][i], stream[2][i]), air->occlusion.open[i], air->is.drag,
                             p->mass[i], work->control.dt);
    for (int c = 0; c < 3; c++) {
      work->motion.velocity[i][c] = v[c][i];
      float drag = air->is.drag > 0 ? share * stream[c][i] : 0;
      work->motion.start[c][i] = v[c][i] + air->is.gain[c] + drag;
    }
  }
}

static double fastest_chunk(void *context, int64_t b, int64_t e) {
  const Particles *p = context;
  float most = 0;
  for (int64_t i = b; i < e; i++) {
    float square = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
    if (square > most) most = square;
  }
  return (double)most;
}

/* Whether the air does anything worth a pass. */
static bool air_matters(const SphWork *work, double drag, double fastest) {
  const State *state = work->step->state;
  if (!(drag > 0) || work->count == 0) return false;
  double speed = vec3_length(state->wind) + sqrt(fastest), least = INFINITY;
  for (int32_t k = 0; k < state->materials.count; k++)
    least = fmin(least, state->materials.items[k].definition.density * (double)work->control.volume);
  double g = vec3_length(state->gravity);
  return drag * speed * speed / least > DRAG_LEAST * (g > 0 ? g : 1e-3);
}

SphAirShared sph_air_of(const SphWork *work, double fastest) {
  const State *state = work->step->state;
  double drag = 0.5 * AIR_DENSITY * work->settings->drag * M_PI * state->radius * state->radius;
  SphAirShared air = {.blows = vec3_length(state->wind) > 0};
  for (int c = 0; c < 3; c++) {
    air.wind[c] = (float)vec3_get(state->wind, c);
    air.gain[c] = (float)(vec3_get(state->gravity, c) * (double)work->control.dt);
  }
  if (air_matters(work, drag, fastest)) air.drag = (float)drag;
  return air;
}

Status sph_air_start(SphWork *work) {
  Core *core = work->step->core;
  Particles *p = &work->step->state->particles;
  Air air = {.work = work};
  const bool drags = work->settings->drag > 0;
  air.is = sph_air_of(work, drags ? parallel_max(core, 0, work->count, AIR_CHUNK, 0, fastest_chunk, p) : 0);
  if (air.is.drag > 0) {
    int64_t padded = work->slices * LANES;
    for (int c = 0; c < 3; c++) {
      TRY(scratch_take(core, work->step->scratch, &air.occlusion.stream[c], padded, "sph air"));
      for (int64_t i = work->count; i < padded; i++) air.occlusion.stream[c][i] = 0;
    }
    TRY(scratch_take(core, work->step->scratch, &air.occlusion.open, padded, "sph air"));
    air.occlusion.work = work;
    parallel_for(core, 0, work->count, AIR_CHUNK, stream_chunk, &air);
    parallel_for(core, 0, work->slices, SPH_SLICE_CHUNK, KERNEL_CALL(core, sph_occlusion_pass), &air.occlusion);
  }
  parallel_for(core, 0, work->count, AIR_CHUNK, start_chunk, &air);
  if (work->control.collision > 0)
    parallel_for(core, 0, work->slices, SPH_SLICE_CHUNK, KERNEL_CALL(core, sph_collision_pass), work);
  return SCREE_OK;
}
