/* No clumps: where sand moves, its fine grains wander from crowded to sparse places.
 *
 * The interpolated velocity has sources and sinks, since coarse grains jostle; carried along by it alone, fine grains
 * gather in ever denser clumps. Real grains cannot: they push each other. Here the count of fine grains in cells of 1.5
 * coarse radii stands for that pressure: a grain is displaced against the gradient of the count, no farther than the
 * coarse grains round it move against each other (the spread of their velocities), so that nothing stirs in sand that
 * rests or moves as one. Counts are integers: the result is free of order. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "upsample/internal.h"

/* Cells that are asked about lie at most so far from a coarse grain (cells): the reach of the weights is two of them,
 * and the corners of the cube round a place are one more. */
enum { STIR_BITS_MAX = 23, ROOM_EDGE = 3 };

Status stir_prepare(Core *core, Upsample *up, int64_t count, const float bounds[6], Stir *stir) {
  double side = STIR_CELL * up->coarse_radius;
  int bits[3];
  for (int axis = 0; axis < 3; axis++) {
    double cells = count > 0 ? ((double)bounds[3 + axis] - (double)bounds[axis]) / side + 2 * ROOM_EDGE + 2 : 1;
    for (bits[axis] = 1; bits[axis] < STIR_BITS_MAX && ldexp(1, bits[axis]) < cells;) bits[axis]++;
  }
  bool folded = false;
  while (bits[0] + bits[1] + bits[2] > STIR_BITS_MAX) {
    folded = true;
    int widest = bits[0] >= bits[1] && bits[0] >= bits[2] ? 0 : bits[1] >= bits[2] ? 1 : 2;
    bits[widest]--;
  }
  stir->cells = (CountCells){.inverse = (float)(1 / side), .shift = {bits[0], bits[0] + bits[1]}, .folded = folded};
  for (int axis = 0; axis < 3; axis++) {
    stir->cells.mask[axis] = (1 << bits[axis]) - 1;
    stir->cells.low[axis] = (int)fmax(-1e9, fmin(1e9, floor((double)bounds[axis] / side))) - ROOM_EDGE;
  }
  if (up->device) return SCREE_OK; /* which counts itself */
  int64_t cells = stir_cells(stir);
  TRY(memory_grow(core, &up->counts, cells, "counts of fine grains"));
  memset(up->counts, 0, sizeof *up->counts * (size_t)cells);
  stir->counts = up->counts;
  return SCREE_OK;
}

int64_t stir_cells(const Stir *stir) { return (int64_t)(stir->cells.mask[2] + 1) << stir->cells.shift[1]; }

static void tally_add(const Stir *stir, int32_t cell, uint32_t count) {
  __atomic_fetch_add(&stir->counts[cell], count, __ATOMIC_RELAXED);
}

/* At most FINE_BLOCK grains. */
void stir_count(const Core *core, const Stir *stir, int64_t count, const float *x, const float *y, const float *z,
                StirTally *tally) {
  int32_t cell[FINE_BLOCK], slot[FINE_BLOCK];
  KERNEL_CALL(core, fine_cells)(&stir->cells, x, y, z, count, cell, slot);
  for (int64_t i = 0; i < count; i++) {
    int32_t at = slot[i];
    if (cell[i] < 0) continue;
    if (tally->cell[at] != cell[i]) {
      if (tally->count[at] > 0) tally_add(stir, tally->cell[at], tally->count[at]);
      tally->cell[at] = cell[i], tally->count[at] = 0;
    }
    tally->count[at]++;
  }
}

void stir_tally_end(const Stir *stir, const StirTally *tally) {
  for (int k = 0; k < STIR_SLOTS; k++)
    if (tally->count[k] > 0) tally_add(stir, tally->cell[k], tally->count[k]);
}
