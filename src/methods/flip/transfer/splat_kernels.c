#include "methods/flip/transfer/splat_kernels.h"
#include "methods/flip/transfer/weights_law.h"

#include <string.h>

/* Particles whose weights are found at once. */
enum { BATCH = 64 };
/* Nodes along x of a tile: one before the strip, its own, one behind. */
enum { TILE_X = STRIP + 2 };

typedef float Row[LANES] __attribute__((aligned(32)));

/* What a particle gives along x, and its weights along y and z, for the nodes below, at and above its cell; of each for
 * all sums of a node. */
typedef struct Parcel {
  Row x[3], y[3], z[3];
} Parcel;

/* Rows (y, z) round a strip. */
typedef Row Tile[9][TILE_X];

/* Within the cell; lanes that belong to others must be harmless. */
WIDE_INLINE Wide within(const float *at, float from) {
  return wide_min(wide_max(wide_load(at) - wide_set(from), wide_set(0)), wide_set(1));
}

WIDE_INLINE Wide within_lane(const float *at, float from) {
  Wide t = wide_min(wide_max(wide_load(at) - wide_set(from), wide_set(0)), wide_set((float)STRIP));
  return t - __builtin_convertvector(__builtin_convertvector(t, WideInt), Wide);
}

/* Eight rows of eight from eight columns. */
WIDE_INLINE void put_rows(Row rows[LANES], const Wide column[LANES]) {
  Wide half[2][4];
  for (int h = 0; h < 2; h++) {
    const Wide *c = column + 4 * h;
    Wide t0 = __builtin_shufflevector(c[0], c[1], 0, 8, 1, 9, 4, 12, 5, 13);
    Wide t1 = __builtin_shufflevector(c[0], c[1], 2, 10, 3, 11, 6, 14, 7, 15);
    Wide t2 = __builtin_shufflevector(c[2], c[3], 0, 8, 1, 9, 4, 12, 5, 13);
    Wide t3 = __builtin_shufflevector(c[2], c[3], 2, 10, 3, 11, 6, 14, 7, 15);
    half[h][0] = __builtin_shufflevector(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13);
    half[h][1] = __builtin_shufflevector(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15);
    half[h][2] = __builtin_shufflevector(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13);
    half[h][3] = __builtin_shufflevector(t1, t3, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int k = 0; k < 4; k++) {
    wide_store(rows[k], __builtin_shufflevector(half[0][k], half[1][k], 0, 1, 2, 3, 8, 9, 10, 11));
    wide_store(rows[k + 4], __builtin_shufflevector(half[0][k], half[1][k], 4, 5, 6, 7, 12, 13, 14, 15));
  }
}

/* What particles [k, k + 8) give to nodes of weight 1. */
WIDE_INLINE void find_values(const Splat *splat, int64_t k, bool normed, Row values[LANES]) {
  Wide of[NODE_SUMS];
  for (int c = 0; c < 2; c++) {
    Wide *centre = &of[c ? AT_CENTRE_TOO : AT_CENTRE];
    *centre = wide_set(0);
    if (!splat->centre[c]) continue;
    *centre = wide_load(splat->centre[c] + k);
    if (normed) *centre *= wide_load(splat->norm[0] + k);
  }
  for (int a = 0; a < 3; a++) {
    Wide *face = &of[AT_X + 2 * a];
    face[0] = wide_load(splat->face + k);
    if (normed) face[0] *= wide_load(splat->norm[1 + a] + k);
    face[1] = splat->velocity[a] ? face[0] * wide_load(splat->velocity[a] + k) : wide_set(0);
  }
  put_rows(values, of);
}

/* Where the nodes of each sum lie along an axis: centres half a cell higher than faces. */
static const Row NODE_AT[3] = {{0.5f, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f},
                               {0.5f, 0.5f, 0.5f, 0, 0, 0.5f, 0.5f, 0.5f},
                               {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0, 0, 0.5f}};

/* Particles [k, k + 8) of the strip. */
WIDE_INLINE void weigh(const Splat *splat, const int32_t place[3], int64_t k, bool normed, Parcel parcels[LANES]) {
  Row at[3], values[LANES];
  wide_store(at[0], within_lane(splat->x + k, (float)place[0]));
  wide_store(at[1], within(splat->y + k, (float)place[1]));
  wide_store(at[2], within(splat->z + k, (float)place[2]));
  find_values(splat, k, normed, values);
  for (int p = 0; p < LANES; p++) {
    Wide value = wide_load(values[p]);
    NodeWeights x = node_weights(wide_set(at[0][p]), wide_load(NODE_AT[0])),
                y = node_weights(wide_set(at[1][p]), wide_load(NODE_AT[1])),
                z = node_weights(wide_set(at[2][p]), wide_load(NODE_AT[2]));
    wide_store(parcels[p].x[0], value * x.below), wide_store(parcels[p].x[1], value * x.at);
    wide_store(parcels[p].x[2], value * x.above), wide_store(parcels[p].y[0], y.below);
    wide_store(parcels[p].y[1], y.at), wide_store(parcels[p].y[2], y.above);
    wide_store(parcels[p].z[0], z.below), wide_store(parcels[p].z[1], z.at);
    wide_store(parcels[p].z[2], z.above);
  }
}

/* ---- restricted particles ---- */

/* Sums of a node that a particle gives to which is restricted along axes, a bit each, where its faces along these are
 * not bearing. */
static const int32_t KEPT_SUMS[8][LANES] __attribute__((aligned(32))) = {
    {-1, -1, -1, -1, -1, -1, -1, -1}, {-1, 0, 0, -1, -1, -1, -1, -1}, {-1, -1, -1, 0, 0, -1, -1, -1},
    {-1, 0, 0, 0, 0, -1, -1, -1},     {-1, -1, -1, -1, -1, 0, 0, -1}, {-1, 0, 0, -1, -1, 0, 0, -1},
    {-1, -1, -1, 0, 0, 0, 0, -1},     {-1, 0, 0, 0, 0, 0, 0, -1}};

/* Ten bits, each at three times its place. */
static inline uint32_t spread_bits(uint32_t bits) {
  bits = (bits | bits << 16) & 0x030000ffu;
  bits = (bits | bits << 8) & 0x0300f00fu;
  bits = (bits | bits << 4) & 0x030c30c3u;
  return (bits | bits << 2) & 0x09249249u;
}

/* Faces round the strip that are not bearing: per row three bits a node, one an axis. */
static void find_weak(const Splat *splat, int32_t strip, uint32_t weak[9]) {
  const FlipGrid *grid = splat->grid;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1), low = grid->near[at][X_LOW],
            high = grid->near[at][X_HIGH];
    weak[row] = 0;
    for (int a = 0; a < 3; a++) {
      const uint8_t *bearing = splat->bearing[a];
      uint32_t bits = (uint32_t)bearing[low] >> (STRIP - 1) | (uint32_t)bearing[at] << 1 |
                      (uint32_t)(bearing[high] & 1) << (STRIP + 1);
      weak[row] |= spread_bits(~bits & ((1u << TILE_X) - 1)) << a;
    }
  }
}

/* ---- cells ---- */

/* Adds the particles of the cell in this lane to the tile. `restricted`: bits of the particles; NULL: none is. */
WIDE_INLINE void add_cell(const Parcel *parcels, int count, int lane, const uint8_t *restricted, const uint32_t weak[9],
                          Tile tile) {
  for (int z = 0; z < 3; z++) {
    Wide sum[9];
    for (int n = 0; n < 9; n++) sum[n] = wide_set(0);
    for (int k = 0; k < count; k++) {
      const Parcel *p = &parcels[k];
      Wide of_z = wide_load(p->z[z]), x[3] = {wide_load(p->x[0]), wide_load(p->x[1]), wide_load(p->x[2])};
      if (restricted && restricted[k]) {
        for (int y = 0; y < 3; y++) {
          Wide weight = of_z * wide_load(p->y[y]);
          uint32_t not_his = weak[z * 3 + y] >> 3 * lane & (uint32_t)restricted[k] * 0111u;
          for (int n = 0; n < 3; n++)
            sum[y * 3 + n] += (Wide)((WideInt)(x[n] * weight) & wide_load_int(KEPT_SUMS[not_his >> 3 * n & 7]));
        }
      } else {
        for (int y = 0; y < 3; y++) {
          Wide weight = of_z * wide_load(p->y[y]);
          for (int n = 0; n < 3; n++) sum[y * 3 + n] += x[n] * weight;
        }
      }
    }
    for (int n = 0; n < 9; n++) {
      float *to = tile[z * 3 + n / 3][lane + n % 3];
      wide_store(to, wide_load(to) + sum[n]);
    }
  }
}

/* ---- from the tile to the nodes ---- */

/* A row of strips that a tile goes to: 0 where there is none, or none is wanted. */
typedef struct RowOfStrips {
  int32_t at, low, high;
} RowOfStrips;

/* Whether nodes round the strip are wanted. */
static bool find_rows(const FlipGrid *grid, const uint8_t *taken, int32_t strip, RowOfStrips rows[9]) {
  bool any = false;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1);
    rows[row] = (RowOfStrips){at, grid->near[at][X_LOW], grid->near[at][X_HIGH]};
    if (taken) {
      rows[row].at = taken[rows[row].at] ? rows[row].at : 0;
      rows[row].low = taken[rows[row].low] ? rows[row].low : 0;
      rows[row].high = taken[rows[row].high] ? rows[row].high : 0;
    }
    any = any || rows[row].at || rows[row].low || rows[row].high;
  }
  return any;
}

WIDE_INLINE void add_node(float sums[NODE_SUMS], const Row more) {
  wide_store(sums, wide_load(sums) + wide_load(more));
}

/* Of the nodes of the tile those [first, last] that cells have given to. */
static void give_tile(const Splat *splat, const RowOfStrips rows[9], int first, int last, const Tile tile) {
  for (int row = 0; row < 9; row++) {
    RowOfStrips to = rows[row];
    if (to.low && first == 0) add_node(splat->sums[(int64_t)to.low * STRIP + STRIP - 1], tile[row][0]);
    if (to.high && last == STRIP + 1) add_node(splat->sums[(int64_t)to.high * STRIP], tile[row][STRIP + 1]);
    if (!to.at) continue;
    float(*own)[NODE_SUMS] = splat->sums + (int64_t)to.at * STRIP;
    int end = last < STRIP ? last : STRIP;
    for (int n = first > 1 ? first : 1; n <= end; n++) add_node(own[n - 1], tile[row][n]);
  }
}

static void splat_strip(const Splat *splat, int32_t strip, const RowOfStrips rows[9]) {
  const int32_t *start = splat->start + (int64_t)strip * STRIP;
  int32_t place[3];
  uint32_t weak[9], restricted = splat->restricted_lanes ? splat->restricted_lanes[strip] : 0;
  strip_place(splat->grid->key[strip], place);
  if (restricted) find_weak(splat, strip, weak);
  bool normed = splat->normed[strip];
  int first = 0, last = STRIP - 1;
  while (start[first + 1] == start[0]) first++;
  while (start[last] == start[STRIP]) last--;
  Tile tile;
  for (int row = 0; row < 9; row++)
    for (int n = first; n <= last + 2; n++) wide_store(tile[row][n], wide_set(0));
  Parcel parcels[BATCH];
  int lane = first;
  for (int32_t from = start[0]; from < start[STRIP]; from += BATCH) {
    int32_t to = start[STRIP] - from < BATCH ? start[STRIP] : from + BATCH;
    for (int32_t k = from; k < to; k += LANES) weigh(splat, place, k, normed, parcels + (k - from));
    for (int32_t b = from; b < to;) {
      while (start[lane + 1] <= b) lane++;
      int32_t e = start[lane + 1] < to ? start[lane + 1] : to;
      if (restricted >> lane & 1) add_cell(parcels + (b - from), e - b, lane, splat->restricted + b, weak, tile);
      else add_cell(parcels + (b - from), e - b, lane, NULL, weak, tile);
      b = e;
    }
  }
  give_tile(splat, rows, first, last + 2, tile);
}

void KERNEL(flip_splat)(const Splat *splat, int32_t first, int32_t last) {
  for (int32_t strip = first; strip < last; strip++) {
    const int32_t *start = splat->start + (int64_t)strip * STRIP;
    RowOfStrips rows[9];
    if (start[0] != start[STRIP] && find_rows(splat->grid, splat->taken, strip, rows)) splat_strip(splat, strip, rows);
  }
}

/* ---- norms ---- */

/* Sums of weights along x for each set of up to three nodes. */
WIDE_INLINE void sums_of_sets(Wide w0, Wide w1, Wide w2, Wide sums[8]) {
  sums[0] = wide_set(0), sums[1] = w0, sums[2] = w1, sums[3] = w0 + w1;
  sums[4] = w2, sums[5] = w0 + w2, sums[6] = w1 + w2, sums[7] = sums[3] + w2;
}

WIDE_INLINE void store_some(float *to, Wide value, int count) {
  if (count >= LANES) wide_store(to, value);
  else
    for (int lane = 0; lane < count; lane++) to[lane] = value[lane];
}

/* Weights of particles of one cell: y and z, and of sets of nodes along x. */
typedef struct CellWeights {
  Wide t[3];
  Wide y[3], z[3];
  Wide centres[8], faces[8];
} CellWeights;

WIDE_INLINE CellWeights cell_weights(const float *x, const float *y, const float *z, const float place[3]) {
  CellWeights w = {.t = {within_lane(x, place[0]), within(y, place[1]), within(z, place[2])}};
  const Wide centre = wide_set(0.5f);
  NodeWeights along = node_weights(w.t[0], centre), of_y = node_weights(w.t[1], centre),
              of_z = node_weights(w.t[2], centre);
  w.y[0] = of_y.below, w.y[1] = of_y.at, w.y[2] = of_y.above;
  w.z[0] = of_z.below, w.z[1] = of_z.at, w.z[2] = of_z.above;
  sums_of_sets(along.below, along.at, along.above, w.centres);
  sums_of_sets(wide_set(0), wide_set(1) - w.t[0], w.t[0], w.faces);
  return w;
}

/* Sum of the weights of those nodes round the cell that have their bit: centres (0) or faces (1 + axis). */
WIDE_INLINE Wide sum_of_bits(const CellWeights *w, const uint32_t rows[9], int lane, int g) {
  const Wide one = wide_set(1);
  Wide sum = wide_set(0);
  for (int row = 0; row < 9; row++) {
    int y = row % 3, z = row / 3;
    if ((g == 2 && y == 0) || (g == 3 && z == 0)) continue;
    Wide wy = g == 2 ? (y == 2 ? w->t[1] : one - w->t[1]) : w->y[y];
    Wide wz = g == 3 ? (z == 2 ? w->t[2] : one - w->t[2]) : w->z[z];
    sum += wz * wy * (g == 1 ? w->faces : w->centres)[rows[row] >> lane & 7];
  }
  return sum;
}

void KERNEL(flip_cell_norms)(const CellNorms *cell, int32_t b, int32_t e) {
  for (int32_t k = b; k < e; k += LANES) {
    CellWeights w = cell_weights(cell->x + k, cell->y + k, cell->z + k, cell->place);
    for (int g = 0; g < 4; g++)
      store_some(cell->norm[g] + k, weight_norm(sum_of_bits(&w, cell->bits[g], cell->lane, g)), e - k);
  }
}

void KERNEL(flip_cell_bearing)(const CellBearing *cell, int32_t b, int32_t e) {
  for (int32_t k = b; k < e; k += LANES) {
    CellWeights w = cell_weights(cell->x + k, cell->y + k, cell->z + k, cell->place);
    unsigned some[3];
    for (int a = 0; a < 3; a++) {
      Wide sum = sum_of_bits(&w, cell->bits[a], cell->lane, 1 + a), share = sum;
      if (cell->norm[a]) share = share * wide_load(cell->norm[a] + k);
      some[a] = wide_bits(wide_less(wide_set(cell->least), share) & wide_less_equal(share, wide_set(WEIGHT_WHOLE)));
      if (some[a]) store_some(cell->sum[a] + (k - b), sum, e - k);
    }
    for (int lane = 0; lane < LANES && k + lane < e; lane++)
      cell->some[k - b + lane] =
          (uint8_t)((some[0] >> lane & 1) | (some[1] >> lane & 1) << 1 | (some[2] >> lane & 1) << 2);
  }
}

/* ---- octants ---- */

/* Weights of the nodes below, at and above a cell for the middle of its lower and of its upper half. */
static const float HALF_CENTRES[2][3] = {{0.25f, 0.75f, 0}, {0, 0.75f, 0.25f}},
                   HALF_FACES[2][3] = {{0, 0.75f, 0.25f}, {0, 0.25f, 0.75f}};

/* a, b, c weighted; terms without weight are left out when the weights are known at compile time. */
WIDE_INLINE Wide weighted(const float w[3], Wide a, Wide b, Wide c) {
  Wide sum = wide_set(w[1]) * b;
  if (w[0] != 0) sum = sum + wide_set(w[0]) * a;
  if (w[2] != 0) sum = sum + wide_set(w[2]) * c;
  return sum;
}

/* Norms at the middles of the octants of eight cells, for one kind of node. */
WIDE_INLINE void octant_norms(const uint32_t rows[9], const float wx[2][3], const float wy[2][3], const float wz[2][3],
                              Wide norm[8]) {
  const Wide one = wide_set(1), zero = wide_set(0);
  Wide along[9][2], across[3][4];
  for (int row = 0; row < 9; row++) {
    Wide node[3];
    for (int x = 0; x < 3; x++) node[x] = wide_select(wide_lanes((uint8_t)(rows[row] >> x & 255)), one, zero);
    for (int half = 0; half < 2; half++) along[row][half] = weighted(wx[half], node[0], node[1], node[2]);
  }
  for (int z = 0; z < 3; z++)
    for (int o = 0; o < 4; o++)
      across[z][o] = weighted(wy[o >> 1], along[z * 3][o & 1], along[z * 3 + 1][o & 1], along[z * 3 + 2][o & 1]);
  for (int o = 0; o < 8; o++) {
    Wide sum = weighted(wz[o >> 2], across[0][o & 3], across[1][o & 3], across[2][o & 3]);
    norm[o] = weight_norm(sum);
  }
}

/* a and b weighted; terms without weight are left out when the weights are known at compile time. */
WIDE_INLINE Wide weighted_pair(float of_a, Wide a, float of_b, Wide b) {
  if (of_a == 0) return of_b == 0 ? wide_set(0) : wide_set(of_b) * b;
  return of_b == 0 ? wide_set(of_a) * a : wide_set(of_a) * a + wide_set(of_b) * b;
}

/* Adds to the nodes of a row what each of eight cells gives to those below, at and above it. */
WIDE_INLINE void add_row(RowOfStrips row, const Wide gives[3], float *sums) {
  const Wide zero = wide_set(0);
  if (row.at) {
    float *to = sums + (int64_t)row.at * STRIP;
    Wide own = __builtin_shufflevector(gives[0], zero, 1, 2, 3, 4, 5, 6, 7, 8) + gives[1];
    own += __builtin_shufflevector(gives[2], zero, 8, 0, 1, 2, 3, 4, 5, 6);
    wide_store(to, wide_load(to) + own);
  }
  if (row.low) sums[(int64_t)row.low * STRIP + STRIP - 1] += gives[0][0];
  if (row.high) sums[(int64_t)row.high * STRIP] += gives[2][STRIP - 1];
}

WIDE_INLINE void lack_of(const Octants *octants, const RowOfStrips rows[9], int g, const float wx[2][3],
                         const float wy[2][3], const float wz[2][3]) {
  Wide lack[8];
  octant_norms(octants->bits[g], wx, wy, wz, lack);
  for (int o = 0; o < 8; o++) lack[o] = wide_set(0.125f) * (wide_set(1) - wide_load(octants->share[o]) * lack[o]);
  for (int z = 0; z < 3; z++) {
    Wide plane[4], row[2], gives[3];
    for (int o = 0; o < 4; o++) plane[o] = weighted_pair(wz[0][z], lack[o], wz[1][z], lack[o + 4]);
    for (int y = 0; y < 3; y++) {
      if ((wz[0][z] == 0 && wz[1][z] == 0) || (wy[0][y] == 0 && wy[1][y] == 0)) continue;
      for (int half = 0; half < 2; half++) row[half] = weighted_pair(wy[0][y], plane[half], wy[1][y], plane[half + 2]);
      for (int x = 0; x < 3; x++) gives[x] = weighted_pair(wx[0][x], row[0], wx[1][x], row[1]);
      add_row(rows[z * 3 + y], gives, octants->sums[g]);
    }
  }
}

void KERNEL(flip_splat_octants)(const Octants *octants, int32_t strip) {
  RowOfStrips rows[9];
  find_rows(octants->grid, NULL, strip, rows);
  lack_of(octants, rows, 0, HALF_CENTRES, HALF_CENTRES, HALF_CENTRES);
  lack_of(octants, rows, 1, HALF_FACES, HALF_CENTRES, HALF_CENTRES);
  lack_of(octants, rows, 2, HALF_CENTRES, HALF_FACES, HALF_CENTRES);
  lack_of(octants, rows, 3, HALF_CENTRES, HALF_CENTRES, HALF_FACES);
}
