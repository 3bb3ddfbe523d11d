#include "methods/dem/contacts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/dem/contact_kernels.h"
#include "methods/dem/topology.h"
#include "methods/dem/boundary_contacts.h"

/* A contact reaches at most 2^26 quanta: finer than a float of its length can resolve. */
#define REACH_BITS 26

static double radius_chunk(void *context, int64_t b, int64_t e) {
  const Particles *p = context;
  float largest = 0;
  for (int64_t i = b; i < e; i++) largest = p->radius[i] > largest ? p->radius[i] : largest;
  return (double)largest;
}

void dem_choose_quantum(DemStep *work) {
  const State *state = work->step->state;
  DemTopology *t = work->topology;
  double largest =
      parallel_max(work->step->core, 0, state->particles.count, DEM_CHUNK, 0, radius_chunk, (void *)&state->particles);
  int exponent;
  frexp(2 * fmax(largest, state->radius) + 2 * (double)state->contacts.skin, &exponent);
  t->quantum = ldexp(1, exponent - REACH_BITS);
}

void dem_contacts_fill(DemStep *work, ParallelBody body) {
  parallel_for(work->step->core, 0, work->rows.grains, DEM_CHUNK, body, work);
}

Status dem_contacts_begin(DemStep *work) {
  /* The grains are sorted anew, or the quantum changes: the rows of dem_prepare are of no use. */
  if (work->topology->builds != work->step->state->contacts.builds || !(work->topology->quantum > 0)) {
    dem_choose_quantum(work);
    dem_contacts_fill(work, KERNEL_CALL(work->step->core, dem_row_pass));
  }
  return dem_topology_update(work);
}

/* The outer pairs of one window. */
static void outer_pass(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const DemStep *work = context;
  const int32_t *outer = work->topology->outer.start;
  work->forces.stiffest[b / work->topology->window] =
      KERNEL_CALL(work->step->core, dem_outer_forces)(work, outer[b], outer[e]);
}

/* One window: the forces of its contacts, then the kicks of its grains. */
static void window_pass(void *context, int64_t b, int64_t e, int thread) {
  const DemStep *work = context;
  const Core *core = work->step->core;
  const DemTopology *t = work->topology;
  const int32_t *pairs = t->pairs.start, *boundary = t->boundary.start;
  float(*sums)[DEM_SUM] = work->forces.sums + thread * t->window;
  float(*exerted)[DEM_SUM] = work->forces.boundary + thread * t->fullest_boundary;
  memset(sums, 0, sizeof *sums * (size_t)(e - b));
  KERNEL_CALL(core, dem_sum_outer)(work, b, e, sums);
  dem_boundary_refresh(work, boundary[b], boundary[e]);
  float *stiffest = &work->forces.stiffest[b / t->window];
  *stiffest = fmaxf(*stiffest, KERNEL_CALL(core, dem_pair_forces)(work, pairs[b], pairs[e], b, sums));
  *stiffest =
      fmaxf(*stiffest, KERNEL_CALL(core, dem_boundary_forces)(work, boundary[b], boundary[e], b, sums, exerted));
  dem_boundary_react(work, boundary[b], boundary[e], (const float(*)[DEM_SUM])exerted);
  KERNEL_CALL(core, dem_kick_window)(work, b, e, (const float(*)[DEM_SUM])sums);
}

Status dem_contacts_forces(DemStep *work, double *stiffest) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  const DemTopology *t = work->topology;
  int64_t threads = pool_threads(core->pool);
  TRY(scratch_take(core, scratch, &work->forces.sums, t->window * threads, "sums"));
  TRY(scratch_take(core, scratch, &work->forces.boundary, t->fullest_boundary * threads, "boundary forces"));
  TRY(scratch_take(core, scratch, &work->forces.outer, t->outer.count, "outer forces"));
  TRY(scratch_take(core, scratch, &work->forces.stiffest, t->windows, "stiffest"));
  parallel_for(core, 0, work->rows.grains, t->window, outer_pass, work);
  parallel_for(core, 0, work->rows.grains, t->window, window_pass, work);
  *stiffest = 0;
  for (int64_t k = 0; k < t->windows; k++) *stiffest = fmax(*stiffest, (double)work->forces.stiffest[k]);
  return SCREE_OK;
}
