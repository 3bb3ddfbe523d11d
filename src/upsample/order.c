/* Storage order: along a Hilbert curve through cells that hold about two grains, so that the eight grains of a group,
 * and the groups of a block, are near each other. Results do not depend on it. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "upsample/internal.h"

enum { SORT_CHUNK = 16384, DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS, CURVE_BITS = 10 };
#define SORT_CELL 2.6 /* radii of a fine grain */

typedef struct Sort {
  const FineGrains *grains;
  float inverse;
  int bits;            /* per axis */
  uint64_t *from, *to; /* key << 32 | index */
  int shift;
  uint32_t (*histogram)[DIGITS]; /* per chunk */
  int32_t *order;
} Sort;

/* Place along the curve of the cell (x, y, z) of a cube of 2^bits cells: Skilling 2004, "Programming the Hilbert
 * curve", turned into code of our own. Distances that do not fit wrap round: order is only a matter of speed. */
static uint32_t curve_place(uint32_t x, uint32_t y, uint32_t z, int bits) {
  uint32_t a[3] = {x, y, z};
  for (uint32_t q = 1u << (bits - 1); q > 1; q >>= 1)
    for (int k = 0; k < 3; k++) {
      if (a[k] & q) a[0] ^= q - 1;
      else {
        uint32_t swap = (a[0] ^ a[k]) & (q - 1);
        a[0] ^= swap;
        a[k] ^= swap;
      }
    }
  a[1] ^= a[0];
  a[2] ^= a[1];
  uint32_t turn = 0;
  for (uint32_t q = 1u << (bits - 1); q > 1; q >>= 1)
    if (a[2] & q) turn ^= q - 1;
  for (int k = 0; k < 3; k++) a[k] ^= turn;
  uint32_t place = 0;
  for (int b = bits - 1; b >= 0; b--)
    place = place << 3 | (a[0] >> b & 1) << 2 | (a[1] >> b & 1) << 1 | (a[2] >> b & 1);
  return place;
}

static void keys_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sort *sort = context;
  const FineGrains *g = sort->grains;
  uint32_t mask = (1u << sort->bits) - 1;
  for (int64_t i = b; i < e; i++) {
    /* beyond 1e9 cells from the origin there is no order worth having */
    float c[3] = {g->x[i] * sort->inverse, g->y[i] * sort->inverse, g->z[i] * sort->inverse};
    uint32_t cell[3];
    for (int k = 0; k < 3; k++) cell[k] = fabsf(c[k]) < 1e9f ? (uint32_t)(int32_t)floorf(c[k]) & mask : 0;
    sort->from[i] = (uint64_t)curve_place(cell[0], cell[1], cell[2], sort->bits) << 32 | (uint64_t)i;
  }
}

static void count_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sort *sort = context;
  uint32_t *histogram = sort->histogram[b / SORT_CHUNK];
  memset(histogram, 0, sizeof *sort->histogram);
  for (int64_t i = b; i < e; i++) histogram[sort->from[i] >> sort->shift & (DIGITS - 1)]++;
}

static void scatter_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sort *sort = context;
  uint32_t *next = sort->histogram[b / SORT_CHUNK];
  for (int64_t i = b; i < e; i++) sort->to[next[sort->from[i] >> sort->shift & (DIGITS - 1)]++] = sort->from[i];
}

static void order_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sort *sort = context;
  for (int64_t i = b; i < e; i++) sort->order[i] = (int32_t)(uint32_t)sort->from[i];
}

static void sort_digit(Core *core, Sort *sort, int64_t count) {
  int64_t chunks = parallel_chunks(0, count, SORT_CHUNK);
  parallel_for(core, 0, count, SORT_CHUNK, count_chunk, sort);
  uint32_t total = 0;
  for (int d = 0; d < DIGITS; d++)
    for (int64_t c = 0; c < chunks; c++) {
      uint32_t here = sort->histogram[c][d];
      sort->histogram[c][d] = total;
      total += here;
    }
  parallel_for(core, 0, count, SORT_CHUNK, scatter_chunk, sort);
  uint64_t *swap = sort->from;
  sort->from = sort->to;
  sort->to = swap;
}

static Status sort_grains(Core *core, Upsample *up, Scratch *scratch) {
  int64_t count = up->grains.count;
  Sort sort = {.grains = &up->grains, .inverse = (float)(1 / (SORT_CELL * up->definition.radius))};
  /* As many cells along an axis as would hold all grains in a cube, twice over. */
  sort.bits = 1;
  while (sort.bits < CURVE_BITS && pow(8, sort.bits) < 32 * (double)count) sort.bits++;
  TRY(scratch_take(core, scratch, &sort.order, count, "order of fine grains"));
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &sort.from, count, "keys"));
  TRY(scratch_take(core, scratch, &sort.to, count, "keys"));
  TRY(scratch_take(core, scratch, &sort.histogram, parallel_chunks(0, count, SORT_CHUNK), "histograms"));
  parallel_for(core, 0, count, SORT_CHUNK, keys_chunk, &sort);
  for (sort.shift = 32; sort.shift < 32 + 3 * sort.bits; sort.shift += DIGIT_BITS) sort_digit(core, &sort, count);
  parallel_for(core, 0, count, SORT_CHUNK, order_chunk, &sort);
  scratch_release(core, scratch, mark);
  return fine_permute(core, up, scratch, sort.order, count);
}

Status fine_sort(Core *core, Upsample *up, Scratch *scratch) {
  int mark = scratch_mark(scratch);
  Status status = sort_grains(core, up, scratch);
  scratch_release(core, scratch, mark);
  up->unsorted = false;
  up->pairs_sorted = 0;
  return status;
}
