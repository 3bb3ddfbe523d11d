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
#include "methods/flip/stress.h"

enum { RIDER_CHUNK = 64 };

/* Weight on strong faces from which on a particle rides on them. */
#define RIDES_FROM 0.5f

typedef struct StrongWindow {
  uint32_t bits[9]; /* rows y, z; bit 0 is the last lane of the strip before */
} StrongWindow;

/* Answers which lanes have only strong faces round them, a bit each. */
static uint32_t strong_window(const FlipWork *work, int32_t strip, const uint8_t *strong, StrongWindow *window) {
  const FlipGrid *grid = work->grid;
  uint32_t all = ~0u;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1);
    window->bits[row] = (uint32_t)strong[grid->near[at][X_LOW]] >> (STRIP - 1) | (uint32_t)strong[at] << 1 |
                        (uint32_t)(strong[grid->near[at][X_HIGH]] & 1) << (STRIP + 1);
    all &= window->bits[row];
  }
  return all & all >> 1 & all >> 2;
}

/* Sum of the weights of the strong faces. `at` counts from the strip's lower corner. */
static float weight_of_strong(const StrongWindow *window, const float at[3], int axis) {
  int low[3];
  float upper[3];
  for (int a = 0; a < 3; a++) {
    float t = at[a] + (a == axis ? 1 : 0.5f);
    low[a] = (int)t;
    upper[a] = t - (float)low[a];
  }
  return row_weights(&window->bits[low[2] * 3 + low[1]], low[0], upper);
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

static void riders_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  const FlipOrder *order = work->order;
  SortedParcels *sorted = &work->sorted;
  bool down = false;
  int vertical = work_downward(work, &down);
  for (int64_t strip = b; strip < e; strip++) {
    int32_t first = order->start[strip * STRIP], last = order->start[(strip + 1) * STRIP], place[3];
    work->fields.riders[strip] = 0;
    work->fields.normed[strip] = work->fields.near[strip];
    if (first == last) continue;
    memset(sorted->rides + first, 0, (size_t)(last - first));
    strip_place(work->grid->key[strip], place);
    for (int a = 0; a < 3; a++) {
      StrongWindow window;
      uint32_t whole = strong_window(work, (int32_t)strip, work->fields.strong[a], &window);
      if ((whole & 255) == 255) continue;
      for (int32_t k = first; k < last; k++) {
        const float at[3] = {order->x[k] - (float)place[0], order->y[k] - (float)place[1],
                             order->z[k] - (float)place[2]};
        float norm = work->fields.normed[strip] ? sorted->norm[1 + a][k] : 1;
        if (whole >> (int)at[0] & 1 || !(norm > 0)) continue;
        float sum = weight_of_strong(&window, at, a);
        float share = sum * norm; /* of the faces that are not inside walls */
        if (!(share > RIDES_FROM) || share > 0.99999f) continue;
        if (a == vertical && hangs(work, strip, at, a, down)) continue;
        norm_strip(work, strip);
        sorted->norm[1 + a][k] = 1 / sum;
        sorted->rides[k] |= (uint8_t)(1u << a);
        work->fields.riders[strip] |= (uint8_t)(1u << (int)at[0]);
      }
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
