/* Gravity and air (Eq. 4, 5, 17, 18; Gissler 2017). */
#include <math.h>

#include "core/parallel.h"
#include "methods/sph/sph_kernels.h"
#include "methods/sph/work.h"

enum { AIR_CHUNK = 1024 };

#define AIR_DENSITY 1.2
/* Below this share of gravity drag is left out. */
#define DRAG_LEAST 1e-5
/* A free surface shows in the sum of the gradients, 1/spacing: that of a flat one is 0.5. */
#define SURFACE_LEAST 0.2

typedef struct Air {
  SphWork *work;
  SphOcclusion occlusion;
  float *stream[3];
  float wind[3], gain[3];
  float drag; /* 1/2 rho C A, kg/m */
  bool blows;
} Air;

/* Air that meets a surface flows along it: what blows into it is taken away. */
static void deflect(float wind[3], const float normal[3]) {
  float into = wind[0] * normal[0] + wind[1] * normal[1] + wind[2] * normal[2];
  if (into < 0)
    for (int c = 0; c < 3; c++) wind[c] -= into * normal[c];
}

static void stream_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Air *air = context;
  const SphWork *work = air->work;
  const Particles *p = &work->step->state->particles;
  const float *v[3] = {p->vx, p->vy, p->vz};
  for (int64_t i = b; i < e; i++) {
    float wind[3] = {air->wind[0], air->wind[1], air->wind[2]};
    if (air->blows) {
      float sum[3] = {work->sum[0][i], work->sum[1][i], work->sum[2][i]}, square = 0;
      for (int c = 0; c < 3; c++) square += sum[c] * sum[c];
      float length = sqrtf(square);
      if (length * work->spacing > (float)SURFACE_LEAST) {
        /* the sum points into the sand */
        float normal[3] = {-sum[0] / length, -sum[1] / length, -sum[2] / length};
        deflect(wind, normal);
      }
      for (int32_t k = work->wall_start[i]; k < work->wall_start[i + 1]; k++)
        if (work->walls[k].slope > 0) deflect(wind, work->walls[k].normal);
    }
    for (int c = 0; c < 3; c++) air->stream[c][i] = wind[c] - v[c][i];
  }
}

/* Drag implicitly: u' = u / (1 + k |u| dt), which never overshoots. */
static void start_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Air *air = context;
  SphWork *work = air->work;
  const Particles *p = &work->step->state->particles;
  const float *v[3] = {p->vx, p->vy, p->vz};
  for (int64_t i = b; i < e; i++) {
    float share = 0;
    work->velocity[i][3] = p->mass[i];
    if (air->drag > 0) {
      float x = air->stream[0][i], y = air->stream[1][i], z = air->stream[2][i];
      float k = air->drag * air->occlusion.open[i] / p->mass[i] * sqrtf(x * x + y * y + z * z) * work->dt;
      share = k / (1 + k);
    }
    for (int c = 0; c < 3; c++) {
      work->velocity[i][c] = v[c][i];
      float drag = air->drag > 0 ? share * air->stream[c][i] : 0;
      work->start[c][i] = v[c][i] + air->gain[c] + drag;
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
static bool air_matters(const SphWork *work, double drag) {
  const State *state = work->step->state;
  if (!(drag > 0) || work->count == 0) return false;
  double speed = vec3_length(state->wind) + sqrt(parallel_max(work->step->core, 0, work->count, AIR_CHUNK, 0,
                                                              fastest_chunk, (void *)&state->particles));
  double least = INFINITY;
  for (int32_t k = 0; k < state->materials.count; k++)
    least = fmin(least, state->materials.items[k].definition.density * (double)work->volume);
  double g = vec3_length(state->gravity);
  return drag * speed * speed / least > DRAG_LEAST * (g > 0 ? g : 1e-3);
}

Status sph_air_start(SphWork *work) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  double drag = 0.5 * AIR_DENSITY * work->settings->drag * M_PI * state->radius * state->radius;
  Air air = {.work = work, .blows = vec3_length(state->wind) > 0};
  for (int c = 0; c < 3; c++) {
    air.wind[c] = (float)vec3_get(state->wind, c);
    air.gain[c] = (float)(vec3_get(state->gravity, c) * (double)work->dt);
  }
  if (air_matters(work, drag)) {
    int64_t padded = work->groups * LANES;
    air.drag = (float)drag;
    for (int c = 0; c < 3; c++) {
      TRY(scratch_take(core, work->step->scratch, &air.stream[c], padded, "sph air"));
      air.occlusion.stream[c] = air.stream[c];
      for (int64_t i = work->count; i < padded; i++) air.stream[c][i] = 0;
    }
    TRY(scratch_take(core, work->step->scratch, &air.occlusion.open, padded, "sph air"));
    air.occlusion.work = work;
    parallel_for(core, 0, work->count, AIR_CHUNK, stream_chunk, &air);
    parallel_for(core, 0, work->groups, SPH_GROUP_CHUNK, KERNEL_CALL(core, sph_occlusion_pass), &air.occlusion);
  }
  parallel_for(core, 0, work->count, AIR_CHUNK, start_chunk, &air);
  if (work->collision > 0)
    parallel_for(core, 0, work->groups, SPH_GROUP_CHUNK, KERNEL_CALL(core, sph_collision_pass), work);
  return SCREE_OK;
}
