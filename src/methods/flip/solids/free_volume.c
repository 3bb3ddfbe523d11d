/* Weights near solids.
 *
 * Splatting with plain trilinear weights loses what falls on nodes inside a wall: weights are shared among the valid
 * nodes instead (norm), so that mass and momentum are whole, and a node's density is its sum over the free volume under
 * that same kernel (kernel_volume), found by splatting what a full cell would give, octant by octant. */
#include "core/parallel.h"
#include "methods/flip/solids/solids.h"
#include "methods/flip/transfer/splat_kernels.h"

enum { SOLID_CHUNK = 64 };

#define KERNEL_VOLUME_LEAST 0.05f

/* ---- norms ---- */

/* Valid nodes round a strip: bit 0 is the last lane of the strip before, bit 9 the first of the one behind. */
typedef struct ValidWindow {
  uint32_t bits[4][9];
  bool whole[STRIP]; /* all nodes round the cell are valid: norms are 1 */
} ValidWindow;

static void find_whole(ValidWindow *window) {
  uint32_t all = ~0u;
  for (int g = 0; g < 4; g++)
    for (int row = 0; row < 9; row++) all &= window->bits[g][row];
  for (int lane = 0; lane < STRIP; lane++) window->whole[lane] = (all >> lane & 7) == 7;
}

static void valid_window(const FlipWork *work, int32_t strip, ValidWindow *window) {
  const FlipGrid *grid = work->grid;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1);
    int32_t before = grid->near[at][X_LOW], behind = grid->near[at][X_HIGH];
    for (int g = 0; g < 4; g++) {
      const uint8_t *valid = work->fields.solid.valid[g];
      /* strips that do not exist are free space without sand */
      window->bits[g][row] = (before ? (uint32_t)valid[before] >> (STRIP - 1) : 1) |
                             (at ? (uint32_t)valid[at] : 255u) << 1 |
                             (behind ? (uint32_t)valid[behind] & 1 : 1) << (STRIP + 1);
    }
  }
  find_whole(window);
}

/* Cells all of whose nodes are valid have norms of 1. Others: 1 / the sum of weights that fall on valid nodes. */
static void norm_strip(const FlipWork *work, int32_t strip) {
  const FlipOrder *order = work->order;
  const int32_t *start = order->start + (int64_t)strip * STRIP;
  if (start[0] == start[STRIP]) return;
  ValidWindow window;
  int32_t place[3];
  valid_window(work, strip, &window);
  strip_place(work->grid->key[strip], place);
  float *const *norm = work->transfer.norm;
  CellNorms cell = {.bits = window.bits,
                    .place = {(float)place[0], (float)place[1], (float)place[2]},
                    .x = order->x,
                    .y = order->y,
                    .z = order->z,
                    .norm = {norm[0], norm[1], norm[2], norm[3]}};
  for (cell.lane = 0; cell.lane < STRIP; cell.lane++) {
    int32_t b = start[cell.lane], e = start[cell.lane + 1];
    if (!window.whole[cell.lane]) KERNEL_CALL(work->core, flip_cell_norms)(&cell, b, e);
    else
      for (int g = 0; g < 4; g++)
        for (int32_t k = b; k < e; k++) norm[g][k] = 1;
  }
}

static void norm_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const FlipWork *work = context;
  for (int64_t strip = b; strip < e; strip++)
    if (work->fields.solid.near[strip]) norm_strip(work, (int32_t)strip);
}

void flip_find_norms(FlipWork *work) { parallel_for(work->core, 1, work->grid->strips, SOLID_CHUNK, norm_chunk, work); }

/* ---- free volume under the kernels ---- */

/* What the octants of the near strips lack of a full, free cell, splatted like particles. */
typedef struct FreeVolumes {
  FlipWork *work;
  const StripSolids *const *now;
  float *sums[4];
} FreeVolumes;

static void splat_lack(const FreeVolumes *volumes, int32_t strip) {
  const FlipWork *work = volumes->work;
  if (!work->fields.solid.near[strip]) return;
  ValidWindow window;
  valid_window(work, strip, &window);
  bool lacks = false;
  for (int lane = 0; lane < STRIP && !lacks; lane++)
    lacks = !window.whole[lane] || work->fields.solid.free_volume[(int64_t)strip * STRIP + lane] != 1;
  Octants octants = {.bits = window.bits,
                     .share = volumes->now[strip]->octant,
                     .grid = work->grid,
                     .sums = {volumes->sums[0], volumes->sums[1], volumes->sums[2], volumes->sums[3]}};
  if (lacks) KERNEL_CALL(work->core, flip_splat_octants)(&octants, strip);
}

static void lack_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const FreeVolumes *volumes = context;
  const GridRows *rows = &volumes->work->rows;
  for (int64_t block = b; block < e; block++)
    for (int32_t row = rows->blocks[block][0]; row < rows->blocks[block][1]; row++)
      for (int32_t strip = rows->strips[row][0]; strip < rows->strips[row][1]; strip++) splat_lack(volumes, strip);
}

static void volume_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const FreeVolumes *volumes = context;
  for (int g = 0; g < 4; g++)
    for (int64_t at = b * STRIP; at < e * STRIP; at++) {
      float kernel_volume = 1 - volumes->sums[g][at];
      volumes->sums[g][at] = kernel_volume > KERNEL_VOLUME_LEAST ? kernel_volume : KERNEL_VOLUME_LEAST;
    }
}

void flip_find_free_volume(FlipWork *work) {
  Core *core = work->core;
  int64_t strips = work->grid->strips;
  float *const *kernel_volume = work->fields.solid.kernel_volume;
  FreeVolumes volumes = {
      work, work->solids.strips, {kernel_volume[0], kernel_volume[1], kernel_volume[2], kernel_volume[3]}};
  for (int g = 0; g < 4; g++) grid_clear(core, volumes.sums[g], work_cells(work));
  for (int color = 0; color < ROW_COLORS; color++)
    parallel_for(core, work->rows.start[color], work->rows.start[color + 1], 1, lack_chunk, &volumes);
  parallel_for(core, 0, strips, SOLID_CHUNK, volume_chunk, &volumes);
}
