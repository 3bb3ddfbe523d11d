/* The inner loop of the neighbour search. */
#include "neighbors/grid.h"

#include <string.h>

/* The points round a cell, gathered into dense blocks. */
typedef struct Candidates {
  float *x, *y, *z, *radius;
  int32_t *index;
  int64_t count;
} Candidates;

WIDE_INLINE void copy_eight(float *to, const float *from) { wide_store(to, wide_load(from)); }

/* Appends the points [b, e) in whole blocks, of which the last writes rubbish behind. */
WIDE_INLINE void candidates_add(const RowsJob *job, int64_t b, int64_t e, bool radii, Candidates *c) {
  const CellGrid *grid = job->grid;
  const WideInt lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  const float *x = grid->x + b, *y = grid->y + b, *z = grid->z + b, *radius = radii ? job->target_radius + b : NULL;
  float *to_x = c->x + c->count, *to_y = c->y + c->count, *to_z = c->z + c->count, *to_radius = c->radius + c->count;
  int32_t *to_index = c->index + c->count;
  const int64_t count = e - b, whole = grid->count - b - LANES; /* blocks that begin no later are whole */
  c->count += count;
  for (int64_t k = 0; k < count; k += LANES) {
    *(WideIntUnaligned *)(to_index + k) = lanes + (int32_t)(b + k);
    if (__builtin_expect(k > whole, 0)) {
      size_t rest = (size_t)(count - k) * sizeof(float);
      memcpy(to_x + k, x + k, rest);
      memcpy(to_y + k, y + k, rest);
      memcpy(to_z + k, z + k, rest);
      if (radii) memcpy(to_radius + k, radius + k, rest);
      return;
    }
    copy_eight(to_x + k, x + k);
    copy_eight(to_y + k, y + k);
    copy_eight(to_z + k, z + k);
    if (radii) copy_eight(to_radius + k, radius + k);
  }
}

/* Where the points round a cell stand in the grid's order. */
typedef struct Ranges {
  int count;
  int32_t begin[18], end[18];
} Ranges;

WIDE_INLINE void ranges_add(Ranges *ranges, int32_t begin, int32_t end) {
  ranges->begin[ranges->count] = begin;
  ranges->end[ranges->count] = end;
  ranges->count += begin < end;
}

/* Ranges of the table round a cell: two where one runs over its end. */
WIDE_INLINE Ranges ranges_hashed(const CellGrid *grid, const int32_t cell[3]) {
  const int32_t *start = grid->start;
  uint32_t mask = grid->table_mask;
  Ranges ranges = {.count = 0};
  for (int row = 0; row < 9; row++) {
    uint32_t first = (table_row(cell[1] + row % 3 - 1, cell[2] + row / 3 - 1) + (uint32_t)cell[0] - 1) & mask;
    if (__builtin_expect(first + 3 > mask + 1, 0)) {
      ranges_add(&ranges, start[first], start[mask + 1]);
      ranges_add(&ranges, 0, start[first + 3 - (mask + 1)]);
    } else ranges_add(&ranges, start[first], start[first + 3]);
  }
  return ranges;
}

WIDE_INLINE Ranges ranges_around(const Surroundings *around, const int32_t cell[3]) {
  int lane = (cell[0] + COORDINATE_BIAS) & (STRIP - 1);
  Ranges ranges = {.count = 0};
  for (int r = 0; r < 9; r++) ranges_add(&ranges, around->start[r][lane], around->start[r][lane + 3]);
  return ranges;
}

/* Gathers the candidates of a cell; false when there is not room enough. */
WIDE_INLINE bool candidates_gather(const RowsJob *job, const Ranges *ranges, bool radii, RowsBuffer *buffer,
                                   Candidates *c) {
  int64_t most = 2 * LANES;
  for (int r = 0; r < ranges->count; r++) most += ranges->end[r] - ranges->begin[r];
  if (most > buffer->candidate_room) {
    buffer->candidates_wanted = most;
    return false;
  }
  Candidates into = {.x = (float *)buffer->candidates, .count = 0};
  into.y = into.x + buffer->candidate_room;
  into.z = into.y + buffer->candidate_room;
  into.radius = into.z + buffer->candidate_room;
  into.index = buffer->candidates + 4 * buffer->candidate_room;
  for (int r = 0; r < ranges->count; r++) candidates_add(job, ranges->begin[r], ranges->end[r], radii, &into);
  *c = into;
  /* Nothing is near infinity: the last block needs no mask. */
  wide_store(c->x + c->count, wide_set(__builtin_inff()));
  if (radii) wide_store(c->radius + c->count, wide_set(0));
  return true;
}

/* Asks for the points that the next strip along x will need: the rows round it are more streams than processors follow
 * by themselves. */
WIDE_INLINE void prefetch_next(const CellGrid *grid, const Surroundings *around) {
  for (int r = 0; r < 9; r++) {
    int64_t next = around->start[r][STRIP + 2];
    __builtin_prefetch(grid->x + next);
    __builtin_prefetch(grid->y + next);
    __builtin_prefetch(grid->z + next);
  }
}

typedef struct Query {
  float x, y, z, radius;
  int32_t self;
} Query;

WIDE_INLINE int32_t *row_find(const Candidates *c, Query query, float reach, bool radii, const uint64_t *pack,
                              int32_t *out) {
  const Wide x = wide_set(query.x), y = wide_set(query.y), z = wide_set(query.z);
  const WideInt self = query.self - (WideInt){0};
  Wide limits = wide_set(reach * reach);
  for (int64_t k = 0; k < c->count; k += LANES) {
    Wide dx = wide_load(c->x + k) - x, dy = wide_load(c->y + k) - y, dz = wide_load(c->z + k) - z;
    if (radii) {
      Wide far = reach * (query.radius + wide_load(c->radius + k));
      limits = far * far;
    }
    WideInt own = wide_int_equal(wide_load_int(c->index + k), self);
    WideInt hit = wide_less_equal(dx * dx + dy * dy + dz * dz, limits) & ~own;
    unsigned bits = wide_bits(hit);
    wide_pack(out, bits, c->index + k, pack);
    out += __builtin_popcount(bits);
  }
  return out;
}

WIDE_INLINE int64_t rows_find(const RowsJob *job, int64_t b, int64_t e, int64_t used, RowsBuffer *buffer, int64_t *ends,
                              bool radii) {
  const CellGrid *grid = job->grid;
  const Points queries = job->queries;
  Surroundings around = {.valid = false};
  Candidates candidates = {.count = 0};
  int32_t cx[BLOCK], cy[BLOCK], cz[BLOCK], *at = buffer->out + used;
  int32_t here[3] = {INT32_MIN, 0, 0}; /* the cell whose candidates those are */
  for (int64_t block = b; block < e; block += BLOCK) {
    int64_t end = block + BLOCK < e ? block + BLOCK : e;
    buffer->not_finite |= !KERNEL(cells_of)(queries.x + block, end - block, grid->inverse, cx);
    buffer->not_finite |= !KERNEL(cells_of)(queries.y + block, end - block, grid->inverse, cy);
    buffer->not_finite |= !KERNEL(cells_of)(queries.z + block, end - block, grid->inverse, cz);
    if (buffer->not_finite) return block;
    for (int64_t i = block; i < end; i++) {
      int64_t q = i - block;
      if (job->marks && !marks_say(job, cx[q], cy[q], cz[q])) {
        ends[i - b] = at - buffer->out;
        continue;
      }
      const int32_t cell[3] = {cx[q], cy[q], cz[q]};
      if (cell[0] != here[0] || cell[1] != here[1] || cell[2] != here[2]) {
        if (!grid->hashed && surroundings_find(grid, cell[0], cell[1], cell[2], &around)) prefetch_next(grid, &around);
        Ranges ranges = grid->hashed ? ranges_hashed(grid, cell) : ranges_around(&around, cell);
        if (!candidates_gather(job, &ranges, radii, buffer, &candidates)) return i;
        memcpy(here, cell, sizeof here);
      }
      if (at - buffer->out + candidates.count + LANES > buffer->room) {
        buffer->wanted = at - buffer->out + candidates.count + LANES;
        return i;
      }
      Query query = {queries.x[i], queries.y[i], queries.z[i], radii ? job->query_radius[i] : 0,
                     job->same ? (int32_t)i : -1};
      at = row_find(&candidates, query, job->reach, radii, pack_lanes, at);
      ends[i - b] = at - buffer->out;
    }
  }
  return e;
}

int64_t KERNEL(rows_find)(const RowsJob *job, int64_t b, int64_t e, int64_t used, RowsBuffer *buffer, int64_t *ends) {
  return job->target_radius ? rows_find(job, b, e, used, buffer, ends, true)
                            : rows_find(job, b, e, used, buffer, ends, false);
}
