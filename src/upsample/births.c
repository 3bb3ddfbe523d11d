/* Emitters and ground that is dug up bring fine grains with each coarse one; sinks take those that are in them, and
 * ground those of the grains that it buries. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "sampling/radii.h"
#include "upsample/internal.h"

enum { SINK_CHUNK = 4096 };

/* Settled sand gives a coarse grain this many radii all round: its share of the volume. */
#define SHARE_RADIUS 1.186

typedef struct Born {
  uint32_t id;
  int64_t at; /* in the particles, -1: gone again */
  const Birth *birth;
} Born;

static int by_id(const void *a, const void *b) {
  uint32_t x = ((const Born *)a)->id, y = ((const Born *)b)->id;
  return x < y ? -1 : x > y;
}

static bool brings_grains(const Birth *birth) { return birth->reason == REASON_EMIT || birth->reason == REASON_EXHUME; }

static double sphere_radius(const State *state, const Birth *birth) {
  return state->parcels ? PARCEL_SPHERE * (double)birth->radius : (double)birth->radius;
}

/* As much solid as the coarse grain has, the fraction drawn by its id. */
static int64_t fine_per_coarse(const Upsample *up, const State *state, const Birth *birth) {
  const ScreeMaterialDef *material = &state->materials.items[birth->material].definition;
  double radius = sphere_radius(state, birth), volume = 4.0 / 3 * M_PI * radius * radius * radius;
  double each = radii_mean_volume(up->definition.radius, material->radius_spread, material->radius_distribution);
  return (int64_t)(volume / each + rng_unit(rng_bits(state->seed, birth->id, 0, RNG_UPSAMPLE)));
}

/* A turn that is equally likely to be any: a point of the unit ball in four dimensions, put on its surface. */
static Quat any_turn(uint64_t bits) {
  for (int attempt = 0; attempt < 64; attempt++) {
    double q[4], square = 0;
    for (int k = 0; k < 4; k++) {
      bits = rng_mix(bits);
      q[k] = 2 * rng_unit(bits) - 1;
      square += q[k] * q[k];
    }
    if (square > 0.01 && square <= 1) return quat_normalize((Quat){q[0], q[1], q[2], q[3]});
  }
  return quat_identity();
}

/* The next of a sequence of points that fills the unit ball evenly: multiples of powers of 1/g, g^4 = g + 1, modulo 1
 * fill the cube round it (Roberts), and those outside are left out. */
static Vec3 ball_point(int64_t *n) {
  for (;; ++*n) {
    double k = (double)*n + 0.5;
    Vec3 at = vec3(2 * fmod(k * 0.8191725133961645, 1) - 1, 2 * fmod(k * 0.6710436067037893, 1) - 1,
                   2 * fmod(k * 0.5497004779019703, 1) - 1);
    if (vec3_dot(at, at) <= 1) {
      ++*n;
      return at;
    }
  }
}

static void bear(const Upsample *up, const State *state, const Born *born, FineGrains *grains, int64_t count,
                 int64_t first) {
  const Particles *p = &state->particles;
  const ScreeMaterialDef *material = &state->materials.items[born->birth->material].definition;
  uint64_t seed = state->seed, id = born->id;
  Quat turn = any_turn(rng_bits(seed, id, 1, RNG_UPSAMPLE));
  double extent = SHARE_RADIUS * sphere_radius(state, born->birth) - up->definition.radius;
  Vec3 from = vec3((double)p->x[born->at], (double)p->y[born->at], (double)p->z[born->at]);
  int64_t sequence = 0;
  for (int64_t k = 0; k < count; k++) {
    int64_t i = first + k;
    Vec3 at = vec3_madd(from, quat_rotate(turn, ball_point(&sequence)), extent);
    grains->vx[i] = p->vx[born->at];
    grains->vy[i] = p->vy[born->at];
    grains->vz[i] = p->vz[born->at];
    grains->radius[i] = (float)radii_draw(up->definition.radius, material->radius_spread, material->radius_distribution,
                                          rng_bits(seed, grains->id[i], 2, RNG_UPSAMPLE));
    if (up->definition.mode == SCREE_UPSAMPLE_BETTER) solids_put_out(up, (double)grains->radius[i], &at);
    grains->x[i] = (float)at.x, grains->y[i] = (float)at.y, grains->z[i] = (float)at.z;
    grains->material[i] = (uint8_t)born->birth->material;
  }
}

static Status births_add(Core *core, Upsample *up, const State *state, Born *born, int64_t count) {
  const Particles *p = &state->particles;
  qsort(born, (size_t)count, sizeof *born, by_id);
  for (int64_t i = 0; i < p->count; i++) {
    Born key = {.id = p->id[i]};
    if (key.id < born[0].id || key.id > born[count - 1].id) continue;
    Born *found = bsearch(&key, born, (size_t)count, sizeof key, by_id);
    if (found) found->at = i;
  }
  for (int64_t k = 0; k < count; k++) {
    if (born[k].at < 0) continue;
    int64_t fine = fine_per_coarse(up, state, born[k].birth), first = 0;
    FineGrains *table = NULL;
    TRY(fine_append(core, up, fine, &table, &first));
    bear(up, state, &born[k], table, fine, first);
  }
  return SCREE_OK;
}

Status fine_births(Core *core, Upsample *up, const State *state) {
  const Queue *queue = &state->queue;
  int64_t count = 0;
  for (int64_t k = 0; k < queue->done_birth_count; k++) count += brings_grains(&queue->done_births[k]);
  if (count == 0) return SCREE_OK;
  Born *born = NULL;
  TRY(memory_new(core, &born, count, "births"));
  count = 0;
  for (int64_t k = 0; k < queue->done_birth_count; k++)
    if (brings_grains(&queue->done_births[k]))
      born[count++] = (Born){queue->done_births[k].id, -1, &queue->done_births[k]};
  Status status = births_add(core, up, state, born, count);
  memory_drop(core, &born);
  return status;
}

typedef struct Drain {
  const Core *core;
  const FineGrains *grains;
  const State *state;
  const Solids *sinks;
  float share; /* m, round a buried grain */
  uint8_t *gone;
} Drain;

/* What the ground has buried takes the fine grains in its share of the volume along. */
static void bury_run(const Drain *drain, int64_t b, int64_t e) {
  const FineGrains *g = drain->grains;
  const Queue *queue = &drain->state->queue;
  float bounds[6], share2 = drain->share * drain->share;
  KERNEL_CALL(drain->core, fine_bounds)(g->x + b, g->y + b, g->z + b, e - b, bounds);
  for (int64_t k = 0; k < queue->done_death_count; k++) {
    const Death *death = &queue->done_deaths[k];
    const float at[3] = {death->x, death->y, death->z};
    bool near = death->reason == REASON_BURY;
    for (int axis = 0; axis < 3; axis++)
      near = near && at[axis] > bounds[axis] - drain->share && at[axis] < bounds[3 + axis] + drain->share;
    if (!near) continue;
    for (int64_t i = b; i < e; i++) {
      float dx = g->x[i] - at[0], dy = g->y[i] - at[1], dz = g->z[i] - at[2];
      if (dx * dx + dy * dy + dz * dz < share2) drain->gone[i] = 1;
    }
  }
}

static void drain_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Drain *drain = context;
  const FineGrains *g = drain->grains;
  for (int64_t i = b; i < e; i++) {
    drain->gone[i] = 0;
    if (drain->sinks->count == 0) continue;
    Vec3 at = vec3_add(drain->state->origin, vec3((double)g->x[i], (double)g->y[i], (double)g->z[i]));
    for (int32_t k = 0; k < drain->sinks->count && !drain->gone[i]; k++)
      drain->gone[i] = solid_contains(&drain->sinks->items[k], at);
  }
  if (drain->share == 0) return;
  for (int64_t i = b; i < e; i += FINE_BLOCK) bury_run(drain, i, i + FINE_BLOCK < e ? i + FINE_BLOCK : e);
}

static bool some_buried(const Queue *queue) {
  for (int64_t k = 0; k < queue->done_death_count; k++)
    if (queue->done_deaths[k].reason == REASON_BURY) return true;
  return false;
}

Status fine_deaths(Core *core, Upsample *up, const State *state, const Solids *sinks, Scratch *scratch) {
  bool buried = some_buried(&state->queue);
  if ((sinks->count == 0 && !buried) || up->grains.count == 0) return SCREE_OK;
  int64_t count = up->grains.count, kept = 0;
  int mark = scratch_mark(scratch);
  uint8_t *gone = NULL;
  int32_t *order = NULL;
  TRY(scratch_take(core, scratch, &gone, count, "drained"));
  float share = buried ? (float)(SHARE_RADIUS * up->coarse_radius) : 0;
  Drain drain = {core, &up->grains, state, sinks, share, gone};
  parallel_for(core, 0, count, SINK_CHUNK, drain_chunk, &drain);
  for (int64_t i = 0; i < count; i++) kept += !gone[i];
  Status status = SCREE_OK;
  if (kept < count) {
    status = scratch_take(core, scratch, &order, kept, "survivors");
    int64_t same = 0;
    while (!gone[same]) same++;
    for (int64_t i = 0, k = 0; status == SCREE_OK && i < count; i++)
      if (!gone[i]) order[k++] = (int32_t)i;
    if (status == SCREE_OK) status = fine_permute(core, up, scratch, order, kept, same);
  }
  scratch_release(core, scratch, mark);
  return status;
}
