/* The coarse grains as the fine ones see them this frame: in the order of their cells, with the velocity that they had
 * in the mean over the frame (better) or have at its end (paper). */
#define LANE_SCALAR /* laws for one grain */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "upsample/internal.h"

/* Short, so that other threads wake up at the beginning of the frame and stay awake: all are needed soon. */
enum { COARSE_CHUNK = 1024, STIRS_RANGES = 192 };

typedef struct Gather {
  Upsample *up;
  const Particles *particles;
  const SolidSamples *samples;
  float *x, *y, *z; /* where a coarse grain counts, in the order of the particles */
  float *vx, *vy, *vz;
  const int32_t *index;
  CoarseSet *set;
  CoarseRate rate;
} Gather;

static void gather_paper(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Gather *g = context;
  const Particles *p = g->particles;
  for (int64_t i = b; i < e; i++) {
    g->x[i] = p->x[i], g->y[i] = p->y[i], g->z[i] = p->z[i];
    g->vx[i] = p->vx[i], g->vy[i] = p->vy[i], g->vz[i] = p->vz[i];
  }
}

static void gather_better(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Gather *g = context;
  const Particles *p = g->particles;
  Upsample *up = g->up;
  const CoarseRate rate = g->rate;
  for (int64_t i = b; i < e; i++) {
    LaneVec3 now = vec_make(p->x[i], p->y[i], p->z[i]), seen = vec_make(up->seen.x[i], up->seen.y[i], up->seen.z[i]);
    if (!up->seen.known[i]) seen = coarse_born(now, vec_make(p->vx[i], p->vy[i], p->vz[i]), rate);
    CoarseLook look = coarse_look(now, seen, rate);
    g->x[i] = look.at.x, g->y[i] = look.at.y, g->z[i] = look.at.z;
    g->vx[i] = look.velocity.x, g->vy[i] = look.velocity.y, g->vz[i] = look.velocity.z;
    up->seen.x[i] = look.seen.x, up->seen.y[i] = look.seen.y, up->seen.z[i] = look.seen.z;
    up->seen.known[i] = 1;
  }
}

static void gather_samples(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Gather *g = context;
  const SolidSamples *s = g->samples;
  for (int64_t i = b; i < e; i++) {
    g->x[i] = s->x[i], g->y[i] = s->y[i], g->z[i] = s->z[i];
    g->vx[i] = s->vx[i], g->vy[i] = s->vy[i], g->vz[i] = s->vz[i];
  }
}

static void sort_rows(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Gather *g = context;
  CoarseSet *set = g->set;
  for (int64_t k = b; k < e; k++) {
    int32_t i = g->index[k];
    float vx = g->vx[i], vy = g->vy[i], vz = g->vz[i];
    set->rows[k] = (CoarseRow){g->x[i], g->y[i], g->z[i], vx, vy, vz, vx * vx + vy * vy + vz * vz, 0};
    set->x[k] = g->x[i], set->y[k] = g->y[i], set->z[k] = g->z[i];
  }
}

static Status set_build(Core *core, Upsample *up, Scratch *scratch, Gather *g, int64_t count, const uint32_t *id,
                        CoarseGrid *grid, ParallelBody gather, CoarseSet *set) {
  *set = (CoarseSet){.count = count};
  TRY(scratch_take(core, scratch, &set->rows, count, "coarse rows"));
  TRY(scratch_take(core, scratch, &set->x, count + LANES_MOST, "coarse rows"));
  TRY(scratch_take(core, scratch, &set->y, count + LANES_MOST, "coarse rows"));
  TRY(scratch_take(core, scratch, &set->z, count + LANES_MOST, "coarse rows"));
  float **arrays[6] = {&g->x, &g->y, &g->z, &g->vx, &g->vy, &g->vz};
  for (int a = 0; a < 6; a++) TRY(scratch_take(core, scratch, arrays[a], count, "coarse grains"));
  parallel_for(core, 0, count, COARSE_CHUNK, gather, g);
  Points points = {count, g->x, g->y, g->z, id};
  TRY(coarse_grid_build(core, grid, scratch, points, (float)(REACH * up->coarse_radius)));
  g->index = coarse_grid_index(grid);
  g->set = set;
  parallel_for(core, 0, count, COARSE_CHUNK, sort_rows, g);
  for (int64_t k = count; k < count + LANES_MOST; k++) set->x[k] = set->y[k] = set->z[k] = 0;
  return SCREE_OK;
}

/* Counts those that are not at rest, to know where nothing needs to be done. */
static Status find_moving(Core *core, Scratch *scratch, CoarseSets *sets) {
  const CoarseSet *set = &sets->grains;
  TRY(scratch_take(core, scratch, &sets->moving_before, set->count + 1, "moving grains"));
  int64_t count = 0;
  for (int64_t k = 0; k < set->count; k++) {
    sets->moving_before[k] = count;
    count += set->rows[k].square != 0;
  }
  sets->moving_before[set->count] = sets->moving = count;
  return SCREE_OK;
}

CoarseRate coarse_rate(const Upsample *up, double dt) {
  const float least = (float)(REST * up->coarse_radius), per_second = (float)(1 / dt);
  return (CoarseRate){.least = least * least, .per_second = per_second, .dt = 1 / per_second};
}

void coarse_bounds(const Core *core, const CoarseSet *set, float bounds[6]) {
  for (int k = 0; k < 6; k++) bounds[k] = 0;
  if (set->count > 0) KERNEL_CALL(core, fine_bounds)(set->x, set->y, set->z, set->count, bounds);
}

Status coarse_gather_samples(Core *core, Upsample *up, const State *state, Scratch *scratch, CoarseSets *sets) {
  Gather gather = {.up = up, .samples = &state->samples};
  if (up->definition.mode != SCREE_UPSAMPLE_PAPER || state->samples.count == 0) return SCREE_OK;
  return set_build(core, up, scratch, &gather, state->samples.count, state->samples.id, &up->sample_grid,
                   gather_samples, &sets->samples);
}

Status coarse_gather(Core *core, Upsample *up, const State *state, Scratch *scratch, double dt, CoarseSets *sets) {
  bool paper = up->definition.mode == SCREE_UPSAMPLE_PAPER;
  Gather gather = {.up = up, .particles = &state->particles, .rate = coarse_rate(up, dt)};
  *sets = (CoarseSets){.moving = state->particles.count};
  TRY(coarse_fields_fetch(core, state));
  TRY(set_build(core, up, scratch, &gather, state->particles.count, state->particles.id, &up->coarse_grid,
                paper ? gather_paper : gather_better, &sets->grains));
  coarse_fields_changed(state);
  TRY(coarse_gather_samples(core, up, state, scratch, sets));
  return paper || up->device ? SCREE_OK : find_moving(core, scratch, sets); /* only the CPU lets sand rest */
}

bool coarse_stirs(const Upsample *up, const CoarseSets *sets, const float bounds[6], float reach) {
  if (sets->moving > 0) {
    int64_t ranges[STIRS_RANGES][2];
    float wide[6];
    bounds_widen(bounds, reach, wide);
    int count = coarse_grid_box(&up->coarse_grid, wide, STIRS_RANGES, ranges);
    if (count > STIRS_RANGES) return true; /* wider than is worth a search */
    for (int k = 0; k < count; k++)
      if (sets->moving_before[ranges[k][1]] > sets->moving_before[ranges[k][0]]) return true;
  }
  for (int32_t k = 0; k < up->solid_count; k++) {
    const FineSolid *solid = &up->solids[k];
    if (solid->moved > 0 && solid_view_gap(solid, bounds, 1) < (double)reach + solid->moved) return true;
  }
  return false;
}
