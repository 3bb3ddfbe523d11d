/* Pairs of a step: places in rows, space for the slots of every slice. */
#include "core/parallel.h"
#include "methods/sph/sph_kernels.h"
#include "methods/sph/work.h"

enum { ROW_CHUNK = 4096 };

static void place_rows(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  const Particles *p = &work->step->state->particles;
  for (int64_t i = b; i < e; i++) {
    float *row = work->pairs.place[i];
    row[0] = p->x[i];
    row[1] = p->y[i];
    row[2] = p->z[i];
    row[3] = 1 / p->mass[i];
  }
}

/* Slots of each slice, which make room for the longest of its rows. */
static void slots_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  const int64_t *start = work->step->state->contacts.particles.list.start;
  for (int64_t g = b; g < e; g++) {
    int64_t longest = 0, end = (g + 1) * LANES < work->count ? (g + 1) * LANES : work->count;
    for (int64_t i = g * LANES; i < end; i++)
      if (start[i + 1] - start[i] > longest) longest = start[i + 1] - start[i];
    work->pairs.slot_start[g] = longest;
  }
}

Status sph_pairs_find(SphWork *work) {
  Core *core = work->step->core;
  int64_t slots = 0;
  parallel_for(core, 0, work->slices, ROW_CHUNK / LANES, slots_chunk, work);
  for (int64_t g = 0; g < work->slices; g++) {
    int64_t here = work->pairs.slot_start[g];
    work->pairs.slot_start[g] = slots;
    slots += here;
  }
  TRY(scratch_take(core, work->step->scratch, &work->pairs.slots, slots, "sph pairs"));
  parallel_for(core, 0, work->count, ROW_CHUNK, place_rows, work);
  parallel_for(core, 0, work->slices, SPH_SLICE_CHUNK, KERNEL_CALL(core, sph_pair_pass), work);
  return SCREE_OK;
}
