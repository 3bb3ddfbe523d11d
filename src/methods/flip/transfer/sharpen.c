/* What particles settle to.
 *
 * A particle that took on the grid's velocity v would lose more than its noise: the kernels smooth twice, on the way to
 * the grid and back. In sand that fills its cells (1 - L), which replaces each face by itself less a sixth of its
 * difference to either neighbour, is what splatting a field that was gathered does along an axis; so v is (1 - L) of
 * what the particles have, and speed would diffuse with a viscosity of settle cell^2 / 6. Particles settle to
 * (1 + L + L^2) v instead, axis by axis: a field that the grid can carry comes back to them but for L^3, and what they
 * lose is what the grid does not see. (Higher orders of the same: Hammerquist and Nairn 2017, who transfer again for
 * each.) Where the grid's own field varies from face to face, less than itself comes back: nothing grows. */
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/transfer/sharpen_kernels.h"
#include "methods/flip/transfer/transfer.h"

enum { SHARPENED = 2 }; /* highest power of L */

typedef struct Sharpen {
  const FlipWork *work;
  Smoothing smoothing;
} Sharpen;

static void sharpen_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sharpen *sharpen = context;
  KERNEL_CALL(sharpen->work->core, flip_smoothing)(&sharpen->smoothing, b, e);
}

Status flip_sharpen(FlipWork *work, float *const sharp[3]) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  const SandFields *sand = &work->fields.sand;
  int64_t cells = work_cells(work);
  float *taken[SHARPENED], *start;
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &start, cells, "velocity"));
  for (int k = 0; k < SHARPENED; k++) {
    TRY(scratch_take(core, scratch, &taken[k], cells, "velocity"));
    memset(taken[k], 0, sizeof(float) * STRIP);
  }
  for (int a = 0; a < 3; a++) {
    memcpy(sharp[a], sand->velocity[a], sizeof(float) * (size_t)cells);
    for (int along = 0; along < 3; along++) {
      memcpy(start, sharp[a], sizeof(float) * (size_t)cells);
      for (int k = 0; k < SHARPENED; k++) {
        Sharpen sharpen = {
            work, {work->grid, sand->mass[a], sand->settle[a], along, k ? taken[k - 1] : start, taken[k], sharp[a]}};
        parallel_for(core, 1, work->grid->strips, STRIP_CHUNK, sharpen_chunk, &sharpen);
      }
    }
  }
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}
