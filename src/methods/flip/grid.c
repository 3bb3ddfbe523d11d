#include "methods/flip/grid.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/grid_kernels.h"

enum {
  CLEAR_CHUNK = 16384,
  PLACE_CHUNK = 16384,
  PLACE_BLOCK = 512, /* stays in the nearest cache */
  SEEN_SLOTS = 4096,
  LINK_CHUNK = 512,
  CELL_CHUNK = 4096,
  ORDER_PARTS = 8
};

#define NOWHERE UINT64_MAX

/* A strip that holds particles, and which of its cells do. */
typedef struct Occupied {
  uint64_t key;
  uint32_t cells; /* a bit each */
} Occupied;

typedef struct Placing {
  Core *core;
  Places places;
  uint64_t *key; /* of each particle's strip */
  uint8_t *lane;
  float *x, *y, *z; /* of each particle, in cells */
  Occupied *seen;   /* PLACE_CHUNK per chunk */
  int32_t *seen_count;
} Placing;

/* Downwards. */
static inline int32_t whole(float x) {
  int32_t below = (int32_t)x;
  return below - ((float)below > x);
}

/* The cell of a particle; false when it lies beyond what the grid can number. */
static inline bool place_of(const Placing *work, int64_t i, int32_t cell[3]) {
  const float limit = (float)GRID_LIMIT, x = work->x[i], y = work->y[i], z = work->z[i];
  if (!(fabsf(x) < limit && fabsf(y) < limit && fabsf(z) < limit)) return false;
  cell[0] = whole(x);
  cell[1] = whole(y);
  cell[2] = whole(z);
  return true;
}

/* Adds to a small set of the chunk's own; when it is full, appends without asking: the reader merges. */
static void note(Occupied *list, int32_t *count, int32_t *slots, uint64_t key, uint32_t bit) {
  uint32_t slot = strip_slot(key, 12);
  for (int probe = 0; probe < 16; probe++, slot = (slot + 1) & (SEEN_SLOTS - 1)) {
    int32_t at = slots[slot];
    if (at >= 0 && list[at].key == key) {
      list[at].cells |= bit;
      return;
    }
    if (at < 0) {
      slots[slot] = *count;
      break;
    }
  }
  list[(*count)++] = (Occupied){key, bit};
}

static void place_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Placing *work = context;
  Occupied *list = work->seen + b;
  int32_t count = 0, slots[SEEN_SLOTS];
  memset(slots, -1, sizeof slots);
  uint64_t last = NOWHERE;
  uint32_t cells = 0;
  for (int64_t i = b; i < e; i++) {
    int32_t cell[3];
    if ((i - b) % PLACE_BLOCK == 0)
      KERNEL_CALL(work->core, flip_place)(&work->places, i, e - i < PLACE_BLOCK ? e : i + PLACE_BLOCK);
    work->key[i] = NOWHERE;
    work->lane[i] = 0;
    if (!place_of(work, i, cell)) continue;
    uint64_t key = strip_key(cell[0], cell[1], cell[2]);
    uint32_t bit = 1u << (cell[0] & (STRIP - 1));
    work->key[i] = key;
    work->lane[i] = (uint8_t)(cell[0] & (STRIP - 1));
    if (key == last && (cells & bit)) continue;
    note(list, &count, slots, key, bit);
    cells = key == last ? cells | bit : bit;
    last = key;
  }
  work->seen_count[b / PLACE_CHUNK] = count;
}

/* ---- the set of strips ---- */

typedef struct KeySet {
  uint64_t *slots; /* NOWHERE: free */
  int bits;
  uint64_t *list;
  int64_t count;
} KeySet;

static Status set_make(Core *core, Scratch *scratch, int64_t most, KeySet *set) {
  set->count = 0;
  for (set->bits = 6; 1ll << set->bits < 2 * most; set->bits++) {
  }
  TRY(scratch_take(core, scratch, &set->slots, 1ll << set->bits, "strips"));
  TRY(scratch_take(core, scratch, &set->list, most, "strips"));
  memset(set->slots, 0xff, sizeof *set->slots << set->bits);
  return SCREE_OK;
}

/* The caller leaves room. */
static inline void set_add(KeySet *set, uint64_t key) {
  uint32_t mask = (1u << set->bits) - 1, slot = strip_slot(key, set->bits);
  while (set->slots[slot] != key) {
    if (set->slots[slot] == NOWHERE) {
      set->slots[slot] = key;
      set->list[set->count++] = key;
      return;
    }
    slot = (slot + 1) & mask;
  }
}

/* Ascending, by the bytes in which the keys differ; `spare` has as much room. Answers where they are. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *spare, int64_t count) {
  uint64_t differ = 0;
  for (int64_t k = 1; k < count; k++) differ |= keys[k] ^ keys[0];
  for (int shift = 0; shift < 64; shift += 8) {
    if (!(differ >> shift & 255)) continue;
    int64_t start[257] = {0};
    for (int64_t k = 0; k < count; k++) start[(keys[k] >> shift & 255) + 1]++;
    for (int byte = 0; byte < 256; byte++) start[byte + 1] += start[byte];
    for (int64_t k = 0; k < count; k++) spare[start[keys[k] >> shift & 255]++] = keys[k];
    uint64_t *swap = keys;
    keys = spare;
    spare = swap;
  }
  return keys;
}

/* Bytes that a strip costs in all, fields and solver's vectors included. */
enum { BYTES_PER_STRIP = 4096 };

static Status refuse_size(Core *core, int64_t strips) {
  double bytes = (double)strips * BYTES_PER_STRIP, left = (double)memory_left(&core->memory);
  if (bytes <= left && strips < INT32_MAX / (STRIP * 2)) return SCREE_OK;
  return fail(core, SCREE_NO_MEMORY,
              "the grid would need %lld cells and %.1f GB, and %.1f GB are free: make the cell larger",
              (long long)strips * STRIP, bytes / 1e9, left / 1e9);
}

/* Adds the strips round the occupied ones; false when there are more than room. */
static bool spread(const Placing *work, int64_t chunks, int64_t most, KeySet *set) {
  for (int64_t c = 0; c < chunks; c++)
    for (int32_t k = 0; k < work->seen_count[c]; k++) {
      const Occupied *at = &work->seen[c * PLACE_CHUNK + k];
      for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++) {
          uint64_t key = at->key + ((uint64_t)(int64_t)dz << (2 * GRID_BITS)) + ((uint64_t)(int64_t)dy << GRID_BITS);
          if (set->count + 3 > most) return false;
          set_add(set, key);
          if (at->cells & 1u) set_add(set, key - 1);
          if (at->cells & 1u << (STRIP - 1)) set_add(set, key + 1);
        }
    }
  return true;
}

/* Strips within one cell of a particle. */
static Status collect(Core *core, Scratch *scratch, const Placing *work, int64_t chunks, FlipGrid *grid) {
  int64_t seen = 0;
  for (int64_t c = 0; c < chunks; c++) seen += work->seen_count[c];
  TRY(refuse_size(core, seen));
  KeySet set;
  /* In a bed the strips round two neighbours are the same ones; sparse clouds need more room. */
  for (int64_t factor = 3;; factor *= 3) {
    int mark = scratch_mark(scratch);
    TRY(set_make(core, scratch, factor * seen + 32, &set));
    if (spread(work, chunks, factor * seen + 32, &set)) break;
    scratch_release(core, scratch, mark);
  }
  TRY(refuse_size(core, set.count));
  TRY(memory_grow(core, &grid->key, set.count + 1, "flip grid"));
  grid->key[0] = NOWHERE;
  memcpy(grid->key + 1, sort_keys(set.list, set.slots, set.count), sizeof *set.list * (size_t)set.count);
  grid->strips = (int32_t)set.count + 1;
  return SCREE_OK;
}

static void link_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipGrid *grid = context;
  const int64_t step[3] = {1, 1ll << GRID_BITS, 1ll << (2 * GRID_BITS)};
  for (int64_t s = b; s < e; s++)
    for (int axis = 0; axis < 3; axis++) {
      grid->near[s][2 * axis] = grid_find(grid, grid->key[s] - (uint64_t)step[axis]);
      grid->near[s][2 * axis + 1] = grid_find(grid, grid->key[s] + (uint64_t)step[axis]);
    }
}

Status grid_link(Core *core, FlipGrid *grid) {
  for (grid->hash_bits = 6; 1ll << grid->hash_bits < 2ll * grid->strips; grid->hash_bits++) {
  }
  TRY(memory_grow(core, &grid->hash, 1ll << grid->hash_bits, "flip grid"));
  TRY(memory_grow(core, &grid->near, grid->strips, "flip grid"));
  memset(grid->hash, 0, sizeof *grid->hash << grid->hash_bits);
  uint32_t mask = (1u << grid->hash_bits) - 1;
  for (int32_t s = 1; s < grid->strips; s++) {
    uint32_t slot = strip_slot(grid->key[s], grid->hash_bits);
    while (grid->hash[slot]) slot = (slot + 1) & mask;
    grid->hash[slot] = s;
  }
  memset(grid->near[0], 0, sizeof *grid->near);
  parallel_for(core, 1, grid->strips, LINK_CHUNK, link_chunk, grid);
  return SCREE_OK;
}

/* ---- particles by cell ---- */

/* Counting sort in a fixed number of parts: the order within a cell is that of the particles in memory. */
typedef struct Ordering {
  const Placing *place;
  const FlipGrid *grid;
  FlipOrder *order;
  int32_t *cell;   /* per particle */
  int32_t *counts; /* ORDER_PARTS histograms, then the places where each part writes */
  int64_t part;    /* particles of a part */
  int32_t *sums;   /* particles of a chunk of cells, then of those before it */
} Ordering;

static void count_part(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Ordering *work = context;
  const Placing *place = work->place;
  int64_t cells = grid_cells(work->grid);
  for (int64_t part = b; part < e; part++) {
    int32_t *counts = work->counts + part * cells;
    memset(counts, 0, sizeof *counts * (size_t)cells);
    int64_t end = (part + 1) * work->part < work->order->count ? (part + 1) * work->part : work->order->count;
    uint64_t last = NOWHERE;
    int32_t strip = 0;
    for (int64_t i = part * work->part; i < end; i++) {
      if (place->key[i] != last) {
        last = place->key[i];
        strip = last == NOWHERE ? 0 : grid_find(work->grid, last);
      }
      int32_t cell = strip * STRIP + place->lane[i];
      work->cell[i] = cell;
      counts[cell]++;
    }
  }
}

static void write_part(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Ordering *work = context;
  const Placing *place = work->place;
  FlipOrder *order = work->order;
  for (int64_t part = b; part < e; part++) {
    int32_t *at = work->counts + part * grid_cells(work->grid);
    int64_t end = (part + 1) * work->part < order->count ? (part + 1) * work->part : order->count;
    for (int64_t i = part * work->part; i < end; i++) {
      int32_t to = at[work->cell[i]]++;
      order->index[to] = (int32_t)i;
      order->x[to] = place->x[i];
      order->y[to] = place->y[i];
      order->z[to] = place->z[i];
    }
  }
}

static void sum_cells(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Ordering *work = context;
  int32_t sum = 0;
  for (int part = 0; part < ORDER_PARTS; part++)
    for (int64_t c = b; c < e; c++) sum += work->counts[part * grid_cells(work->grid) + c];
  work->sums[b / CELL_CHUNK] = sum;
}

static void start_cells(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Ordering *work = context;
  int32_t total = work->sums[b / CELL_CHUNK];
  for (int64_t c = b; c < e; c++) {
    work->order->start[c] = total;
    for (int part = 0; part < ORDER_PARTS; part++) {
      int32_t *count = &work->counts[part * grid_cells(work->grid) + c], here = *count;
      *count = total;
      total += here;
    }
  }
}

static Status put_in_order(Core *core, Scratch *scratch, const Placing *place, const FlipGrid *grid, FlipOrder *order) {
  int64_t cells = grid_cells(grid);
  Ordering work = {.place = place, .grid = grid, .order = order};
  work.part = (order->count + ORDER_PARTS - 1) / ORDER_PARTS;
  TRY(scratch_take(core, scratch, &work.cell, order->count, "cells"));
  TRY(scratch_take(core, scratch, &work.counts, ORDER_PARTS * cells, "cells"));
  TRY(scratch_take(core, scratch, &work.sums, parallel_chunks(0, cells, CELL_CHUNK), "cells"));
  parallel_for(core, 0, ORDER_PARTS, 1, count_part, &work);
  parallel_for(core, 0, cells, CELL_CHUNK, sum_cells, &work);
  int32_t total = 0;
  for (int64_t c = 0; c < parallel_chunks(0, cells, CELL_CHUNK); c++) {
    int32_t here = work.sums[c];
    work.sums[c] = total;
    total += here;
  }
  parallel_for(core, 0, cells, CELL_CHUNK, start_cells, &work);
  order->start[cells] = total;
  order->lost = order->start[STRIP];
  parallel_for(core, 0, ORDER_PARTS, 1, write_part, &work);
  return SCREE_OK;
}

static Status take_placing(Core *core, Scratch *scratch, int64_t count, int64_t chunks, Placing *place) {
  TRY(scratch_take(core, scratch, &place->key, count, "places"));
  TRY(scratch_take(core, scratch, &place->lane, count, "places"));
  TRY(scratch_take(core, scratch, &place->x, count, "places"));
  TRY(scratch_take(core, scratch, &place->y, count, "places"));
  TRY(scratch_take(core, scratch, &place->z, count, "places"));
  TRY(scratch_take(core, scratch, &place->seen, chunks * PLACE_CHUNK, "places"));
  return scratch_take(core, scratch, &place->seen_count, chunks + 1, "places");
}

/* The order's arrays outlive the scratch of the sort, and their length is known only after it: they are taken with room
 * for what the particles can need at most, before. */
static Status order_take(Core *core, Scratch *scratch, FlipOrder *order) {
  int64_t room = order->count + LANES; /* kernels read whole registers */
  TRY(scratch_take(core, scratch, &order->index, room, "order"));
  TRY(scratch_take(core, scratch, &order->x, room, "order"));
  TRY(scratch_take(core, scratch, &order->y, room, "order"));
  TRY(scratch_take(core, scratch, &order->z, room, "order"));
  memset(order->x + order->count, 0, sizeof(float) * LANES);
  memset(order->y + order->count, 0, sizeof(float) * LANES);
  memset(order->z + order->count, 0, sizeof(float) * LANES);
  return SCREE_OK;
}

static Status build(Core *core, Scratch *scratch, const Particles *particles, FlipGrid *grid, FlipOrder *order,
                    int32_t **start) {
  int64_t chunks = parallel_chunks(0, particles->count, PLACE_CHUNK);
  Placing place = {.core = core};
  TRY(take_placing(core, scratch, particles->count, chunks, &place));
  place.places = (Places){.at = {particles->x, particles->y, particles->z},
                          .low = {particles->low_x, particles->low_y, particles->low_z},
                          .inverse = 1 / grid->cell,
                          .shift = {grid->shift[0], grid->shift[1], grid->shift[2]},
                          .out = {place.x, place.y, place.z}};
  parallel_for(core, 0, particles->count, PLACE_CHUNK, place_chunk, &place);
  TRY(collect(core, scratch, &place, chunks, grid));
  TRY(grid_link(core, grid));
  TRY(memory_grow(core, start, grid_cells(grid) + 1, "flip grid"));
  order->start = *start;
  return put_in_order(core, scratch, &place, grid, order);
}

Status grid_build(Core *core, Scratch *scratch, const Particles *particles, FlipGrid *grid, FlipOrder *order) {
  int32_t *start = order->start; /* kept from step to step */
  *order = (FlipOrder){.count = particles->count, .start = start};
  TRY(order_take(core, scratch, order));
  int mark = scratch_mark(scratch);
  Status status = build(core, scratch, particles, grid, order, &start);
  order->start = start;
  scratch_release(core, scratch, mark);
  return status;
}

/* The row that begins with a strip ends before this one. */
static int32_t row_end(const FlipGrid *grid, int32_t strip) {
  uint64_t row = grid->key[strip] >> GRID_BITS;
  do strip++;
  while (strip < grid->strips && grid->key[strip] >> GRID_BITS == row);
  return strip;
}

static int32_t row_y(const FlipGrid *grid, const int32_t row[2]) {
  return (int32_t)(grid->key[row[0]] >> GRID_BITS & ((1u << GRID_BITS) - 1));
}
static int32_t row_z(const FlipGrid *grid, const int32_t row[2]) {
  return (int32_t)(grid->key[row[0]] >> (2 * GRID_BITS));
}

/* Some planes of rows, z of each one more than of the one before; in each y ascends. */
typedef struct Planes {
  int32_t at[ROW_BLOCK], end[ROW_BLOCK]; /* rows that are left */
} Planes;

/* The planes of a layer of blocks that begins with a row. Answers the row behind them. */
static int32_t find_planes(const FlipGrid *grid, const int32_t (*rows)[2], int32_t row, int32_t count, Planes *planes) {
  int32_t layer = row_z(grid, rows[row]) / ROW_BLOCK;
  for (int p = 0; p < ROW_BLOCK; p++) {
    planes->at[p] = row;
    while (row < count && row_z(grid, rows[row]) == layer * ROW_BLOCK + p) row++;
    planes->end[p] = row;
  }
  return row;
}

/* The rows of the next block, in order. Answers how many. */
static int32_t take_block(const FlipGrid *grid, const int32_t (*rows)[2], Planes *planes, int32_t (*to)[2]) {
  int32_t column = INT32_MAX, taken = 0;
  for (int p = 0; p < ROW_BLOCK; p++) {
    if (planes->at[p] == planes->end[p]) continue;
    int32_t y = row_y(grid, rows[planes->at[p]]) / ROW_BLOCK;
    column = y < column ? y : column;
  }
  for (int p = 0; p < ROW_BLOCK; p++)
    for (; planes->at[p] < planes->end[p] && row_y(grid, rows[planes->at[p]]) / ROW_BLOCK == column; taken++) {
      const int32_t *row = rows[planes->at[p]++];
      to[taken][0] = row[0], to[taken][1] = row[1];
    }
  return taken;
}

static int block_color(const FlipGrid *grid, const int32_t row[2]) {
  return row_y(grid, row) / ROW_BLOCK % 2 + 2 * (row_z(grid, row) / ROW_BLOCK % 2);
}

static void sort_blocks(const FlipGrid *grid, const int32_t (*blocks)[2], int32_t count, GridRows *rows) {
  int32_t next[ROW_COLORS] = {0};
  for (int32_t k = 0; k < count; k++) next[block_color(grid, rows->strips[blocks[k][0]])]++;
  rows->start[0] = 0;
  for (int c = 0; c < ROW_COLORS; c++) {
    rows->start[c + 1] = rows->start[c] + next[c];
    next[c] = rows->start[c];
  }
  for (int32_t k = 0; k < count; k++) {
    int32_t *to = rows->blocks[next[block_color(grid, rows->strips[blocks[k][0]])]++];
    to[0] = blocks[k][0], to[1] = blocks[k][1];
  }
}

Status grid_rows(Core *core, Scratch *scratch, const FlipGrid *grid, GridRows *rows) {
  int32_t(*plain)[2] = NULL, (*blocks)[2] = NULL, count = 0, found = 0, done = 0;
  TRY(scratch_take(core, scratch, &rows->strips, grid->strips, "rows"));
  TRY(scratch_take(core, scratch, &rows->blocks, grid->strips, "rows"));
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &plain, grid->strips, "rows"));
  TRY(scratch_take(core, scratch, &blocks, grid->strips, "rows"));
  for (int32_t s = 1; s < grid->strips; s = plain[count++][1]) {
    plain[count][0] = s;
    plain[count][1] = row_end(grid, s);
  }
  Planes planes;
  for (int32_t row = 0; row < count;) {
    row = find_planes(grid, (const int32_t(*)[2])plain, row, count, &planes);
    while (done < row) {
      blocks[found][0] = done;
      done += take_block(grid, (const int32_t(*)[2])plain, &planes, rows->strips + done);
      blocks[found++][1] = done;
    }
  }
  sort_blocks(grid, (const int32_t(*)[2])blocks, found, rows);
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}

static void clear_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  memset((float *)context + b, 0, sizeof(float) * (size_t)(e - b));
}

void grid_clear(Core *core, float *field, int64_t count) {
  parallel_for(core, 0, count, CLEAR_CHUNK, clear_chunk, field);
}

void grid_destroy(Core *core, FlipGrid *grid) {
  memory_drop(core, &grid->key);
  memory_drop(core, &grid->near);
  memory_drop(core, &grid->hash);
}
