/* The surface of the sand.
 *
 * A face whose kernel holds hardly any sand is beyond the surface: no pressure reaches it, nothing rubs on it, and yet
 * the sand near the surface leaves a share of its mass there. That share would fall and slide freely under the sand
 * that is borne (a surface would sink until its cells look full, and creep), and a stress that acted on it would throw
 * it off at any speed. So it is with faces as with nodes inside walls: such a face is not strong, and a particle that
 * has more than half of its weight on strong faces shares all of it among them. It rides on them. Particles of a spray
 * have no strong faces and fly with all. Mass and momentum stay whole, since a particle takes from the grid with the
 * weights by which it gave. */
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/solids/boundary_contact.h"
#include "methods/flip/transfer/transfer.h"
#include "methods/flip/transfer/splat_kernels.h"
#include "methods/flip/stress/stress.h"

enum { RIDER_CHUNK = 64, RIDER_BATCH = 64 };

/* Weight on strong faces from which on a particle rides on them. */
#define RIDES_FROM 0.5f

/* Strong faces round a strip, per axis: rows y, z; bit 0 is the last lane of the strip before. */
typedef struct StrongWindow {
  uint32_t bits[3][9];
} StrongWindow;

/* Answers which lanes have only strong faces round them, a bit each. */
static uint32_t strong_window(const FlipWork *work, int32_t strip, StrongWindow *window) {
  const FlipGrid *grid = work->grid;
  uint32_t all = ~0u;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1), before = grid->near[at][X_LOW],
            behind = grid->near[at][X_HIGH];
    for (int a = 0; a < 3; a++) {
      const uint8_t *strong = work->fields.strong[a];
      window->bits[a][row] = (uint32_t)strong[before] >> (STRIP - 1) | (uint32_t)strong[at] << 1 |
                             (uint32_t)(strong[behind] & 1) << (STRIP + 1);
      all &= window->bits[a][row];
    }
  }
  return all & all >> 1 & all >> 2;
}

/* From now on the particles of the strip have norms of their own. */
static void norm_strip(FlipWork *work, int64_t strip) {
  if (work->fields.normed[strip]) return;
  work->fields.normed[strip] = 1;
  for (int a = 0; a < 3; a++)
    for (int32_t k = work->order->start[strip * STRIP]; k < work->order->start[(strip + 1) * STRIP]; k++)
      work->sorted.norm[1 + a][k] = 1;
}

/* Sand over a solid with nothing above that would bear it comes down until it touches: what hangs higher than a radius
 * over the floor does not ride on it. `at` counts from the strip's lower corner. */
static bool hangs(const FlipWork *work, int64_t strip, const float at[3], int axis, bool down) {
  const FlipFields *f = &work->fields;
  int32_t cell = (int32_t)strip * STRIP + (int32_t)at[0], above = cell_above(work->grid, cell, axis);
  int32_t floor = down ? cell : above, roof = down ? above : cell;
  if (!f->near[strip] || f->open[axis][floor] > 0 || f->owner[axis][floor] < 0) return false;
  if (f->strong[axis][roof / STRIP] >> roof % STRIP & 1) return false;
  float gradient[3];
  float height = flip_distance_at(work->solids[strip], at[0], at[1], at[2], gradient);
  return height * (float)work->grid->cell > (float)work->state->radius;
}

/* Particles of a strip that may ride. */
typedef struct Riding {
  FlipWork *work;
  int64_t strip;
  int vertical; /* axis */
  bool down;
  CellStrong cell;
  float sums[3][RIDER_BATCH];
  uint8_t some[RIDER_BATCH];
} Riding;

/* Particle k, which has some of its weight on strong faces, a bit an axis: rides on them, unless it hangs. */
static void ride(const Riding *riding, int32_t k, int32_t in_batch) {
  FlipWork *work = riding->work;
  const FlipOrder *order = work->order;
  const float *place = riding->cell.place;
  const float at[3] = {order->x[k] - place[0], order->y[k] - place[1], order->z[k] - place[2]};
  for (int a = 0; a < 3; a++) {
    if (!(riding->some[in_batch] >> a & 1)) continue;
    if (a == riding->vertical && hangs(work, riding->strip, at, a, riding->down)) continue;
    norm_strip(work, riding->strip);
    work->sorted.norm[1 + a][k] = 1 / riding->sums[a][in_batch];
    work->sorted.rides[k] |= (uint8_t)(1u << a);
    work->fields.riders[riding->strip] |= (uint8_t)(1u << riding->cell.lane);
  }
}

static void ride_cell(Riding *riding, int32_t b, int32_t e) {
  for (int32_t first = b; first < e; first += RIDER_BATCH) {
    int32_t last = e - first < RIDER_BATCH ? e : first + RIDER_BATCH;
    KERNEL_CALL(riding->work->core, flip_cell_strong)(&riding->cell, first, last);
    for (int32_t k = first; k < last; k++)
      if (riding->some[k - first]) ride(riding, k, k - first);
  }
}

static void riders_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  const FlipOrder *order = work->order;
  StrongWindow window;
  Riding riding = {.work = work};
  riding.vertical = work_downward(work, &riding.down);
  CellStrong *cell = &riding.cell;
  *cell = (CellStrong){.bits = (const uint32_t(*)[9])window.bits,
                       .x = order->x,
                       .y = order->y,
                       .z = order->z,
                       .least = RIDES_FROM,
                       .sum = {riding.sums[0], riding.sums[1], riding.sums[2]},
                       .some = riding.some};
  for (int64_t strip = b; strip < e; strip++) {
    const int32_t *start = order->start + strip * STRIP;
    bool near = work->fields.near[strip];
    work->fields.riders[strip] = 0;
    work->fields.normed[strip] = near;
    if (start[0] == start[STRIP]) continue;
    memset(work->sorted.rides + start[0], 0, (size_t)(start[STRIP] - start[0]));
    int32_t place[3];
    uint32_t whole = strong_window(work, (int32_t)strip, &window);
    strip_place(work->grid->key[strip], place);
    riding.strip = strip;
    for (int a = 0; a < 3; a++) {
      cell->place[a] = (float)place[a];
      cell->norm[a] = near ? work->sorted.norm[1 + a] : NULL;
    }
    for (int lane = 0; lane < STRIP; lane++) {
      cell->lane = lane;
      if (!(whole >> lane & 1)) ride_cell(&riding, start[lane], start[lane + 1]);
    }
  }
}

bool flip_surface_at(const FlipWork *work, int32_t strip) {
  return grid_any_round(work->grid, work->fields.riders, strip);
}

void flip_find_riders(FlipWork *work) {
  work->fields.riders[0] = 0;
  parallel_for(work->core, 1, work->grid->strips, RIDER_CHUNK, riders_chunk, work);
}
