/* Neighbour lists from the cell grid.
 *
 * Rows are found once, chunk by chunk, into buffers that stay in cache, and copied to their place when the chunks
 * before them are known. A wave of chunks at a time, a few for each thread: the buffers then need little memory however
 * many rows there are.
 */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "neighbors/grid.h"

enum {
  ROWS_CHUNK = 256,
  ROWS_CHUNK_FEW = 32, /* of a few rows, so that every thread gets some */
  WAVE_CHUNKS = 32,    /* at least */
  THREAD_CHUNKS = 8,   /* of a wave: who is quicker does more */
  ROOM_FIRST = 8,      /* entries a row */
  CANDIDATES_FIRST = 256,
  RADII_CHUNK = 16384,
  MARKS_MOST = 1 << 18 /* cells; where there are more, all queries are searched for */
};

void neighbor_list_destroy(Core *core, NeighborList *list) {
  memory_drop(core, &list->start);
  memory_drop(core, &list->index);
  list->count = list->entries = 0;
}

/* A thread's candidates: of one cell at a time, so that chunks need none of their own. */
typedef struct Desk {
  int32_t *candidates;
  int64_t room;
} Desk;

typedef struct Buffer {
  RowsBuffer rows;
  int64_t first; /* where its rows begin in the list */
  bool no_memory;
} Buffer;

struct Search {
  Core *core;
  RowsJob job;
  const int32_t *index; /* of the grid's order; NULL when that is the identity */
  bool drop_self;       /* while translating: the kernel cannot know a row's place in the grid's order */
  NeighborList *list;
  int64_t wave;    /* first row of it */
  int64_t chunk;   /* rows */
  Buffer *buffers; /* of a wave's chunks */
  int64_t buffer_count;
  uint8_t *marks; /* and the cells of the targets that they were made from */
  int32_t *target_cells;
  Desk *desks; /* per thread */
  int64_t desk_count;
};

Status search_create(Core *core, Search **search) { return memory_new(core, search, 1, "neighbour search"); }

void search_destroy(Core *core, Search *search) {
  if (!search) return;
  for (int64_t c = 0; c < search->buffer_count; c++) memory_drop(core, &search->buffers[c].rows.out);
  memory_drop(core, &search->buffers);
  for (int64_t d = 0; d < search->desk_count; d++) memory_drop(core, &search->desks[d].candidates);
  memory_drop(core, &search->desks);
  memory_drop(core, &search->marks);
  memory_drop(core, &search->target_cells);
  memory_free(&core->memory, search);
}

static Status search_desks(Core *core, Search *search) {
  int64_t threads = pool_threads(core->pool);
  int64_t chunks = THREAD_CHUNKS * threads > WAVE_CHUNKS ? THREAD_CHUNKS * threads : WAVE_CHUNKS;
  if (threads <= search->desk_count) return SCREE_OK;
  TRY(memory_grow(core, &search->buffers, chunks, "neighbour search"));
  search->buffer_count = chunks;
  TRY(memory_grow(core, &search->desks, threads, "neighbour search"));
  search->desk_count = threads;
  return SCREE_OK;
}

/* Makes the room that is wanted; `used` entries are kept. */
static bool buffer_grow(Core *core, RowsBuffer *buffer, int64_t used) {
  if (buffer->wanted > buffer->room) {
    int64_t room = buffer->wanted > buffer->room * 3 / 2 ? buffer->wanted : buffer->room * 3 / 2;
    int32_t *out = memory_get(&core->memory, room, sizeof *out, "neighbour buffer");
    if (!out) return false;
    if (used) memcpy(out, buffer->out, (size_t)used * sizeof *out);
    memory_free(&core->memory, buffer->out);
    buffer->out = out;
    buffer->room = room;
  }
  if (buffer->candidates_wanted > buffer->candidate_room) {
    int64_t room = (buffer->candidates_wanted * 3 / 2 + LANES - 1) / LANES * LANES;
    memory_drop(core, &buffer->candidates);
    buffer->candidate_room = 0;
    buffer->candidates = memory_get(&core->memory, 5 * room, sizeof *buffer->candidates, "neighbour buffer");
    if (!buffer->candidates) return false;
    buffer->candidate_room = room;
  }
  return true;
}

static int compare_indices(const void *a, const void *b) {
  int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
  return (left > right) - (left < right);
}

static void sort_indices(int32_t *indices, int64_t count) {
  enum { SHORT = 64 };
  if (count > SHORT) {
    qsort(indices, (size_t)count, sizeof *indices, compare_indices);
    return;
  }
  for (int64_t i = 1; i < count; i++) {
    int32_t index = indices[i];
    int64_t k = i;
    for (; k > 0 && indices[k - 1] > index; k--) indices[k] = indices[k - 1];
    indices[k] = index;
  }
}

/* Of sorted ones; returns how many are left. */
static int64_t drop_equal(int32_t *indices, int64_t count) {
  int64_t kept = count > 0;
  for (int64_t k = 1; k < count; k++)
    if (indices[k] != indices[k - 1]) indices[kept++] = indices[k];
  return kept;
}

/* From places in the grid's order to the caller's indices, ascending, without the row's own. Keeps ends up to date. */
static void rows_translate(const Search *search, int64_t b, int64_t e, int32_t *out, int64_t *ends) {
  int64_t from = 0, to = 0;
  for (int64_t i = b; i < e; i++) {
    int64_t row = to;
    for (; from < ends[i - b]; from++) {
      int32_t target = search->index[out[from]];
      if (!search->drop_self || target != i) out[to++] = target;
    }
    sort_indices(out + row, to - row);
    if (search->job.grid->hashed) to = row + drop_equal(out + row, to - row);
    ends[i - b] = to;
  }
}

static void find_chunk(Search *search, Buffer *buffer, int64_t b, int64_t e) {
  /* The rows' ends are put where the list will have them, counted from the chunk's beginning. */
  int64_t *ends = search->list->start + 1 + b;
  int64_t used = 0;
  buffer->no_memory = buffer->rows.not_finite = false;
  buffer->rows.wanted = ROOM_FIRST * search->chunk;
  buffer->rows.candidates_wanted = CANDIDATES_FIRST;
  for (int64_t row = b;;) {
    if (!buffer_grow(search->core, &buffer->rows, used)) {
      buffer->no_memory = true;
      return;
    }
    row = KERNEL_CALL(search->core, rows_find)(&search->job, row, e, used, &buffer->rows, ends + (row - b));
    if (row == e || buffer->rows.not_finite) break;
    used = row > b ? ends[row - 1 - b] : 0;
  }
  if (search->index && !buffer->rows.not_finite) rows_translate(search, b, e, buffer->rows.out, ends);
}

static void search_chunk(void *context, int64_t b, int64_t e, int thread) {
  Search *search = context;
  Buffer *buffer = &search->buffers[(b - search->wave) / search->chunk];
  Desk *desk = &search->desks[thread];
  buffer->rows.candidates = desk->candidates;
  buffer->rows.candidate_room = desk->room;
  find_chunk(search, buffer, b, e);
  *desk = (Desk){buffer->rows.candidates, buffer->rows.candidate_room};
}

static void copy_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Search *search = context;
  const Buffer *buffer = &search->buffers[(b - search->wave) / search->chunk];
  int64_t *ends = search->list->start + 1;
  memcpy(search->list->index + buffer->first, buffer->rows.out, (size_t)ends[e - 1] * sizeof(int32_t));
  for (int64_t i = b; i < e; i++) ends[i] += buffer->first;
}

/* Room for the entries of this wave, and a guess at all of them from what the rows so far had. */
static Status list_reserve(Core *core, NeighborList *list, int64_t done, int64_t entries) {
  if (list->index && entries <= memory_size(list->index) / (int64_t)sizeof(int32_t)) return SCREE_OK;
  double guess = (double)entries * ((double)list->count / (double)done) * 1.04;
  int64_t room = done == list->count || guess > 1e15 ? entries : (int64_t)guess;
  return memory_grow(core, &list->index, room, "neighbour list");
}

static Status search_wave(Core *core, Search *search, int64_t end) {
  NeighborList *list = search->list;
  parallel_for(core, search->wave, end, search->chunk, search_chunk, search);
  for (int64_t b = search->wave; b < end; b += search->chunk) {
    Buffer *buffer = &search->buffers[(b - search->wave) / search->chunk];
    if (buffer->rows.not_finite) return grid_not_finite(core, search->job.queries);
    if (buffer->no_memory)
      return fail(core, SCREE_NO_MEMORY, "out of memory: neighbours of %lld points", (long long)list->count);
    int64_t last = b + search->chunk < end ? b + search->chunk : end;
    buffer->first = list->entries;
    list->entries += list->start[last];
  }
  TRY(list_reserve(core, list, end, list->entries));
  parallel_for(core, search->wave, end, search->chunk, copy_chunk, search);
  return SCREE_OK;
}

/* Radii of the targets in the grid's order. */
typedef struct Sorting {
  const int32_t *index;
  const float *radius;
  float *sorted;
} Sorting;

static void sort_radii_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sorting *sorting = context;
  for (int64_t k = b; k < e; k++) sorting->sorted[k] = sorting->radius[sorting->index[k]];
}

static Status sort_radii(Core *core, const CellGrid *grid, const float *radius, float **sorted) {
  TRY(memory_new(core, sorted, grid->count, "radii"));
  Sorting sorting = {grid->index, radius, *sorted};
  parallel_for(core, 0, grid->count, RADII_CHUNK, sort_radii_chunk, &sorting);
  return SCREE_OK;
}

static double largest_chunk(void *context, int64_t b, int64_t e) {
  const float *values = context;
  float most = 0, check = 0;
  for (int64_t i = b; i < e; i++) {
    most = values[i] > most ? values[i] : most;
    check += values[i] - values[i]; /* a NaN comes through */
  }
  return (double)(most + check);
}

static float largest(Core *core, const float *values, int64_t count) {
  return (float)parallel_max(core, 0, count, RADII_CHUNK, 0, largest_chunk, (void *)values);
}

/* The box of cells round the targets, one cell wider on all sides; returns how many cells. */
static double box_of_targets(RowsJob *job, int64_t count, const int32_t *cells[3]) {
  double volume = 1;
  for (int k = 0; k < 3; k++) {
    int32_t low = cells[k][0], high = low;
    for (int64_t i = 1; i < count; i++) {
      low = cells[k][i] < low ? cells[k][i] : low;
      high = cells[k][i] > high ? cells[k][i] : high;
    }
    job->low[k] = low - 1;
    job->size[k] = high - low + 3;
    volume *= job->size[k];
  }
  return volume;
}

/* Few targets among many queries (a body's samples in a bed): most queries are far from all of them. Targets of a query
 * are in the cells round its own, so these are marked. */
static Status search_marks(Core *core, Search *search, Points targets) {
  RowsJob *job = &search->job;
  int64_t count = targets.count;
  if (count >= job->queries.count) return SCREE_OK;
  TRY(memory_grow(core, &search->target_cells, 3 * count, "neighbour search"));
  const float *coordinates[3] = {targets.x, targets.y, targets.z};
  const int32_t *cells[3];
  for (int k = 0; k < 3; k++) {
    KERNEL_CALL(core, cells_of)(coordinates[k], count, job->grid->inverse, search->target_cells + k * count);
    cells[k] = search->target_cells + k * count;
  }
  double volume = box_of_targets(job, count, cells);
  if (volume > MARKS_MOST) return SCREE_OK;
  TRY(memory_grow(core, &search->marks, (int64_t)volume, "neighbour search"));
  memset(search->marks, 0, (size_t)volume);
  int64_t across = job->size[0], layer = across * job->size[1];
  for (int64_t i = 0; i < count; i++) {
    uint8_t *mark = search->marks + (cells[2][i] - job->low[2]) * layer + (cells[1][i] - job->low[1]) * across +
                    (cells[0][i] - job->low[0]);
    for (int row = 0; row < 9; row++) memset(mark + (row / 3 - 1) * layer + (row % 3 - 1) * across - 1, 1, 3);
  }
  job->marks = search->marks;
  return SCREE_OK;
}

static Status search_check(Core *core, const CellGrid *grid, Points queries, Points targets, float reach,
                           const float *query_radius, const float *target_radius) {
  TRY(grid_check(core, queries, grid->cell));
  if (targets.count != grid->count)
    return fail(core, SCREE_BAD_ARGUMENT, "neighbours: the grid has %lld points, not %lld", (long long)grid->count,
                (long long)targets.count);
  if (!query_radius != !target_radius) return fail(core, SCREE_BAD_ARGUMENT, "neighbours: radii of one set only");
  float farthest = reach;
  if (target_radius)
    farthest = reach * (largest(core, query_radius, queries.count) + largest(core, target_radius, targets.count));
  if (!(reach >= 0 && farthest <= grid->cell))
    return fail(core, SCREE_BAD_ARGUMENT, "neighbours: reach %g is more than the cell size %g", (double)farthest,
                (double)grid->cell);
  return SCREE_OK;
}

Status neighbor_list_build(Core *core, const CellGrid *grid, Points queries, Points targets, float reach,
                           const float *query_radius, const float *target_radius, NeighborList *list) {
  list->count = list->entries = 0;
  TRY(search_check(core, grid, queries, targets, reach, query_radius, target_radius));
  TRY(memory_grow(core, &list->start, queries.count + 1, "neighbour list"));
  TRY(memory_grow(core, &list->index, 1, "neighbour list"));
  list->count = queries.count;
  list->start[0] = 0;
  if (grid->count == 0) {
    memset(list->start, 0, (size_t)(queries.count + 1) * sizeof *list->start);
    return SCREE_OK;
  }
  Search *search = grid->search;
  TRY(search_desks(core, search));
  float *sorted_radius = NULL;
  if (!grid->sorted && target_radius) TRY(sort_radii(core, grid, target_radius, &sorted_radius));
  bool same = queries.x == targets.x && queries.y == targets.y && queries.z == targets.z;
  search->core = core;
  search->job = (RowsJob){.grid = grid,
                          .queries = queries,
                          .same = same && grid->sorted,
                          .reach = reach,
                          .query_radius = query_radius,
                          .target_radius = sorted_radius ? sorted_radius : target_radius};
  search->index = grid->sorted ? NULL : grid->index;
  search->drop_self = same;
  search->list = list;
  Status status = search_marks(core, search, targets);
  search->chunk = (queries.count + search->buffer_count - 1) / search->buffer_count;
  if (search->chunk < ROWS_CHUNK_FEW) search->chunk = ROWS_CHUNK_FEW;
  if (search->chunk > ROWS_CHUNK) search->chunk = ROWS_CHUNK;
  const int64_t wave = search->chunk * search->buffer_count;
  for (int64_t b = 0; b < queries.count && status == SCREE_OK; b += wave) {
    search->wave = b;
    status = search_wave(core, search, b + wave < queries.count ? b + wave : queries.count);
  }
  memory_drop(core, &sorted_radius);
  if (status != SCREE_OK) list->count = list->entries = 0;
  return status;
}
