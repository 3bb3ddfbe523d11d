/* The surface of the sand.
 *
 * A face whose kernel holds hardly any sand is beyond the surface: no pressure and no friction reach it, and yet
 * the sand near the surface leaves a share of its mass there. That share would fall and slide freely under the sand
 * that is borne (a surface would sink until its cells look full, and creep), and a stress that acted on it would throw
 * it off at any speed. So it is with faces as with nodes inside walls: such a face is not bearing, and a particle that
 * has more than half of its weight on bearing faces shares all of it among them: it is restricted to them. Particles of
 * a spray have no bearing faces and fly with all. Mass and momentum stay whole, since a particle takes from the grid
 * with the weights by which it gave. */
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/solids/boundary_contact.h"
#include "methods/flip/stress/stress.h"
#include "methods/flip/transfer/splat_kernels.h"
#include "methods/flip/transfer/transfer.h"

enum { RESTRICT_CHUNK = 64, RESTRICT_BATCH = 64 };

/* Weight on bearing faces above which a particle is restricted to them. */
#define RESTRICTED_FROM 0.5f

/* Strong faces round a strip, per axis: rows y, z; bit 0 is the last lane of the strip before. */
typedef struct BearingWindow {
  uint32_t bits[3][9];
} BearingWindow;

/* Returns which lanes have only bearing faces round them, a bit each. */
static uint32_t bearing_window(const FlipWork *work, int32_t strip, BearingWindow *window) {
  const FlipGrid *grid = work->grid;
  uint32_t all = ~0u;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1), before = grid->near[at][X_LOW],
            behind = grid->near[at][X_HIGH];
    for (int a = 0; a < 3; a++) {
      const uint8_t *bearing = work->fields.sand.bearing[a];
      window->bits[a][row] = (uint32_t)bearing[before] >> (STRIP - 1) | (uint32_t)bearing[at] << 1 |
                             (uint32_t)(bearing[behind] & 1) << (STRIP + 1);
      all &= window->bits[a][row];
    }
  }
  return all & all >> 1 & all >> 2;
}

/* From now on the particles of the strip have norms of their own. */
static void norm_strip(FlipWork *work, int64_t strip) {
  if (work->fields.sand.normed[strip]) return;
  work->fields.sand.normed[strip] = 1;
  for (int a = 0; a < 3; a++)
    for (int32_t k = work->order->start[strip * STRIP]; k < work->order->start[(strip + 1) * STRIP]; k++)
      work->transfer.norm[1 + a][k] = 1;
}

/* Sand over a solid with nothing above that would bear it comes down until it touches: what hangs higher than a radius
 * over the floor is not restricted to it. `at` counts from the strip's lower corner. */
static bool is_above_floor(const FlipWork *work, int64_t strip, const float at[3], int axis, bool down) {
  const FlipFields *f = &work->fields;
  int32_t cell = (int32_t)strip * STRIP + strip_lane(at[0]), above = cell_above(work->grid, cell, axis);
  int32_t floor = down ? cell : above, roof = down ? above : cell;
  if (!f->solid.near[strip] || f->solid.open[axis][floor] > 0 || f->solid.owner[axis][floor] < 0) return false;
  if (f->sand.bearing[axis][roof / STRIP] >> roof % STRIP & 1) return false;
  float gradient[3];
  float height = strip_distance_at(work->solids.strips[strip], at[0], at[1], at[2], gradient);
  return height * (float)work->grid->cell > (float)work->state->radius;
}

/* Particles of a strip that may be restricted. */
typedef struct Restriction {
  FlipWork *work;
  int64_t strip;
  int vertical; /* axis */
  bool down;
  CellBearing cell;
  float sums[3][RESTRICT_BATCH];
  uint8_t some[RESTRICT_BATCH];
} Restriction;

/* Particle k, which has some of its weight on bearing faces, a bit an axis: is restricted to them, unless it is above
 * the floor. */
static void restrict_particle(const Restriction *restriction, int32_t k, int32_t in_batch) {
  FlipWork *work = restriction->work;
  const FlipOrder *order = work->order;
  const float *place = restriction->cell.place;
  const float at[3] = {order->x[k] - place[0], order->y[k] - place[1], order->z[k] - place[2]};
  for (int a = 0; a < 3; a++) {
    if (!(restriction->some[in_batch] >> a & 1)) continue;
    if (a == restriction->vertical && is_above_floor(work, restriction->strip, at, a, restriction->down)) continue;
    norm_strip(work, restriction->strip);
    work->transfer.norm[1 + a][k] = 1 / restriction->sums[a][in_batch];
    work->transfer.restricted[k] |= (uint8_t)(1u << a);
    work->fields.sand.restricted[restriction->strip] |= (uint8_t)(1u << restriction->cell.lane);
  }
}

static void restrict_cell(Restriction *restriction, int32_t b, int32_t e) {
  for (int32_t first = b; first < e; first += RESTRICT_BATCH) {
    int32_t last = e - first < RESTRICT_BATCH ? e : first + RESTRICT_BATCH;
    KERNEL_CALL(restriction->work->core, flip_cell_bearing)(&restriction->cell, first, last);
    for (int32_t k = first; k < last; k++)
      if (restriction->some[k - first]) restrict_particle(restriction, k, k - first);
  }
}

static void restrict_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  const FlipOrder *order = work->order;
  BearingWindow window;
  Restriction restriction = {.work = work};
  restriction.vertical = work_downward(work, &restriction.down);
  CellBearing *cell = &restriction.cell;
  *cell = (CellBearing){.bits = (const uint32_t(*)[9])window.bits,
                        .x = order->x,
                        .y = order->y,
                        .z = order->z,
                        .least = RESTRICTED_FROM,
                        .sum = {restriction.sums[0], restriction.sums[1], restriction.sums[2]},
                        .some = restriction.some};
  for (int64_t strip = b; strip < e; strip++) {
    const int32_t *start = order->start + strip * STRIP;
    bool near = work->fields.solid.near[strip];
    work->fields.sand.restricted[strip] = 0;
    work->fields.sand.normed[strip] = near;
    if (start[0] == start[STRIP]) continue;
    memset(work->transfer.restricted + start[0], 0, (size_t)(start[STRIP] - start[0]));
    int32_t place[3];
    uint32_t whole = bearing_window(work, (int32_t)strip, &window);
    strip_place(work->grid->key[strip], place);
    restriction.strip = strip;
    for (int a = 0; a < 3; a++) {
      cell->place[a] = (float)place[a];
      cell->norm[a] = near ? work->transfer.norm[1 + a] : NULL;
    }
    for (int lane = 0; lane < STRIP; lane++) {
      cell->lane = lane;
      if (!(whole >> lane & 1)) restrict_cell(&restriction, start[lane], start[lane + 1]);
    }
  }
}

bool flip_restricted_near(const FlipWork *work, int32_t strip) {
  return grid_any_round(work->grid, work->fields.sand.restricted, strip);
}

void flip_restrict_particles(FlipWork *work) {
  work->fields.sand.restricted[0] = 0;
  parallel_for(work->core, 1, work->grid->strips, RESTRICT_CHUNK, restrict_chunk, work);
}
