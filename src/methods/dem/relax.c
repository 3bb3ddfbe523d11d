#define LANE_SCALAR /* it runs at the start only */
#include "methods/dem/relax.h"

#include <string.h>

#include "core/parallel.h"
#include "methods/dem/relax_law.h"

enum { RELAX_CHUNK = 512, RELAX_PASSES = 20 };
#define FARTHEST 0.4f /* displacement of a grain in one step, as a share of the skin */

typedef struct Relax {
  const State *state;
  LaneVec3 *shift, *next; /* per grain, m: of this pass and of the next */
  float farthest;
} Relax;

/* What the floats of a grain's position leave over, its displacement and its shift. */
static LaneVec3 place(const Relax *relax, int64_t i) {
  const Particles *p = &relax->state->particles;
  return vec_make(p->low_x[i] + p->dx[i] + relax->shift[i].x, p->low_y[i] + p->dy[i] + relax->shift[i].y,
                  p->low_z[i] + p->dz[i] + relax->shift[i].z);
}

static RelaxOverlap overlap_of(const Relax *relax, int64_t i, LaneVec3 at, int32_t j) {
  const Particles *p = &relax->state->particles;
  LaneVec3 other = place(relax, j);
  LaneVec3 offset = vec_make((p->x[i] - p->x[j]) + (at.x - other.x), (p->y[i] - p->y[j]) + (at.y - other.y),
                             (p->z[i] - p->z[j]) + (at.z - other.z));
  return relax_overlap(offset, p->radius[i], p->radius[j], -(p->id[i] < p->id[j]));
}

/* Adds all of each penetration into a solid to the sum. Returns their number. */
static int add_solids(const Relax *relax, int64_t i, LaneVec3 at, LaneVec3 *sum) {
  const State *state = relax->state;
  const Particles *p = &state->particles;
  const NeighborList *list = &state->contacts.solids.list;
  if (list->count != p->count) return 0;
  int touching = 0;
  Vec3 world = vec3_add(state->origin, vec3((double)p->x[i] + (double)at.x, (double)p->y[i] + (double)at.y,
                                            (double)p->z[i] + (double)at.z));
  for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
    ShapePoint touch[SHAPE_CONTACTS_MAX];
    int found = solid_touches(&state->solids.items[list->index[k]], world, (double)p->radius[i], touch);
    for (int f = 0; f < found; f++) {
      double penetration = (double)p->radius[i] - touch[f].distance;
      sum->x += (float)(penetration * touch[f].normal.x);
      sum->y += (float)(penetration * touch[f].normal.y);
      sum->z += (float)(penetration * touch[f].normal.z);
      touching++;
    }
  }
  return touching;
}

static void relax_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Relax *relax = context;
  const NeighborList *list = &relax->state->contacts.particles.list;
  for (int64_t i = b; i < e; i++) {
    LaneVec3 at = place(relax, i), sum = vec_zero();
    int touching = add_solids(relax, i, at, &sum);
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
      RelaxOverlap overlap = overlap_of(relax, i, at, list->index[k]);
      if (overlap.penetration <= 0) continue;
      touching++;
      sum = vec_add(sum, relax_half(overlap));
    }
    relax->next[i] = relax_shift(relax->shift[i], sum, (float)touching, relax->farthest);
  }
}

static double deepest_chunk(void *context, int64_t b, int64_t e) {
  const Relax *relax = context;
  const Particles *p = &relax->state->particles;
  const NeighborList *list = &relax->state->contacts.particles.list;
  float deepest = 0;
  for (int64_t i = b; i < e; i++) {
    LaneVec3 at = place(relax, i);
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
      int32_t j = list->index[k];
      float share = relax_share(overlap_of(relax, i, at, j), p->radius[i], p->radius[j]);
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
      LaneVec3 *swap = relax.shift;
      relax.shift = relax.next;
      relax.next = swap;
    }
    for (int64_t i = 0; i < p->count; i++) {
      p->dx[i] += relax.shift[i].x;
      p->dy[i] += relax.shift[i].y;
      p->dz[i] += relax.shift[i].z;
    }
  }
  scratch_release(step->core, step->scratch, mark);
  return SCREE_OK;
}
