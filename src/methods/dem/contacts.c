#include "methods/dem/contacts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/dem/contact_kernels.h"
#include "methods/dem/pairs.h"
#include "methods/dem/touches.h"

/* A contact reaches at most 2^26 units of the rows' positions: finer than a float of its length can tell. */
#define REACH_BITS 26

static double radius_chunk(void *context, int64_t b, int64_t e) {
  const Particles *p = context;
  float largest = 0;
  for (int64_t i = b; i < e; i++) largest = p->radius[i] > largest ? p->radius[i] : largest;
  return (double)largest;
}

/* Chosen with the lists: only then can there be larger grains. */
static void choose_quantum(DemStep *work) {
  const State *state = work->step->state;
  DemTopology *t = work->topology;
  double largest =
      parallel_max(work->step->core, 0, work->grains, DEM_CHUNK, 0, radius_chunk, (void *)&state->particles);
  int exponent;
  frexp(2 * fmax(largest, state->radius) + 2 * (double)state->contacts.skin, &exponent);
  t->quantum = ldexp(1, exponent - REACH_BITS);
}

void dem_contacts_fill(DemStep *work, ParallelBody body) {
  parallel_for(work->step->core, 0, work->grains, DEM_CHUNK, body, work);
}

Status dem_contacts_begin(DemStep *work) {
  /* Sorted anew, or in another unit: rows that were filled beforehand are of no use. */
  if (work->topology->builds != work->step->state->contacts.builds || !(work->topology->quantum > 0)) {
    choose_quantum(work);
    dem_contacts_fill(work, KERNEL_CALL(work->step->core, dem_row_pass));
  }
  return dem_topology_update(work);
}

/* Pairs of a slab's grains with those of later ones. */
static void outer_pass(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const DemStep *work = context;
  const int32_t *outer = work->topology->outer.start;
  work->stiffest[b / work->topology->slab] = KERNEL_CALL(work->step->core, dem_outer_forces)(work, outer[b], outer[e]);
}

/* One slab: forces of its contacts, kicks. */
static void slab_pass(void *context, int64_t b, int64_t e, int thread) {
  const DemStep *work = context;
  const Core *core = work->step->core;
  const DemTopology *t = work->topology;
  const int32_t *pairs = t->pairs.start, *solids = t->solids.start;
  float(*sums)[DEM_SUM] = work->sums + thread * work->sums_size, (*results)[DEM_SUM] = sums + t->slab;
  memset(sums, 0, sizeof *sums * (size_t)(e - b));
  KERNEL_CALL(core, dem_sum_outer)(work, b, e, sums);
  dem_touches_refresh(work, solids[b], solids[e]);
  float *stiffest = &work->stiffest[b / t->slab];
  *stiffest = fmaxf(*stiffest, KERNEL_CALL(core, dem_pair_forces)(work, pairs[b], pairs[e], b, sums));
  *stiffest = fmaxf(*stiffest, KERNEL_CALL(core, dem_solid_forces)(work, solids[b], solids[e], b, sums, results));
  dem_touches_push(work, solids[b], solids[e], (const float(*)[DEM_SUM])results);
  KERNEL_CALL(core, dem_kick_slab)(work, b, e, (const float(*)[DEM_SUM])sums);
}

Status dem_contacts_forces(DemStep *work, double *stiffest) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  const DemTopology *t = work->topology;
  work->sums_size = t->slab + t->slab_solids;
  TRY(scratch_take(core, scratch, &work->sums, work->sums_size * pool_threads(core->pool), "sums"));
  TRY(scratch_take(core, scratch, &work->outbox, t->outer.count, "outbox"));
  TRY(scratch_take(core, scratch, &work->stiffest, t->slabs, "stiffest"));
  parallel_for(core, 0, work->grains, t->slab, outer_pass, work);
  parallel_for(core, 0, work->grains, t->slab, slab_pass, work);
  *stiffest = 0;
  for (int64_t k = 0; k < t->slabs; k++) *stiffest = fmax(*stiffest, (double)work->stiffest[k]);
  return SCREE_OK;
}
