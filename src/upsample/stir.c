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

enum { STIR_BITS_MAX = 23 };

Status stir_prepare(Core *core, Upsample *up, const CoarseSets *sets, Stir *stir) {
  const CoarseSet *set = &sets->grains;
  double side = STIR_CELL * up->coarse_radius;
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  const float *at[3] = {set->x, set->y, set->z};
  int bits[3];
  for (int axis = 0; axis < 3; axis++) {
    for (int64_t k = 0; k < set->count; k++) {
      low[axis] = fminf(low[axis], at[axis][k]);
      high[axis] = fmaxf(high[axis], at[axis][k]);
    }
    double cells = set->count > 0 ? ((double)high[axis] - (double)low[axis]) / side + 6 : 1;
    for (bits[axis] = 1; bits[axis] < STIR_BITS_MAX && exp2(bits[axis]) < cells;) bits[axis]++;
  }
  while (bits[0] + bits[1] + bits[2] > STIR_BITS_MAX) {
    int widest = bits[0] >= bits[1] && bits[0] >= bits[2] ? 0 : bits[1] >= bits[2] ? 1 : 2;
    bits[widest]--;
  }
  stir->cells = (CountCells){.inverse = (float)(1 / side), .shift = {bits[0], bits[0] + bits[1]}};
  for (int axis = 0; axis < 3; axis++) stir->cells.mask[axis] = (1 << bits[axis]) - 1;
  int64_t cells = (int64_t)1 << (bits[0] + bits[1] + bits[2]);
  TRY(memory_grow(core, &up->counts, cells, "counts of fine grains"));
  memset(up->counts, 0, sizeof *up->counts * (size_t)cells);
  stir->counts = up->counts;
  return SCREE_OK;
}

static inline int32_t whole(float v) { return (int32_t)floorf(fminf(fmaxf(v, -1e9f), 1e9f)); }

static inline int32_t cell_index(const CountCells *c, int32_t x, int32_t y, int32_t z) {
  return (x & c->mask[0]) | (y & c->mask[1]) << c->shift[0] | (z & c->mask[2]) << c->shift[1];
}

/* At most FINE_BLOCK grains. Those that follow each other are often in one cell and are added at once. */
void stir_count(const Core *core, const Stir *stir, int64_t count, const float *x, const float *y, const float *z) {
  int32_t cell[FINE_BLOCK];
  KERNEL_CALL(core, fine_cells)(&stir->cells, x, y, z, count, cell);
  for (int64_t i = 0, first = 0; i < count; i++)
    if (i + 1 == count || cell[i + 1] != cell[i]) {
      __atomic_fetch_add(&stir->counts[cell[i]], (uint32_t)(i + 1 - first), __ATOMIC_RELAXED);
      first = i + 1;
    }
}

/* Gradient of the count, per cell and relative to the count here; nothing is drawn into empty cells. */
static void count_gradient(const Stir *stir, float x, float y, float z, float gradient[3]) {
  const CountCells *cells = &stir->cells;
  const float at[3] = {x * cells->inverse - 0.5f, y * cells->inverse - 0.5f, z * cells->inverse - 0.5f};
  int32_t base[3], near[3];
  float part[3], v[8], middle, *value = &middle, *gx = &gradient[0], *gy = &gradient[1], *gz = &gradient[2];
  for (int axis = 0; axis < 3; axis++) {
    base[axis] = whole(at[axis]);
    part[axis] = at[axis] - (float)base[axis];
    near[axis] = base[axis] + (part[axis] >= 0.5f);
  }
  float here = fmaxf((float)stir->counts[cell_index(cells, near[0], near[1], near[2])], 1);
  for (int corner = 0; corner < 8; corner++) {
    uint32_t n =
        stir->counts[cell_index(cells, base[0] + (corner & 1), base[1] + (corner >> 1 & 1), base[2] + (corner >> 2))];
    v[corner] = n > 0 ? (float)n : here;
  }
  const float fx = part[0], fy = part[1], fz = part[2];
  GRID_TRILINEAR(float)
  for (int axis = 0; axis < 3; axis++) gradient[axis] /= fmaxf(middle, 1);
}

void stir_push(const Stir *stir, const FineLaw *law, FineBlock *block) {
  float keep_off = 2 / stir->cells.inverse, least = 1e-5f / stir->cells.inverse;
  for (int64_t i = 0; i < block->count; i++) {
    float way = STIR_STRENGTH * block->spread[i] * law->dt;
    if (!(way > least)) continue;
    float push[3];
    count_gradient(stir, block->x[i], block->y[i], block->z[i], push);
    float size = sqrtf(push[0] * push[0] + push[1] * push[1] + push[2] * push[2]);
    float scale = size > 1 ? -way / size : -way;
    for (int axis = 0; axis < 3; axis++) push[axis] *= scale;
    /* A cell that a wall cuts holds fewer grains without being sparse. */
    if (block->walled && block->gap[i] < keep_off) {
      float into = push[0] * block->nx[i] + push[1] * block->ny[i] + push[2] * block->nz[i];
      if (into < 0) push[0] -= into * block->nx[i], push[1] -= into * block->ny[i], push[2] -= into * block->nz[i];
    }
    block->to_x[i] += push[0];
    block->to_y[i] += push[1];
    block->to_z[i] += push[2];
  }
}
