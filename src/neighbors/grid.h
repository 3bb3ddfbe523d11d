/* Inside of the cell grid, shared by the files of this room.
 *
 * A cell has integer coordinates (x, y, z), biased to be positive and 21 bits each. The canonical order of cells runs
 * along x first; rows (y, z) are visited tile by tile (TILE x TILE rows), so that the rows round a row are near it in
 * memory however large the domain is, and the cells x-1, x, x+1 of a row are one contiguous range of points.
 *
 * Eight cells in a row, aligned, are a strip. Only strips that hold points exist; they are kept in canonical order, and
 * start[8 s + k] is the first point of cell k of strip s. Because strips are in order, start[8 s + 8] is at once the
 * end of strip s and the beginning of the next. A strip is found by a hash of its key: nothing depends on how large the
 * box round all points is, and a stray grain costs one strip.
 *
 * Where points are searched once and in no order, hashed cells are cheaper: cell (x, y, z) is entry
 * hash(y, z) + x of a table, modulo its size, so that the cells x-1, x, x+1 of a row are neighbours there too. Cells
 * that fall together cost a few distances more. */
#ifndef NEIGHBORS_GRID_H
#define NEIGHBORS_GRID_H

#include "core/simd.h"
#include "neighbors/cells_law.h"
#include "neighbors/neighbors.h"

enum {
  STRIP_BITS = 3,
  STRIP = 1 << STRIP_BITS,
  BLOCK = 256 /* points whose cells are computed at a time */
};

typedef struct Search Search;

struct CellGrid {
  float cell;
  double inverse;
  int64_t count;
  bool sorted; /* the points were in canonical order */
  bool hashed; /* start is the table: table_mask + 2 of them; index and copies are in its order */
  uint32_t table_mask;
  const float *x, *y, *z; /* in canonical order: the caller's, or the copies below */
  int64_t strips;
  uint64_t *strip_key; /* strips, ascending */
  int32_t *start;      /* STRIP * strips + 1 */
  int32_t *hash;       /* strip, or -1; a power of two of them */
  int hash_bits;
  int32_t *index;   /* count */
  int64_t identity; /* the first so many of index are known to be the identity */
  float *copy_x, *copy_y, *copy_z;
  struct SortRecord *records[2]; /* while sorting: from a scratch, or its own */
  struct SortRecord *own_records[2];
  uint32_t *histogram;
  int32_t *chunk_strips;
  Search *search; /* buffers of neighbor_list_build, kept from one call to the next */
};

/* The box from a lowest cell to a highest. */
static inline CellBox cell_box(const int32_t low[3], const int32_t high[3]) {
  CellBox box = {.low_x = low[0], .size_x = high[0] - low[0] + 1, .low_tile_y = cell_tile(low[1])};
  box.low_tile_z = cell_tile(low[2]);
  box.tiles_y = cell_tile(high[1]) - box.low_tile_y + 1;
  box.tiles_z = cell_tile(high[2]) - box.low_tile_z + 1;
  return box;
}
/* How many cells; of few ones exactly. */
static inline double cell_box_cells(const CellBox *box) {
  return (double)box->size_x * (double)box->tiles_y * (double)box->tiles_z * (TILE * TILE);
}

/* The order of rows: tiles, then rows inside a tile. y and z are biased. */
static inline uint64_t row_key(uint32_t y, uint32_t z) {
  uint64_t tile = (uint64_t)(z >> TILE_BITS) << (COORDINATE_BITS - TILE_BITS) | y >> TILE_BITS;
  return tile << 2 * TILE_BITS | (uint64_t)(z & (TILE - 1)) << TILE_BITS | (y & (TILE - 1));
}
/* Key of a cell from coordinates as the kernels give them (not biased). */
static inline uint64_t cell_key(int32_t x, int32_t y, int32_t z) {
  return row_key((uint32_t)(y + COORDINATE_BIAS), (uint32_t)(z + COORDINATE_BIAS)) << COORDINATE_BITS |
         (uint32_t)(x + COORDINATE_BIAS);
}
static inline void cell_key_split(uint64_t key, int32_t coordinate[3]) {
  uint64_t row = key >> COORDINATE_BITS, tile = row >> 2 * TILE_BITS;
  uint32_t tile_y = (uint32_t)tile & ((1u << (COORDINATE_BITS - TILE_BITS)) - 1);
  uint32_t tile_z = (uint32_t)(tile >> (COORDINATE_BITS - TILE_BITS));
  coordinate[0] = (int32_t)(key & ((1u << COORDINATE_BITS) - 1)) - COORDINATE_BIAS;
  coordinate[1] = (int32_t)(tile_y << TILE_BITS | (row & (TILE - 1))) - COORDINATE_BIAS;
  coordinate[2] = (int32_t)(tile_z << TILE_BITS | (row >> TILE_BITS & (TILE - 1))) - COORDINATE_BIAS;
}

/* Fibonacci hashing: the high bits of the product depend on all bits of the key. */
static inline uint32_t strip_hash(uint64_t key, int bits) {
  key ^= key >> 29;
  return (uint32_t)(key * 0x9e3779b97f4a7c15u >> (64 - bits));
}
/* The strip with this key, or -1. */
static inline int32_t strip_find(const CellGrid *grid, uint64_t key) {
  uint32_t mask = (1u << grid->hash_bits) - 1;
  for (uint32_t slot = strip_hash(key, grid->hash_bits);; slot = (slot + 1) & mask) {
    int32_t strip = grid->hash[slot];
    if (strip < 0 || grid->strip_key[strip] == key) return strip;
  }
}

/* Entry of the table for cell 0 of a row; y and z as the kernels give them. */
static inline uint32_t table_row(int32_t y, int32_t z) {
  uint64_t key = (uint64_t)(uint32_t)y << 32 | (uint32_t)z;
  return (uint32_t)(((key ^ key >> 29) * 0x9e3779b97f4a7c15u) >> 32);
}

/* The rows round a strip: cell k of the strip has the points [start[r][k], start[r][k + 3]) of its three cells in row r
 * round it. Rows are in canonical order, so that lists come out ascending. */
typedef struct Surroundings {
  bool valid;
  int32_t y, z;        /* the row */
  uint32_t strip_x;    /* the strip in it */
  uint64_t row_key[9]; /* of strip 0 in each row */
  int32_t strip[9];    /* where the strip is, or would be, less one: a hint for the next one */
  int32_t start[9][STRIP + 3];
} Surroundings;

/* Returns whether the strip is another than before. */
bool surroundings_find(const CellGrid *grid, int32_t x, int32_t y, int32_t z, Surroundings *around);

Status search_create(Core *core, Search **search);
void search_destroy(Core *core, Search *search);

/* Whether count and cell size can be worked with at all. */
Status grid_check(Core *core, Points points, float cell);
Status grid_order(Core *core, CellGrid *grid, Scratch *scratch, Points points, int32_t *order);
/* Described failure for the first point that is not finite. */
Status grid_not_finite(Core *core, Points points);

/* A cell is larger than asked by a millionth, so that rounding in the distance of a pair can never put it two cells
 * apart (see cells_of for the rounding here). */
static inline double cell_inverse(float cell) { return 1.0 / ((double)cell * (1.0 + 0x1p-20)); }
/* Coordinates beyond this are in the outermost cells. */
static inline float cell_limit(double inverse) { return (float)(COORDINATE_LIMIT / inverse); }

/* Integer cells of one coordinate of count points; returns whether all were finite. */
KERNEL_DECLARE(bool, cells_of, (const float *x, int64_t count, double inverse, int32_t *cell));

typedef struct RowsJob {
  const CellGrid *grid;
  Points queries;
  bool same; /* row i lists no target i */
  float reach;
  const float *query_radius, *target_radius; /* target_radius in the grid's order */
  const uint8_t *marks; /* of a box of cells: whether there may be targets near a query in it; NULL: not known */
  int32_t low[3], size[3];
} RowsJob;

/* Whether a query in this cell may have neighbours; outside of the box none has. */
static inline bool marks_say(const RowsJob *job, int32_t x, int32_t y, int32_t z) {
  uint32_t dx = (uint32_t)(x - job->low[0]), dy = (uint32_t)(y - job->low[1]), dz = (uint32_t)(z - job->low[2]);
  const uint32_t size_x = (uint32_t)job->size[0], size_y = (uint32_t)job->size[1], size_z = (uint32_t)job->size[2];
  return dx < size_x && dy < size_y && dz < size_z && job->marks[(dz * size_y + dy) * size_x + dx];
}

/* Where a kernel puts rows, and the candidates of a cell meanwhile. */
typedef struct RowsBuffer {
  int32_t *out;
  int64_t room, wanted;
  int32_t *candidates; /* five arrays of candidate_room: x, y, z, radius (as floats), index */
  int64_t candidate_room, candidates_wanted;
  bool not_finite; /* a query */
} RowsBuffer;

/* Rows [b, e), into out from `used` on: ends[i - b] = entries in out after row i. Stops before a row for which there
 * is not room enough, having written what is wanted, or at queries that are not finite; returns where it stopped. */
KERNEL_DECLARE(int64_t, rows_find,
               (const RowsJob *job, int64_t b, int64_t e, int64_t used, RowsBuffer *buffer, int64_t *ends));

#endif
