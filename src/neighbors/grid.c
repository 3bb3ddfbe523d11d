/* The cell grid: made from points in canonical order, see grid.h for its form. */
#include "neighbors/grid.h"

#include <float.h>
#include <stdatomic.h>
#include <string.h>

#include "core/parallel.h"

enum { BUILD_CHUNK = 1024 };

Status cell_grid_create(Core *core, CellGrid **grid) {
  TRY(memory_new(core, grid, 1, "cell grid"));
  Status status = search_create(core, &(*grid)->search);
  if (status != SCREE_OK) {
    memory_drop(core, grid);
    return status;
  }
  return SCREE_OK;
}

void cell_grid_destroy(Core *core, CellGrid *grid) {
  if (!grid) return;
  memory_drop(core, &grid->strip_key);
  memory_drop(core, &grid->start);
  memory_drop(core, &grid->hash);
  memory_drop(core, &grid->index);
  memory_drop(core, &grid->copy_x);
  memory_drop(core, &grid->copy_y);
  memory_drop(core, &grid->copy_z);
  memory_drop(core, &grid->own_records[0]);
  memory_drop(core, &grid->own_records[1]);
  memory_drop(core, &grid->histogram);
  memory_drop(core, &grid->chunk_strips);
  search_destroy(core, grid->search);
  memory_free(&core->memory, grid);
}

Status grid_check(Core *core, Points points, float cell) {
  if (points.count < 0 || points.count > INT32_MAX - STRIP)
    return fail(core, SCREE_BAD_ARGUMENT, "neighbours: %lld points, at most %d are possible", (long long)points.count,
                INT32_MAX - STRIP);
  /* Squares of lengths must neither vanish nor overflow in float. */
  if (!(cell >= 1e-15f && cell <= 1e15f))
    return fail(core, SCREE_BAD_ARGUMENT, "neighbours: cell size %g is not between 1e-15 and 1e15", (double)cell);
  return SCREE_OK;
}

static inline bool is_finite(float v) { return __builtin_fabsf(v) <= FLT_MAX; }

Status grid_not_finite(Core *core, Points points) {
  int64_t i = 0;
  while (i < points.count && is_finite(points.x[i]) && is_finite(points.y[i]) && is_finite(points.z[i])) i++;
  if (i == points.count) return SCREE_OK;
  return fail(core, SCREE_FAILED, "particle %lld is at (%g, %g, %g)", (long long)(points.id ? points.id[i] : i),
              (double)points.x[i], (double)points.y[i], (double)points.z[i]);
}

static void grid_set_cell(CellGrid *grid, float cell) {
  grid->cell = cell;
  grid->inverse = cell_inverse(cell);
}

Status cell_grid_order(Core *core, CellGrid *grid, Scratch *scratch, Points points, float cell, int32_t *order) {
  TRY(grid_check(core, points, cell));
  grid_set_cell(grid, cell);
  return grid_order(core, grid, scratch, points, order);
}

typedef struct Build {
  Core *core;
  CellGrid *grid;
  Points points;
  atomic_bool unsorted, bad;
} Build;

/* Keys of up to BLOCK points from b on. */
static bool block_keys(const Core *core, double inverse, Points points, int64_t b, int64_t e, uint64_t keys[BLOCK]) {
  int32_t x[BLOCK], y[BLOCK], z[BLOCK];
  int64_t count = e - b;
  bool good = KERNEL_CALL(core, cells_of)(points.x + b, count, inverse, x);
  good &= KERNEL_CALL(core, cells_of)(points.y + b, count, inverse, y);
  good &= KERNEL_CALL(core, cells_of)(points.z + b, count, inverse, z);
  for (int64_t i = 0; i < count; i++) keys[i] = cell_key(x[i], y[i], z[i]);
  return good;
}

static uint64_t point_key(const Core *core, double inverse, Points points, int64_t i) {
  uint64_t keys[BLOCK];
  block_keys(core, inverse, points, i, i + 1, keys);
  return keys[0];
}

/* Counts the strips that begin in a chunk, and looks whether the points are in order. */
static void count_strips(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Build *build = context;
  Points points = build->points;
  double inverse = build->grid->inverse;
  uint64_t keys[BLOCK], last = b > 0 ? point_key(build->core, inverse, points, b - 1) : 0;
  int32_t strips = b == 0;
  bool good = true, sorted = true;
  for (int64_t block = b; block < e && sorted && good; block += BLOCK) {
    int64_t end = block + BLOCK < e ? block + BLOCK : e;
    good = block_keys(build->core, inverse, points, block, end, keys);
    if (block == 0) last = keys[0];
    for (int64_t i = block; i < end; i++) {
      uint64_t key = keys[i - block];
      strips += key >> STRIP_BITS != last >> STRIP_BITS;
      sorted &= key > last || i == 0 || (key == last && (!points.id || points.id[i - 1] <= points.id[i]));
      last = key;
    }
  }
  if (!good) atomic_store(&build->bad, true);
  if (!sorted) atomic_store(&build->unsorted, true);
  build->grid->chunk_strips[b / BUILD_CHUNK] = strips;
}

/* Writes the strips that begin in a chunk; the last may run on into the next chunks. */
static void fill_strips(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Build *build = context;
  CellGrid *grid = build->grid;
  uint64_t keys[BLOCK], strip_key = b > 0 ? point_key(build->core, grid->inverse, build->points, b - 1) : 0;
  strip_key >>= STRIP_BITS;
  int64_t next = grid->chunk_strips[b / BUILD_CHUNK];
  int32_t *start = NULL; /* of the strip in progress; NULL while it belongs to a chunk before */
  int lane = 0;
  int64_t i = b;
  for (int64_t block = b; block < grid->count; block = i) {
    int64_t end = block + BLOCK < grid->count ? block + BLOCK : grid->count;
    block_keys(build->core, grid->inverse, build->points, block, end, keys);
    for (i = block; i < end; i++) {
      uint64_t key = keys[i - block];
      int here = (int)(key & (STRIP - 1));
      if (key >> STRIP_BITS != strip_key || i == 0) {
        while (start && lane < STRIP - 1) start[++lane] = (int32_t)i;
        start = NULL;
        if (i >= e) return;
        strip_key = key >> STRIP_BITS;
        grid->strip_key[next] = strip_key;
        start = grid->start + STRIP * next++;
        start[0] = (int32_t)i;
        lane = 0;
      }
      while (start && lane < here) start[++lane] = (int32_t)i;
      if (!start && i >= e) return;
    }
  }
  while (start && lane < STRIP - 1) start[++lane] = (int32_t)grid->count;
}

static void hash_strips(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  CellGrid *grid = context;
  uint32_t mask = (1u << grid->hash_bits) - 1;
  for (int64_t s = b; s < e; s++) {
    /* Where in a run of taken slots a strip lands depends on threads; what is found does not. */
    uint32_t slot = strip_hash(grid->strip_key[s], grid->hash_bits);
    int32_t empty = -1;
    while (!__atomic_compare_exchange_n(&grid->hash[slot], &empty, (int32_t)s, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
      empty = -1;
      slot = (slot + 1) & mask;
    }
  }
}

static Status grid_fill(Core *core, Build *build) {
  CellGrid *grid = build->grid;
  int64_t chunks = parallel_chunks(0, grid->count, BUILD_CHUNK), strips = 0;
  for (int64_t c = 0; c < chunks; c++) {
    int32_t here = grid->chunk_strips[c];
    grid->chunk_strips[c] = (int32_t)strips;
    strips += here;
  }
  grid->strips = strips;
  TRY(memory_grow(core, &grid->strip_key, strips, "cells"));
  TRY(memory_grow(core, &grid->start, STRIP * strips + 1, "cells"));
  grid->hash_bits = 4;
  while ((int64_t)1 << grid->hash_bits < 2 * strips) grid->hash_bits++;
  TRY(memory_grow(core, &grid->hash, (int64_t)1 << grid->hash_bits, "cells"));
  parallel_for(core, 0, grid->count, BUILD_CHUNK, fill_strips, build);
  grid->start[STRIP * strips] = (int32_t)grid->count;
  memset(grid->hash, 0xff, sizeof *grid->hash << grid->hash_bits);
  parallel_for(core, 0, strips, BUILD_CHUNK, hash_strips, grid);
  return SCREE_OK;
}

static void copy_sorted(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Build *build = context;
  CellGrid *grid = build->grid;
  for (int64_t k = b; k < e; k++) {
    int32_t i = grid->index[k];
    grid->copy_x[k] = build->points.x[i];
    grid->copy_y[k] = build->points.y[i];
    grid->copy_z[k] = build->points.z[i];
  }
}

static Status grid_sort_copy(Core *core, Build *build) {
  CellGrid *grid = build->grid;
  int64_t count = grid->count;
  grid->identity = 0;
  TRY(grid_order(core, grid, NULL, build->points, grid->index));
  TRY(memory_grow(core, &grid->copy_x, count, "sorted points"));
  TRY(memory_grow(core, &grid->copy_y, count, "sorted points"));
  TRY(memory_grow(core, &grid->copy_z, count, "sorted points"));
  parallel_for(core, 0, count, BUILD_CHUNK, copy_sorted, build);
  build->points = (Points){count, grid->copy_x, grid->copy_y, grid->copy_z, NULL};
  return SCREE_OK;
}

Status cell_grid_build(Core *core, CellGrid *grid, Points points, float cell) {
  grid->count = grid->strips = 0;
  grid->hashed = false;
  TRY(grid_check(core, points, cell));
  grid_set_cell(grid, cell);
  TRY(memory_grow(core, &grid->chunk_strips, parallel_chunks(0, points.count, BUILD_CHUNK), "cells"));
  TRY(memory_grow(core, &grid->index, points.count, "cells"));
  Build build = {.core = core, .grid = grid, .points = points};
  parallel_for(core, 0, points.count, BUILD_CHUNK, count_strips, &build);
  if (build.bad) return grid_not_finite(core, points);
  grid->count = points.count;
  grid->sorted = !build.unsorted;
  Status status = SCREE_OK;
  if (grid->sorted)
    for (; grid->identity < points.count; grid->identity++) grid->index[grid->identity] = (int32_t)grid->identity;
  else {
    status = grid_sort_copy(core, &build);
    if (status == SCREE_OK) parallel_for(core, 0, points.count, BUILD_CHUNK, count_strips, &build);
  }
  if (status == SCREE_OK) status = grid_fill(core, &build);
  if (status != SCREE_OK) {
    grid->count = grid->strips = 0;
    return status;
  }
  grid->x = build.points.x;
  grid->y = build.points.y;
  grid->z = build.points.z;
  return SCREE_OK;
}

/* Entries of the table that points fall into, for the time being in copy_x. */
static void hash_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Build *build = context;
  CellGrid *grid = build->grid;
  int32_t *entry = (int32_t *)grid->copy_x, x[BLOCK], y[BLOCK], z[BLOCK];
  for (int64_t block = b; block < e; block += BLOCK) {
    int64_t count = block + BLOCK < e ? BLOCK : e - block;
    bool good = KERNEL_CALL(build->core, cells_of)(build->points.x + block, count, grid->inverse, x);
    good &= KERNEL_CALL(build->core, cells_of)(build->points.y + block, count, grid->inverse, y);
    good &= KERNEL_CALL(build->core, cells_of)(build->points.z + block, count, grid->inverse, z);
    if (!good) atomic_store(&build->bad, true);
    for (int64_t i = 0; i < count; i++)
      entry[block + i] = (int32_t)((table_row(y[i], z[i]) + (uint32_t)x[i]) & grid->table_mask);
  }
}

/* Counting sort, on one thread: a few instructions a point. */
static void deal_points(CellGrid *grid) {
  int64_t size = (int64_t)grid->table_mask + 1;
  const int32_t *entry = (const int32_t *)grid->copy_x;
  int32_t *start = grid->start, place = 0;
  memset(start, 0, sizeof *start * (size_t)(size + 1));
  for (int64_t i = 0; i < grid->count; i++) start[entry[i]]++;
  for (int64_t k = 0; k <= size; k++) {
    int32_t here = start[k];
    start[k] = place;
    place += here;
  }
  for (int64_t i = 0; i < grid->count; i++) grid->index[start[entry[i]]++] = (int32_t)i;
  memmove(start + 1, start, sizeof *start * (size_t)size); /* each stands where the next began */
  start[0] = 0;
}

Status cell_grid_hash(Core *core, CellGrid *grid, Points points, float cell) {
  grid->count = grid->strips = grid->identity = 0;
  grid->hashed = true;
  grid->sorted = false;
  TRY(grid_check(core, points, cell));
  grid_set_cell(grid, cell);
  int bits = 6;
  while ((int64_t)1 << bits < 2 * points.count && bits < 31) bits++;
  grid->table_mask = (1u << bits) - 1;
  TRY(memory_grow(core, &grid->start, ((int64_t)1 << bits) + 1, "cells"));
  TRY(memory_grow(core, &grid->index, points.count + LANES, "cells"));
  TRY(memory_grow(core, &grid->copy_x, points.count + LANES, "sorted points"));
  TRY(memory_grow(core, &grid->copy_y, points.count + LANES, "sorted points"));
  TRY(memory_grow(core, &grid->copy_z, points.count + LANES, "sorted points"));
  Build build = {.core = core, .grid = grid, .points = points};
  parallel_for(core, 0, points.count, BUILD_CHUNK, hash_chunk, &build);
  if (build.bad) return grid_not_finite(core, points);
  grid->count = points.count;
  deal_points(grid);
  parallel_for(core, 0, points.count, BUILD_CHUNK, copy_sorted, &build);
  grid->x = grid->copy_x;
  grid->y = grid->copy_y;
  grid->z = grid->copy_z;
  return SCREE_OK;
}

int64_t cell_grid_cells(const CellGrid *grid) { return STRIP * grid->strips; }

void cell_grid_cell(const CellGrid *grid, int64_t cell, int64_t *begin, int64_t *end, int32_t coordinate[3]) {
  *begin = grid->start[cell];
  *end = grid->start[cell + 1];
  if (coordinate) cell_key_split(grid->strip_key[cell >> STRIP_BITS] << STRIP_BITS | (cell & (STRIP - 1)), coordinate);
}

const int32_t *cell_grid_index(const CellGrid *grid) { return grid->index; }

void cell_grid_coordinate(const CellGrid *grid, float x, float y, float z, int32_t coordinate[3]) {
  cells_of_base(&x, 1, grid->inverse, &coordinate[0]);
  cells_of_base(&y, 1, grid->inverse, &coordinate[1]);
  cells_of_base(&z, 1, grid->inverse, &coordinate[2]);
}

/* Fills one row of the surroundings from the strip before, at and behind the place; those that exist follow each other
 * in storage, so that any one of them tells where a missing one would begin. */
static void surroundings_row(const CellGrid *grid, uint64_t key, int32_t hint, Surroundings *around, int row) {
  const uint64_t *keys = grid->strip_key;
  int32_t *start = around->start[row];
  int32_t at = hint >= 0 && hint < grid->strips && keys[hint] == key ? hint : strip_find(grid, key);
  int32_t before, behind;
  if (at >= 0) {
    before = at > 0 && keys[at - 1] == key - 1 ? at - 1 : -1;
    behind = at + 1 < grid->strips && keys[at + 1] == key + 1 ? at + 1 : -1;
  } else {
    before = strip_find(grid, key - 1);
    behind = strip_find(grid, key + 1);
  }
  int32_t first = at >= 0 ? STRIP * at : before >= 0 ? STRIP * (before + 1) : behind >= 0 ? STRIP * behind : 0;
  start[0] = grid->start[first - (before >= 0)];
  if (at >= 0) memcpy(start + 1, grid->start + first, (STRIP + 1) * sizeof *start);
  else
    for (int k = 1; k <= STRIP + 1; k++) start[k] = grid->start[first];
  start[STRIP + 2] = behind >= 0 ? grid->start[STRIP * behind + 1] : start[STRIP + 1];
  around->strip[row] = at >= 0 ? at : before >= 0 ? before : behind - 1;
}

static void surroundings_rows(int32_t y, int32_t z, Surroundings *around) {
  around->y = y;
  around->z = z;
  for (int row = 0; row < 9; row++) {
    uint64_t key = cell_key(-COORDINATE_BIAS, y + row % 3 - 1, z + row / 3 - 1) >> STRIP_BITS;
    int k = row;
    for (; k > 0 && around->row_key[k - 1] > key; k--) around->row_key[k] = around->row_key[k - 1];
    around->row_key[k] = key;
  }
}

bool surroundings_find(const CellGrid *grid, int32_t x, int32_t y, int32_t z, Surroundings *around) {
  uint32_t strip_x = (uint32_t)(x + COORDINATE_BIAS) >> STRIP_BITS;
  bool same_row = around->valid && y == around->y && z == around->z;
  if (same_row && strip_x == around->strip_x) return false;
  bool next = same_row && strip_x == around->strip_x + 1;
  if (!same_row) surroundings_rows(y, z, around);
  around->valid = true;
  around->strip_x = strip_x;
  for (int row = 0; row < 9; row++)
    surroundings_row(grid, around->row_key[row] + strip_x, next ? around->strip[row] + 1 : -1, around, row);
  return true;
}

int cell_grid_around(const CellGrid *grid, const int32_t coordinate[3], int64_t ranges[CELL_RANGES_MAX][2]) {
  if (grid->strips == 0) return 0;
  Surroundings around = {.valid = false};
  surroundings_find(grid, coordinate[0], coordinate[1], coordinate[2], &around);
  int count = 0, lane = (coordinate[0] + COORDINATE_BIAS) & (STRIP - 1);
  for (int r = 0; r < 9; r++) {
    const int32_t *start = around.start[r];
    int64_t begin = start[lane], end = start[lane + 3];
    if (begin == end) continue;
    if (count > 0 && ranges[count - 1][1] == begin) ranges[count - 1][1] = end;
    else {
      ranges[count][0] = begin;
      ranges[count++][1] = end;
    }
  }
  return count;
}

int cell_grid_box(const CellGrid *grid, const float bounds[6], int room, int64_t (*ranges)[2]) {
  int count = 0;
  int32_t cells[6], *low = cells, *high = cells + 3;
  if (grid->strips == 0) return 0;
  cells_of_base(bounds, 6, grid->inverse, cells);
  for (int32_t z = low[2]; z <= high[2]; z++)
    for (int32_t y = low[1]; y <= high[1]; y++) {
      uint64_t row = cell_key(-COORDINATE_BIAS, y, z) >> STRIP_BITS;
      uint32_t first = (uint32_t)(low[0] + COORDINATE_BIAS), last = (uint32_t)(high[0] + COORDINATE_BIAS);
      for (uint32_t s = first >> STRIP_BITS; s <= last >> STRIP_BITS; s++) {
        int32_t strip = strip_find(grid, row + s);
        if (strip < 0) continue;
        uint32_t from = s == first >> STRIP_BITS ? first & (STRIP - 1) : 0;
        uint32_t to = s == last >> STRIP_BITS ? last & (STRIP - 1) : STRIP - 1;
        int64_t begin = grid->start[(int64_t)STRIP * strip + from], end = grid->start[(int64_t)STRIP * strip + to + 1];
        if (begin == end) continue;
        if (count == room) return room + 1;
        ranges[count][0] = begin;
        ranges[count++][1] = end;
      }
    }
  return count;
}
