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

Status dem_contacts_fill(DemStep *work, ParallelBody body, double *moved) {
  Core *core = work->step->core;
  int64_t chunks = parallel_chunks(0, work->grains, DEM_CHUNK);
  int mark = scratch_mark(work->step->scratch);
  TRY(scratch_take(core, work->step->scratch, &work->farthest, chunks, "farthest"));
  parallel_for(core, 0, work->grains, DEM_CHUNK, body, work);
  double square = 0;
  for (int64_t k = 0; k < chunks; k++) square = fmax(square, (double)work->farthest[k]);
  scratch_release(core, work->step->scratch, mark);
  *moved = sqrt(square);
  return SCREE_OK;
}

Status dem_contacts_begin(DemStep *work, double moved) {
  /* Sorted anew, or in another unit: rows that were filled beforehand are of no use. */
  if (work->topology->builds != work->step->state->contacts.builds || !(work->topology->quantum > 0)) {
    choose_quantum(work);
    TRY(dem_contacts_fill(work, KERNEL_CALL(work->step->core, dem_row_pass), &moved));
  }
  return dem_topology_update(work, moved);
}

/* One slab: forces of its contacts, sums for later slabs, kicks. */
static void slab_pass(void *context, int64_t b, int64_t e, int thread) {
  const DemStep *work = context;
  const Core *core = work->step->core;
  const DemTopology *t = work->topology;
  const int32_t *pairs = t->pairs.start, *outer = t->outer.start, *solids = t->solids.start;
  float(*sums)[DEM_SUM] = work->sums + thread * work->sums_size, (*results)[DEM_SUM] = sums + t->slab;
  memset(sums, 0, sizeof *sums * (size_t)(e - b));
  dem_touches_refresh(work, solids[b], solids[e]);
  float stiffest[3] = {KERNEL_CALL(core, dem_pair_forces)(work, pairs[b], pairs[e], b, sums),
                       KERNEL_CALL(core, dem_outer_forces)(work, outer[b], outer[e], b, sums),
                       KERNEL_CALL(core, dem_solid_forces)(work, solids[b], solids[e], b, sums, results)};
  work->stiffest[b / t->slab] = fmaxf(fmaxf(stiffest[0], stiffest[1]), stiffest[2]);
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
  parallel_for(core, 0, work->grains, t->slab, slab_pass, work);
  parallel_for(core, 0, t->late_count, DEM_CHUNK, KERNEL_CALL(core, dem_late_pass), work);
  *stiffest = 0;
  for (int64_t k = 0; k < t->slabs; k++) *stiffest = fmax(*stiffest, (double)work->stiffest[k]);
  return SCREE_OK;
}
