/* The staggered grid, only where the sand is.
 *
 * Eight cells in a row along x, aligned, are a strip: one wide register. Only strips within one cell of a particle
 * exist, in ascending order of (z, y, x), found by a hash; strip 0 is empty and stands for every strip that is not
 * there, so that kernels read zeros beyond the edge without asking. Cell (strip, lane) has the number 8 strip + lane
 * and so have its centre, its three lower faces and the three edges at its lower sides: a field is one array. Cost and
 * memory follow the sand, however large the box round it is. */
#ifndef METHODS_FLIP_GRID_GRID_H
#define METHODS_FLIP_GRID_GRID_H

#include "core/scratch.h"
#include "core/simd.h"
#include "core/vec.h"
#include "state/particles.h"

enum {
  STRIP = 8,
  GRID_BITS = 20, /* of a coordinate in a strip's key */
  GRID_HALF = 1 << (GRID_BITS - 1),
  GRID_LIMIT = GRID_HALF - 16, /* cells beyond are not on the grid: what is there flies alone */
  CORNERS = 36                 /* of the cells of a strip: x fastest (9), y (2), z (2) */
};

enum { X_LOW, X_HIGH, Y_LOW, Y_HIGH, Z_LOW, Z_HIGH, SIDES };

typedef struct FlipGrid {
  double cell;     /* m */
  double shift[3]; /* cell coordinate of a particle = x / cell + shift */
  int32_t strips;  /* with strip 0 */
  uint64_t *key;
  int32_t (*near)[SIDES];
  int32_t *hash; /* strip, or 0 */
  int hash_bits;
} FlipGrid;

/* Particles in the order of their cells. Those off the grid come first, as if in strip 0. */
typedef struct FlipOrder {
  int64_t count;
  int64_t off_grid; /* off the grid */
  int32_t *index;   /* of the particle */
  int32_t *start;   /* per cell, and one more */
  float *x, *y, *z; /* in cells */
  float *mass, *velocity[3];
} FlipOrder;

static inline uint64_t strip_key(int32_t x, int32_t y, int32_t z) {
  return (uint64_t)(z + GRID_HALF) << (2 * GRID_BITS) | (uint64_t)(y + GRID_HALF) << GRID_BITS |
         (uint64_t)((x >> 3) + GRID_HALF);
}
static inline void strip_place(uint64_t key, int32_t place[3]) {
  const uint64_t mask = (1u << GRID_BITS) - 1;
  place[0] = ((int32_t)(key & mask) - GRID_HALF) * STRIP;
  place[1] = (int32_t)(key >> GRID_BITS & mask) - GRID_HALF;
  place[2] = (int32_t)(key >> (2 * GRID_BITS) & mask) - GRID_HALF;
}
static inline uint32_t strip_slot(uint64_t key, int bits) {
  key ^= key >> 29;
  return (uint32_t)(key * 0x9e3779b97f4a7c15u >> (64 - bits));
}
/* The strip with this key, or 0. */
static inline int32_t grid_find(const FlipGrid *grid, uint64_t key) {
  if (grid->strips <= 1) return 0;
  uint32_t mask = (1u << grid->hash_bits) - 1;
  for (uint32_t slot = strip_slot(key, grid->hash_bits);; slot = (slot + 1) & mask) {
    int32_t strip = grid->hash[slot];
    if (strip == 0 || grid->key[strip] == key) return strip;
  }
}
/* The strip in the row (dy, dz) beside a strip, or 0. Where sand is in it, the path over z exists (it was made round
 * it). */
static inline int32_t grid_row(const FlipGrid *grid, int32_t strip, int dy, int dz) {
  if (dz) strip = grid->near[strip][dz < 0 ? Z_LOW : Z_HIGH];
  if (dy) strip = grid->near[strip][dy < 0 ? Y_LOW : Y_HIGH];
  return strip;
}
/* Whether a cell within one of the strip's has its bit in `lanes`, a byte per strip. */
static inline bool grid_any_round(const FlipGrid *grid, const uint8_t *lanes, int32_t strip) {
  bool any = false;
  for (int row = 0; row < 9 && !any; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1);
    any = lanes[at] || lanes[grid->near[at][X_LOW]] >> (STRIP - 1) || (lanes[grid->near[at][X_HIGH]] & 1);
  }
  return any;
}
/* The lanes that have their bit, as comparisons give them; their values, 0 in the others. */
WIDE_INLINE WideInt wide_lanes(uint8_t lanes) {
  const WideInt bit = {1, 2, 4, 8, 16, 32, 64, 128}, all = {lanes, lanes, lanes, lanes, lanes, lanes, lanes, lanes};
  return wide_int_equal(all & bit, bit);
}
WIDE_INLINE Wide wide_where(uint8_t lanes, Wide value) { return (Wide)((WideInt)value & wide_lanes(lanes)); }
/* The values one lane below, and one above: of a strip and the one beside it along x. */
WIDE_INLINE Wide wide_shift_up(Wide before, Wide here) {
  return __builtin_shufflevector(before, here, 7, 8, 9, 10, 11, 12, 13, 14);
}
WIDE_INLINE Wide wide_shift_down(Wide here, Wide behind) {
  return __builtin_shufflevector(here, behind, 1, 2, 3, 4, 5, 6, 7, 8);
}
/* The cell below a face. */
static inline int32_t cell_below(const FlipGrid *grid, int32_t face, int axis) {
  int32_t strip = face / STRIP, lane = face % STRIP;
  if (axis > 0) return grid->near[strip][2 * axis] * STRIP + lane;
  return lane > 0 ? face - 1 : grid->near[strip][X_LOW] * STRIP + STRIP - 1;
}
/* The cell above a cell. */
static inline int32_t cell_above(const FlipGrid *grid, int32_t cell, int axis) {
  int32_t strip = cell / STRIP, lane = cell % STRIP;
  if (axis > 0) return grid->near[strip][2 * axis + 1] * STRIP + lane;
  return lane < STRIP - 1 ? cell + 1 : grid->near[strip][X_HIGH] * STRIP;
}
static inline int64_t grid_cells(const FlipGrid *grid) { return (int64_t)grid->strips * STRIP; }

/* Rows of strips along x, in blocks of neighbouring rows, and these by colour: blocks of one colour are a block apart
 * along y or z, so that what their strips give to the nodes round them never meets. Within a block one thread goes from
 * row to row, and the nodes between them stay in its cache. */
enum { ROW_BLOCK = 4, ROW_COLORS = 4 };
typedef struct GridRows {
  int32_t (*strips)[2]; /* of a row: first, and one behind the last */
  int32_t (*blocks)[2]; /* of a block: first row, and one behind the last */
  int32_t start[ROW_COLORS + 1];
} GridRows;
Status grid_rows(Core *core, Scratch *scratch, const FlipGrid *grid, GridRows *rows);

/* Where cells and strips begin, for particles relative to this origin. Cells begin at whole multiples of their side in
 * the world, where walls are likely to stand. Strips begin one cell before `lowest` (m along x, the lower end of what
 * contains the sand), as the neighbours of sand do: wherever else, its rows would often need one strip more. */
void grid_align(FlipGrid *grid, Vec3 origin, double lowest);
/* Elements become 0, on all threads. */
void grid_clear(Core *core, float *field, int64_t count);
/* Makes the strips for these particles and puts the particles in order. The order's arrays are taken from scratch. */
Status grid_build(Core *core, Scratch *scratch, const Particles *particles, FlipGrid *grid, FlipOrder *order);
void grid_destroy(Core *core, FlipGrid *grid);
/* Strips and hash from ascending keys (key[0] stands for the empty strip). */
Status grid_link(Core *core, FlipGrid *grid);

#endif
