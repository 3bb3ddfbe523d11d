/* Cells of the coarse grains. Points that lie together are sorted by counting into a table of all cells of the box
 * round them, which takes a fraction of the time of the sparse grid on few threads; very many, or far apart, go into
 * that one. Both give the same points in the same order. */
#define LANE_SCALAR /* laws for one grain */
#include <stdatomic.h>
#include <string.h>

#include "core/parallel.h"
#include "upsample/internal.h"

enum { WRAP_SIDE_BITS = 3, WRAP_BITS_LEAST = 12, WRAP_BITS_MOST = 28, WRAP_CELLS_PER_POINT = 4 };
enum { FEW_POINTS = 1 << 20, CELLS_PER_POINT = 8, CELLS_LEAST = 4096, POINTS_CHUNK = 2048, CELLS_CHUNK = 512 };

Status coarse_grid_create(Core *core, CoarseGrid *grid) {
  *grid = (CoarseGrid){.dense = false};
  return cell_grid_create(core, &grid->sparse);
}

void coarse_grid_destroy(Core *core, CoarseGrid *grid) {
  cell_grid_destroy(core, grid->sparse);
  memory_drop(core, &grid->start);
  memory_drop(core, &grid->order);
}

/* The box round all cells; whether it has few enough for a table. */
static bool find_box(CoarseGrid *grid, int64_t count, int32_t *const cells[3]) {
  int64_t total = 1, most = CELLS_PER_POINT * count > CELLS_LEAST ? CELLS_PER_POINT * count : CELLS_LEAST;
  for (int axis = 0; axis < 3; axis++) {
    int32_t low = cells[axis][0], high = low;
    for (int64_t i = 1; i < count; i++) {
      int32_t at = cells[axis][i];
      low = at < low ? at : low;
      high = at > high ? at : high;
    }
    grid->low[axis] = low;
    grid->size[axis] = high - low + 1;
    if ((int64_t)high - low + 1 > most / total) return false;
    total *= grid->size[axis];
  }
  return true;
}

bool coarse_table_choose(int64_t count, const int32_t low[3], const int32_t high[3], CoarseTable *table) {
  int bits[3], most = WRAP_BITS_LEAST;
  bool folded = false;
  while (most < WRAP_BITS_MOST && (int64_t)1 << most < WRAP_CELLS_PER_POINT * count) most++;
  for (int axis = 0; axis < 3; axis++)
    for (bits[axis] = WRAP_SIDE_BITS; (int64_t)1 << bits[axis] < (int64_t)high[axis] - low[axis] + 1;) bits[axis]++;
  while (bits[0] + bits[1] + bits[2] > most) {
    int widest = bits[0] >= bits[1] && bits[0] >= bits[2] ? 0 : bits[1] >= bits[2] ? 1 : 2;
    bits[widest]--;
    folded = true;
  }
  for (int axis = 0; axis < 3; axis++) table->mask[axis] = (1 << bits[axis]) - 1;
  table->shift[0] = bits[0], table->shift[1] = bits[0] + bits[1];
  return folded;
}

int64_t coarse_table_cells(const CoarseTable *table) { return (int64_t)(table->mask[2] + 1) << table->shift[1]; }

double coarse_grid_inverse(float cell) { return 1 / ((double)cell * (1 + 0x1p-20)); }

static void find_wrap(CoarseGrid *grid, int64_t count, int32_t *const cells[3]) {
  int32_t low[3], high[3];
  for (int axis = 0; axis < 3; axis++) {
    low[axis] = high[axis] = cells[axis][0];
    for (int64_t i = 1; i < count; i++) {
      int32_t at = cells[axis][i];
      low[axis] = at < low[axis] ? at : low[axis];
      high[axis] = at > high[axis] ? at : high[axis];
    }
  }
  grid->table = (CoarseTable){.count = (int)count, .inverse = (float)grid->inverse};
  grid->folded = coarse_table_choose(count, low, high, &grid->table);
}

typedef struct Sorting {
  const Core *core;
  const CoarseGrid *grid;
  Points points;
  int32_t *cells[3]; /* coordinates of each point's cell */
  int32_t *number;   /* of it in the table */
  atomic_bool far;
} Sorting;

static void cells_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Sorting *s = context;
  const float *const from[3] = {s->points.x, s->points.y, s->points.z};
  for (int axis = 0; axis < 3; axis++)
    if (!KERNEL_CALL(s->core, coarse_cells)(from[axis] + b, e - b, s->grid->inverse, s->cells[axis] + b))
      atomic_store(&s->far, true);
}

/* Whether point a comes before b: by cell where a table is folded, then by id. */
static bool comes_before(const Sorting *s, int32_t a, int32_t b) {
  for (int axis = 2; axis >= 0 && s->grid->wraps && s->grid->folded; axis--)
    if (s->cells[axis][a] != s->cells[axis][b]) return s->cells[axis][a] < s->cells[axis][b];
  return s->points.id[a] < s->points.id[b];
}

static void order_cell(const Sorting *s, int32_t *order, int64_t count) {
  for (int64_t k = 1; k < count; k++) {
    int32_t point = order[k];
    int64_t at = k;
    for (; at > 0 && comes_before(s, point, order[at - 1]); at--) order[at] = order[at - 1];
    order[at] = point;
  }
}

static void ids_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sorting *s = context;
  const int32_t *start = s->grid->start;
  for (int64_t c = b; c < e; c++) order_cell(s, s->grid->order + start[c], start[c + 1] - start[c]);
}

/* Number of a point's cell in the table. */
static int32_t cell_number(const CoarseGrid *grid, int32_t x, int32_t y, int32_t z) {
  if (grid->wraps) return coarse_entry(grid->table, x, y, z);
  return ((z - grid->low[2]) * grid->size[1] + y - grid->low[1]) * grid->size[0] + x - grid->low[0];
}

int64_t coarse_grid_cells(const CoarseGrid *grid) {
  if (grid->wraps) return coarse_table_cells(&grid->table);
  return (int64_t)grid->size[0] * grid->size[1] * grid->size[2];
}

static Status sort_by_counting(Core *core, CoarseGrid *grid, Sorting *sorting) {
  Points points = sorting->points;
  int32_t *const *cells = sorting->cells;
  int64_t total = coarse_grid_cells(grid);
  TRY(memory_grow(core, &grid->start, total + 2, "coarse cells"));
  TRY(memory_grow(core, &grid->order, points.count, "coarse cells"));
  /* Three names for one array, each a step on: counts are summed to where the next point of a cell goes, and when all
   * points are placed that is where the next cell begins. */
  int32_t *counts = grid->start + 2, *next = grid->start + 1;
  memset(grid->start, 0, sizeof *grid->start * (size_t)(total + 2));
  for (int64_t i = 0; i < points.count; i++) {
    sorting->number[i] = cell_number(grid, cells[0][i], cells[1][i], cells[2][i]);
    counts[sorting->number[i]]++;
  }
  for (int64_t c = 0; c < total; c++) next[c + 1] += next[c];
  for (int64_t i = 0; i < points.count; i++) grid->order[next[sorting->number[i]]++] = (int32_t)i;
  parallel_for(core, 0, total, CELLS_CHUNK, ids_chunk, sorting);
  return SCREE_OK;
}

Status coarse_grid_build(Core *core, CoarseGrid *grid, Scratch *scratch, Points points, float cell) {
  grid->dense = false;
  if (points.count == 0 || (points.count > FEW_POINTS && !grid->wraps))
    return cell_grid_build(core, grid->sparse, points, cell);
  int mark = scratch_mark(scratch);
  Sorting sorting = {.core = core, .grid = grid, .points = points};
  grid->inverse = coarse_grid_inverse(cell);
  for (int axis = 0; axis < 3; axis++)
    TRY(scratch_take(core, scratch, &sorting.cells[axis], points.count, "coarse cells"));
  TRY(scratch_take(core, scratch, &sorting.number, points.count, "coarse cells"));
  parallel_for(core, 0, points.count, POINTS_CHUNK, cells_chunk, &sorting);
  if (grid->wraps) find_wrap(grid, points.count, sorting.cells);
  grid->dense = grid->wraps || (!atomic_load(&sorting.far) && find_box(grid, points.count, sorting.cells));
  Status status = grid->dense ? sort_by_counting(core, grid, &sorting) : SCREE_OK;
  scratch_release(core, scratch, mark);
  return grid->dense ? status : cell_grid_build(core, grid->sparse, points, cell);
}

const int32_t *coarse_grid_index(const CoarseGrid *grid) {
  return grid->dense ? grid->order : cell_grid_index(grid->sparse);
}

int coarse_grid_box(const CoarseGrid *grid, const float bounds[6], int capacity, int64_t (*ranges)[2]) {
  if (!grid->dense) return cell_grid_box(grid->sparse, bounds, capacity, ranges);
  int32_t cells[6], *low = cells, *high = cells + 3;
  int count = 0;
  coarse_cells_base(bounds, 6, grid->inverse, cells); /* what is too far for a cell is cut off below */
  for (int axis = 0; axis < 3; axis++) {
    int32_t first = low[axis] - grid->low[axis], last = high[axis] - grid->low[axis];
    low[axis] = first < 0 ? 0 : first;
    high[axis] = last < grid->size[axis] ? last : grid->size[axis] - 1;
    if (low[axis] > high[axis]) return 0;
  }
  for (int32_t z = low[2]; z <= high[2]; z++)
    for (int32_t y = low[1]; y <= high[1]; y++) {
      const int32_t *row = grid->start + ((int64_t)z * grid->size[1] + y) * grid->size[0];
      int64_t begin = row[low[0]], end = row[high[0] + 1];
      if (begin == end) continue;
      if (count == capacity) return capacity + 1;
      ranges[count][0] = begin;
      ranges[count++][1] = end;
    }
  return count;
}
