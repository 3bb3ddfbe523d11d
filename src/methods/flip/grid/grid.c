#include "methods/flip/grid/grid.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/grid/grid_kernels.h"
#include "methods/flip/grid/strip_set.h"

enum {
  CLEAR_CHUNK = 16384,
  PLACE_CHUNK = 16384,
  PLACE_BLOCK = 512, /* stays in the nearest cache */
  OCCUPIED_MOST = PLACE_CHUNK + 1,
  SEEN_BITS = 12,
  SEEN_SLOTS = 1 << SEEN_BITS,
  LINK_CHUNK = 512,
  CELL_CHUNK = 4096,
  ORDER_PARTS = 8,
  ORDER_PARTS_MOST = 32
};

/* A strip that holds particles, and which of its cells do. */
typedef struct Occupied {
  uint64_t key;
  uint32_t cells; /* a bit each */
  int32_t strip;  /* its number, once it has one */
} Occupied;

typedef struct Placing {
  Core *core;
  Places places;
  uint32_t *seat; /* of each particle: which of its chunk's strips, and the lane */
  Occupied *seen; /* OCCUPIED_MOST per chunk; the first of each stands for what is off the grid */
  int32_t *seen_count;
  uint64_t *beside;      /* strips that particles are in or beside: chunk by chunk, some of them several times */
  int64_t *beside_first; /* of each chunk: first how many, then where they begin */
} Placing;

static Occupied *strips_seen(const Placing *place, int64_t chunk) { return place->seen + chunk * OCCUPIED_MOST; }

/* Adds to a small set of the chunk's own; when it is full, appends without asking: the reader merges. Returns where it
 * is in the list. */
static int32_t note(Occupied *list, int32_t *count, int32_t *slots, uint64_t key) {
  uint32_t slot = strip_slot(key, SEEN_BITS);
  for (int probe = 0; probe < 16; probe++, slot = (slot + 1) & (SEEN_SLOTS - 1)) {
    if (slots[slot] == 0) {
      slots[slot] = *count;
      break;
    }
    if (list[slots[slot]].key == key) return slots[slot];
  }
  list[*count] = (Occupied){.key = key};
  return (*count)++;
}

/* Whether a strip has particles at its ends; not where its neighbour was come upon just before, or will be next. */
static inline bool beside_low(const Occupied *at) { return (at->cells & 1u) && at[-1].key != at->key - 1; }
static inline bool beside_high(const Occupied *at, const Occupied *end) {
  return (at->cells & 1u << (STRIP - 1)) && !(at + 1 < end && at[1].key == at->key + 1);
}

static void place_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Placing *work = context;
  Occupied *list = strips_seen(work, b / PLACE_CHUNK);
  int32_t count = 1, slots[SEEN_SLOTS] = {0}, at = 0;
  uint32_t cells = 0; /* of the strip `at`, since it was come upon */
  list[0] = (Occupied){.key = NOWHERE};
  for (int64_t first = b; first < e; first += PLACE_BLOCK) {
    int64_t last = e - first < PLACE_BLOCK ? e : first + PLACE_BLOCK;
    uint64_t key[PLACE_BLOCK];
    uint8_t lane[PLACE_BLOCK];
    KERNEL_CALL(work->core, flip_place)(&work->places, first, last, key, lane);
    for (int64_t i = first; i < last; i++) {
      if (key[i - first] != list[at].key) {
        list[at].cells |= cells;
        cells = 0;
        at = key[i - first] == NOWHERE ? 0 : note(list, &count, slots, key[i - first]);
      }
      cells |= 1u << lane[i - first];
      work->seat[i] = (uint32_t)at * STRIP + lane[i - first];
    }
  }
  list[at].cells |= cells;
  work->seen_count[b / PLACE_CHUNK] = count;
  int64_t beside = 0;
  for (const Occupied *strip = list + 1, *end = list + count; strip < end; strip++)
    beside += 1 + beside_low(strip) + beside_high(strip, end);
  work->beside_first[b / PLACE_CHUNK] = beside;
}

void grid_align(FlipGrid *grid, Vec3 origin, double lowest) {
  for (int a = 0; a < 3; a++) {
    double cells = vec3_get(origin, a) / grid->cell;
    grid->shift[a] = cells - floor(cells);
  }
  double first = floor(lowest / grid->cell + 1e-6) - floor(origin.x / grid->cell) - 1;
  if (fabs(first) < GRID_LIMIT) grid->shift[0] += STRIP * ceil(first / STRIP) - first;
}

/* ---- the set of strips ---- */

/* Bytes that a strip costs in all, fields and solver's vectors included. */
enum { BYTES_PER_STRIP = 4096 };

static Status refuse_size(Core *core, int64_t strips) {
  double bytes = (double)strips * BYTES_PER_STRIP, left = (double)memory_left(&core->memory);
  if (bytes <= left && strips < INT32_MAX / (STRIP * 2)) return SCREE_OK;
  return fail(core, SCREE_NO_MEMORY,
              "the grid would need %lld cells and %.1f GB, and %.1f GB are free: make the cell larger",
              (long long)strips * STRIP, bytes / 1e9, left / 1e9);
}

/* The strips that a chunk's particles are in or beside. Neighbours mostly follow each other, and need not be said
 * twice. */
static void beside_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Placing *work = context;
  for (int64_t chunk = b; chunk < e; chunk++) {
    const Occupied *at = strips_seen(work, chunk) + 1, *end = strips_seen(work, chunk) + work->seen_count[chunk];
    uint64_t *to = work->beside + work->beside_first[chunk];
    for (; at < end; at++) {
      *to++ = at->key;
      if (beside_low(at)) *to++ = at->key - 1;
      if (beside_high(at, end)) *to++ = at->key + 1;
    }
  }
}

/* Strips within one cell of a particle. */
static Status collect(Core *core, Scratch *scratch, Placing *work, int64_t chunks, FlipGrid *grid) {
  int64_t seen = 0, beside = 0;
  for (int64_t c = 0; c < chunks; c++) {
    int64_t here = work->beside_first[c];
    seen += work->seen_count[c];
    work->beside_first[c] = beside;
    beside += here;
  }
  TRY(refuse_size(core, seen));
  StripSet set;
  TRY(scratch_take(core, scratch, &work->beside, beside, "strips"));
  parallel_for(core, 0, chunks, 1, beside_chunk, work);
  TRY(strip_set_make(core, scratch, work->beside, beside, &set));
  TRY(refuse_size(core, set.count));
  TRY(memory_grow(core, &grid->key, set.count + 1, "flip grid"));
  grid->key[0] = NOWHERE;
  if (set.count > 0) memcpy(grid->key + 1, set.keys, sizeof *set.keys * (size_t)set.count);
  grid->strips = (int32_t)set.count + 1;
  return SCREE_OK;
}

/* Where in a run of taken slots a strip lands depends on threads; what is found does not. */
static void hash_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipGrid *grid = context;
  uint32_t mask = (1u << grid->hash_bits) - 1;
  for (int64_t s = b; s < e; s++) {
    uint32_t slot = strip_slot(grid->key[s], grid->hash_bits);
    int32_t empty = 0;
    while (!__atomic_compare_exchange_n(&grid->hash[slot], &empty, (int32_t)s, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
      empty = 0;
      slot = (slot + 1) & mask;
    }
  }
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
  parallel_for(core, 1, grid->strips, LINK_CHUNK, hash_chunk, grid);
  memset(grid->near[0], 0, sizeof *grid->near);
  parallel_for(core, 1, grid->strips, LINK_CHUNK, link_chunk, grid);
  return SCREE_OK;
}

/* ---- particles by cell ---- */

/* What is put in order of the particles. */
enum { ORDERED = 7 };

/* Counting sort in parts, which are runs of chunks. However many there are, the order within a cell is that of the
 * particles in memory. */
typedef struct Ordering {
  const Placing *place;
  const FlipGrid *grid;
  FlipOrder *order;
  const float *from[ORDERED];
  float *to[ORDERED];
  int32_t *counts; /* a histogram per part, then the places where it writes */
  int64_t parts, chunks;
  int32_t *sums; /* particles of a chunk of cells, then of those before it */
} Ordering;

static inline int64_t first_chunk(const Ordering *work, int64_t part) { return part * work->chunks / work->parts; }

static inline int64_t chunk_end(const Ordering *work, int64_t chunk) {
  int64_t end = (chunk + 1) * PLACE_CHUNK;
  return end < work->order->count ? end : work->order->count;
}

static inline int32_t cell_of_seat(const Occupied *list, uint32_t seat) {
  return list[seat / STRIP].strip * STRIP + (int32_t)(seat % STRIP);
}

static void count_part(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Ordering *work = context;
  const uint32_t *seat = work->place->seat;
  int64_t cells = grid_cells(work->grid);
  for (int64_t part = b; part < e; part++) {
    int32_t *counts = work->counts + part * cells;
    memset(counts, 0, sizeof *counts * (size_t)cells);
    for (int64_t chunk = first_chunk(work, part); chunk < first_chunk(work, part + 1); chunk++) {
      Occupied *list = strips_seen(work->place, chunk);
      for (int32_t k = 1; k < work->place->seen_count[chunk]; k++) list[k].strip = grid_find(work->grid, list[k].key);
      int64_t end = chunk_end(work, chunk);
      for (int64_t i = chunk * PLACE_CHUNK; i < end; i++) counts[cell_of_seat(list, seat[i])]++;
    }
  }
}

static void write_part(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Ordering *work = context;
  const uint32_t *seat = work->place->seat;
  int32_t *index = work->order->index;
  const float *from[ORDERED];
  float *to[ORDERED];
  memcpy(from, work->from, sizeof from);
  memcpy(to, work->to, sizeof to);
  for (int64_t part = b; part < e; part++) {
    int32_t *next = work->counts + part * grid_cells(work->grid);
    for (int64_t chunk = first_chunk(work, part); chunk < first_chunk(work, part + 1); chunk++) {
      const Occupied *list = strips_seen(work->place, chunk);
      int64_t end = chunk_end(work, chunk);
      for (int64_t i = chunk * PLACE_CHUNK; i < end; i++) {
        int32_t at = next[cell_of_seat(list, seat[i])]++;
        index[at] = (int32_t)i;
        for (int f = 0; f < ORDERED; f++) to[f][at] = from[f][i];
      }
    }
  }
}

static void sum_cells(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Ordering *work = context;
  int32_t sum = 0;
  for (int64_t part = 0; part < work->parts; part++)
    for (int64_t c = b; c < e; c++) sum += work->counts[part * grid_cells(work->grid) + c];
  work->sums[b / CELL_CHUNK] = sum;
}

static void start_cells(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Ordering *work = context;
  int32_t total = work->sums[b / CELL_CHUNK];
  for (int64_t c = b; c < e; c++) {
    work->order->start[c] = total;
    for (int64_t part = 0; part < work->parts; part++) {
      int32_t *count = &work->counts[part * grid_cells(work->grid) + c], here = *count;
      *count = total;
      total += here;
    }
  }
}

/* Two a thread, so that who is quicker does more, while they are few; each costs a histogram of all cells. */
static int64_t order_parts(int64_t threads) {
  if (threads > ORDER_PARTS_MOST) return ORDER_PARTS_MOST;
  if (threads > ORDER_PARTS) return threads;
  return 2 * threads < ORDER_PARTS ? 2 * threads : ORDER_PARTS;
}

static Status put_in_order(Core *core, Scratch *scratch, const Particles *p, const Placing *place, const FlipGrid *grid,
                           FlipOrder *order) {
  int64_t cells = grid_cells(grid);
  float *const *at = place->places.out;
  Ordering work = {
      .place = place,
      .grid = grid,
      .order = order,
      .from = {at[0], at[1], at[2], p->mass, p->vx, p->vy, p->vz},
      .to = {order->x, order->y, order->z, order->mass, order->velocity[0], order->velocity[1], order->velocity[2]},
      .parts = order_parts(pool_threads(core->pool)),
      .chunks = parallel_chunks(0, order->count, PLACE_CHUNK)};
  TRY(scratch_take(core, scratch, &work.counts, work.parts * cells, "cells"));
  TRY(scratch_take(core, scratch, &work.sums, parallel_chunks(0, cells, CELL_CHUNK), "cells"));
  parallel_for(core, 0, work.parts, 1, count_part, &work);
  parallel_for(core, 0, cells, CELL_CHUNK, sum_cells, &work);
  int32_t total = 0;
  for (int64_t c = 0; c < parallel_chunks(0, cells, CELL_CHUNK); c++) {
    int32_t here = work.sums[c];
    work.sums[c] = total;
    total += here;
  }
  parallel_for(core, 0, cells, CELL_CHUNK, start_cells, &work);
  order->start[cells] = total;
  order->off_grid = order->start[STRIP];
  parallel_for(core, 0, work.parts, 1, write_part, &work);
  return SCREE_OK;
}

static Status take_placing(Core *core, Scratch *scratch, const Particles *p, Placing *place) {
  int64_t chunks = parallel_chunks(0, p->count, PLACE_CHUNK);
  for (int a = 0; a < 3; a++)
    TRY(scratch_take(core, scratch, &place->places.out[a], p->count + LANES, "places")); /* in whole registers */
  TRY(scratch_take(core, scratch, &place->seat, p->count, "places"));
  TRY(scratch_take(core, scratch, &place->seen, chunks * OCCUPIED_MOST, "places"));
  TRY(scratch_take(core, scratch, &place->beside_first, chunks + 1, "places"));
  return scratch_take(core, scratch, &place->seen_count, chunks + 1, "places");
}

/* The order's arrays outlive the scratch of the sort, and their length is known only after it: they are taken before,
 * for the most that the particles can need. */
static Status order_take(Core *core, Scratch *scratch, FlipOrder *order) {
  float **fields[ORDERED] = {&order->x,           &order->y,           &order->z,          &order->mass,
                             &order->velocity[0], &order->velocity[1], &order->velocity[2]};
  int64_t capacity = order->count + LANES; /* kernels read whole registers */
  TRY(scratch_take(core, scratch, &order->index, capacity, "order"));
  for (int f = 0; f < ORDERED; f++) {
    TRY(scratch_take(core, scratch, fields[f], capacity, "order"));
    memset(*fields[f] + order->count, 0, sizeof(float) * LANES);
  }
  return SCREE_OK;
}

static Status build(Core *core, Scratch *scratch, const Particles *particles, FlipGrid *grid, FlipOrder *order,
                    int32_t **start) {
  int64_t chunks = parallel_chunks(0, particles->count, PLACE_CHUNK);
  Placing place = {.core = core,
                   .places = {.at = {particles->x, particles->y, particles->z},
                              .low = {particles->low_x, particles->low_y, particles->low_z},
                              .inverse = 1 / grid->cell,
                              .shift = {grid->shift[0], grid->shift[1], grid->shift[2]}}};
  TRY(take_placing(core, scratch, particles, &place));
  parallel_for(core, 0, particles->count, PLACE_CHUNK, place_chunk, &place);
  TRY(collect(core, scratch, &place, chunks, grid));
  TRY(grid_link(core, grid));
  TRY(memory_grow(core, start, grid_cells(grid) + 1, "flip grid"));
  order->start = *start;
  return put_in_order(core, scratch, particles, &place, grid, order);
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

/* The planes of a layer of blocks that begins with a row. Returns the row behind them. */
static int32_t find_planes(const FlipGrid *grid, const int32_t (*rows)[2], int32_t row, int32_t count, Planes *planes) {
  int32_t layer = row_z(grid, rows[row]) / ROW_BLOCK;
  for (int p = 0; p < ROW_BLOCK; p++) {
    planes->at[p] = row;
    while (row < count && row_z(grid, rows[row]) == layer * ROW_BLOCK + p) row++;
    planes->end[p] = row;
  }
  return row;
}

/* The rows of the next block, in order. Returns how many. */
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
