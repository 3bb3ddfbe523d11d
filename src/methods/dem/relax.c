#include "methods/dem/relax.h"

#include <string.h>

#include "core/parallel.h"

enum { RELAX_CHUNK = 512, RELAX_PASSES = 20 };
#define RELAXATION 1.2f
#define FARTHEST 0.4f /* of the skin that a grain may go in one step */

typedef struct Relax {
  const State *state;
  float (*shift)[3], (*next)[3];
  float farthest;
} Relax;

static void place(const Relax *relax, int64_t i, float at[3]) {
  const Particles *p = &relax->state->particles;
  at[0] = p->low_x[i] + p->dx[i] + relax->shift[i][0];
  at[1] = p->low_y[i] + p->dy[i] + relax->shift[i][1];
  at[2] = p->low_z[i] + p->dz[i] + relax->shift[i][2];
}

/* From j to i, and how deep they are in each other. */
static float between(const Relax *relax, int64_t i, const float at[3], int32_t j, float way[3]) {
  const Particles *p = &relax->state->particles;
  float other[3];
  place(relax, j, other);
  way[0] = (p->x[i] - p->x[j]) + (at[0] - other[0]);
  way[1] = (p->y[i] - p->y[j]) + (at[1] - other[1]);
  way[2] = (p->z[i] - p->z[j]) + (at[2] - other[2]);
  float apart = __builtin_sqrtf(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
  if (apart > 0) {
    for (int c = 0; c < 3; c++) way[c] /= apart;
  } else {
    way[0] = way[1] = 0; /* at one place: the smaller id goes up */
    way[2] = p->id[i] < p->id[j] ? 1 : -1;
  }
  return p->radius[i] + p->radius[j] - apart;
}

static int out_of_solids(const Relax *relax, int64_t i, const float at[3], float sum[3]) {
  const State *state = relax->state;
  const Particles *p = &state->particles;
  const NeighborList *list = &state->contacts.solids.list;
  if (list->count != p->count) return 0;
  int touching = 0;
  Vec3 world = vec3_add(state->origin, vec3((double)p->x[i] + (double)at[0], (double)p->y[i] + (double)at[1],
                                            (double)p->z[i] + (double)at[2]));
  for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
    ShapePoint touch[SHAPE_CONTACTS_MAX];
    int found = solid_contacts(&state->solids.items[list->index[k]], world, (double)p->radius[i], touch);
    for (int f = 0; f < found; f++) {
      double depth = (double)p->radius[i] - touch[f].distance;
      sum[0] += (float)(depth * touch[f].normal.x);
      sum[1] += (float)(depth * touch[f].normal.y);
      sum[2] += (float)(depth * touch[f].normal.z);
      touching++;
    }
  }
  return touching;
}

/* Every grain goes half of each overlap, all of a wall's, averaged over what it touches. */
static void relax_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Relax *relax = context;
  const NeighborList *list = &relax->state->contacts.particles.list;
  for (int64_t i = b; i < e; i++) {
    float at[3], way[3], sum[3] = {0};
    place(relax, i, at);
    int touching = out_of_solids(relax, i, at, sum);
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
      float depth = between(relax, i, at, list->index[k], way);
      if (depth <= 0) continue;
      touching++;
      for (int c = 0; c < 3; c++) sum[c] += 0.5f * depth * way[c];
    }
    float *next = relax->next[i], square = 0;
    for (int c = 0; c < 3; c++) {
      next[c] = relax->shift[i][c] + (touching > 0 ? RELAXATION * sum[c] / (float)touching : 0);
      square += next[c] * next[c];
    }
    float length = __builtin_sqrtf(square);
    if (length > relax->farthest)
      for (int c = 0; c < 3; c++) next[c] *= relax->farthest / length;
  }
}

static double deepest_chunk(void *context, int64_t b, int64_t e) {
  const Relax *relax = context;
  const Particles *p = &relax->state->particles;
  const NeighborList *list = &relax->state->contacts.particles.list;
  float deepest = 0;
  for (int64_t i = b; i < e; i++) {
    float at[3], way[3];
    place(relax, i, at);
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
      int32_t j = list->index[k];
      float share = 2 * between(relax, i, at, j, way) / (p->radius[i] + p->radius[j]);
      if (share > deepest) deepest = share;
    }
  }
  return (double)deepest;
}

Status dem_relax(Step *step, double tolerated, double *deepest) {
  State *state = step->state;
  Particles *p = &state->particles;
  Relax relax = {.state = state, .farthest = FARTHEST * state->contacts.skin};
  int mark = scratch_mark(step->scratch);
  TRY(scratch_take(step->core, step->scratch, &relax.shift, p->count, "relaxation"));
  TRY(scratch_take(step->core, step->scratch, &relax.next, p->count, "relaxation"));
  memset(relax.shift, 0, sizeof *relax.shift * (size_t)p->count);
  *deepest = parallel_max(step->core, 0, p->count, RELAX_CHUNK, 0, deepest_chunk, &relax);
  if (*deepest > tolerated) {
    for (int pass = 0; pass < RELAX_PASSES; pass++) {
      parallel_for(step->core, 0, p->count, RELAX_CHUNK, relax_chunk, &relax);
      float(*swap)[3] = relax.shift;
      relax.shift = relax.next;
      relax.next = swap;
    }
    for (int64_t i = 0; i < p->count; i++) {
      p->dx[i] += relax.shift[i][0];
      p->dy[i] += relax.shift[i][1];
      p->dz[i] += relax.shift[i][2];
    }
  }
  scratch_release(step->core, step->scratch, mark);
  return SCREE_OK;
}
