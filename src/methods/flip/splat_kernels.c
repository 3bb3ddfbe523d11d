#include "methods/flip/splat_kernels.h"

#include <string.h>

/* Particles whose weights are found at once. */
enum { BATCH = 64 };
/* Rows (y, z) that a particle's cell reaches: centres and x faces, y faces, z faces. Nodes along x: one before the
 * strip, its own, one behind, and room for a whole register. */
enum { ROWS_X = 9, ROWS_Y = 6, ROWS_Z = 6, TILE_X = 12 };

typedef struct Batch {
  float weight[ROWS_X + ROWS_Y + ROWS_Z][BATCH]; /* of the rows */
  /* what a particle gives along x: centres at three nodes and 0, then both sums at two faces; first sum at three nodes
   * and 0, then the second, for y and for z faces */
  float x[BATCH][LANES], y[BATCH][LANES], z[BATCH][LANES];
} __attribute__((aligned(32))) Batch;

typedef struct Tile {
  float centres[ROWS_X][TILE_X], x[ROWS_X][TILE_X][2], y[2][ROWS_Y][TILE_X], z[2][ROWS_Z][TILE_X];
} Tile;

typedef struct CentreWeights {
  Wide node[3];
} CentreWeights;

/* Of the nodes below, at and above a cell, t within it. */
WIDE_INLINE CentreWeights centre_weights(Wide t) {
  const Wide half = wide_set(0.5f), zero = wide_set(0);
  Wide below = wide_max(half - t, zero), above = wide_max(t - half, zero);
  return (CentreWeights){{below, wide_set(1) - (below + above), above}};
}

/* Within the cell; lanes that belong to others must be harmless. */
WIDE_INLINE Wide within(const float *at, float from) {
  return wide_min(wide_max(wide_load(at) - wide_set(from), wide_set(0)), wide_set(1));
}

WIDE_INLINE Wide within_lane(const float *at, float from) {
  Wide t = wide_min(wide_max(wide_load(at) - wide_set(from), wide_set(0)), wide_set((float)STRIP));
  return t - __builtin_convertvector(__builtin_convertvector(t, WideInt), Wide);
}

/* Rows of eight from four values and four more. */
WIDE_INLINE void put_rows(float (*rows)[LANES], const Wide low[4], const Wide high[4]) {
  static const int32_t even[LANES] = {0, 2, 4, 6, 8, 10, 12, 14}, odd[LANES] = {1, 3, 5, 7, 9, 11, 13, 15};
  wide_scatter4((float(*)[4])rows, even, low[0], low[1], low[2], low[3]);
  wide_scatter4((float(*)[4])rows, odd, high[0], high[1], high[2], high[3]);
}

/* What faces of an axis get of particles [k, k + 8): all of it, or that of those who ride (or who do not). */
WIDE_INLINE Wide face_share(const Splat *splat, int64_t k, int axis, bool normed, bool sorted, bool riding) {
  Wide share = wide_load(splat->face + k);
  if (normed) share = share * wide_load(splat->norm[1 + axis] + k);
  if (!sorted) return share;
  WideInt rides;
  for (int lane = 0; lane < LANES; lane++) rides[lane] = splat->rides[k + lane] >> axis & 1;
  WideInt wanted = wide_int_equal(rides, (WideInt){0} + (riding ? 1 : 0));
  return wide_select(wanted, share, wide_set(0));
}

/* Particles [k, k + 8) of the strip, to places `to` of the batch. */
WIDE_INLINE void weigh(const Splat *splat, const int32_t place[3], int64_t k, int to, bool normed, bool sorted,
                       bool riding, Batch *batch) {
  Wide t[3] = {within_lane(splat->x + k, (float)place[0]), within(splat->y + k, (float)place[1]),
               within(splat->z + k, (float)place[2])};
  const Wide one = wide_set(1), zero = wide_set(0);
  CentreWeights c[3] = {centre_weights(t[0]), centre_weights(t[1]), centre_weights(t[2])};
  float(*weight)[BATCH] = batch->weight;
  for (int z = 0; z < 3; z++)
    for (int y = 0; y < 3; y++) wide_store(&weight[z * 3 + y][to], c[2].node[z] * c[1].node[y]);
  weight += ROWS_X;
  for (int z = 0; z < 3; z++)
    for (int y = 0; y < 2; y++) wide_store(&weight[z * 2 + y][to], c[2].node[z] * (y ? t[1] : one - t[1]));
  weight += ROWS_Y;
  for (int z = 0; z < 2; z++)
    for (int y = 0; y < 3; y++) wide_store(&weight[z * 3 + y][to], (z ? t[2] : one - t[2]) * c[1].node[y]);
  Wide centre = zero;
  if (splat->centre) {
    centre = wide_load(splat->centre + k);
    if (normed) centre = centre * wide_load(splat->norm[0] + k);
  }
  Wide low[4] = {centre * c[0].node[0], centre * c[0].node[1], centre * c[0].node[2], zero},
       high[4] = {zero, zero, zero, zero};
  if (splat->face) {
    Wide face = face_share(splat, k, 0, normed, sorted, riding);
    Wide speed = splat->velocity[0] ? wide_load(splat->velocity[0] + k) : zero;
    high[0] = face * (one - t[0]), high[1] = high[0] * speed;
    high[2] = face * t[0], high[3] = high[2] * speed;
  }
  put_rows(batch->x + to, low, high);
  for (int axis = 1; axis < 3 && splat->face; axis++) {
    Wide face = face_share(splat, k, axis, normed, sorted, riding);
    Wide speed = splat->velocity[axis] ? wide_load(splat->velocity[axis] + k) : zero;
    for (int n = 0; n < 3; n++) {
      low[n] = face * c[0].node[n];
      high[n] = low[n] * speed;
    }
    low[3] = high[3] = zero;
    put_rows((axis == 1 ? batch->y : batch->z) + to, low, high);
  }
}

WIDE_INLINE void add_quad(float *to, Wide from, bool upper) {
  typedef float Quad __attribute__((vector_size(16), aligned(4), may_alias));
  *(Quad *)to +=
      upper ? __builtin_shufflevector(from, from, 4, 5, 6, 7) : __builtin_shufflevector(from, from, 0, 1, 2, 3);
}

/* Places [b, e) of the batch, all of the cell in this lane. */
WIDE_INLINE void add_cell(const Batch *batch, int b, int e, int lane, bool faces, Tile *tile) {
  const float(*weight)[BATCH] = batch->weight;
  Wide x[ROWS_X];
  for (int row = 0; row < ROWS_X; row++) x[row] = wide_set(0);
  for (int k = b; k < e; k++) {
    Wide values = wide_load(batch->x[k]);
    for (int row = 0; row < ROWS_X; row++) x[row] += values * wide_set(weight[row][k]);
  }
  for (int row = 0; row < ROWS_X; row++) {
    add_quad(&tile->centres[row][lane], x[row], false);
    add_quad(tile->x[row][lane + 1], x[row], true);
  }
  if (!faces) return;
  Wide y[ROWS_Y], z[ROWS_Z];
  for (int row = 0; row < ROWS_Y; row++) y[row] = z[row] = wide_set(0);
  for (int k = b; k < e; k++) {
    Wide of_y = wide_load(batch->y[k]), of_z = wide_load(batch->z[k]);
    for (int row = 0; row < ROWS_Y; row++) y[row] += of_y * wide_set(weight[ROWS_X + row][k]);
    for (int row = 0; row < ROWS_Z; row++) z[row] += of_z * wide_set(weight[ROWS_X + ROWS_Y + row][k]);
  }
  for (int row = 0; row < ROWS_Y; row++) {
    add_quad(&tile->y[0][row][lane], y[row], false);
    add_quad(&tile->y[1][row][lane], y[row], true);
    add_quad(&tile->z[0][row][lane], z[row], false);
    add_quad(&tile->z[1][row][lane], z[row], true);
  }
}

/* ---- from the tile to the nodes ---- */

/* A row of strips that a tile goes to: 0 where there is none, or none is wanted. */
typedef struct RowOfStrips {
  int32_t at, low, high;
} RowOfStrips;

static RowOfStrips row_beside(const Splat *splat, int32_t strip, int dy, int dz) {
  const FlipGrid *grid = splat->grid;
  int32_t at = grid_row(grid, strip, dy, dz);
  RowOfStrips row = {at, grid->near[at][X_LOW], grid->near[at][X_HIGH]};
  const uint8_t *taken = splat->taken;
  if (!taken) return row;
  return (RowOfStrips){taken[row.at] ? row.at : 0, taken[row.low] ? row.low : 0, taken[row.high] ? row.high : 0};
}

/* Lanes whose bits are set. */
WIDE_INLINE WideInt lanes_of(uint32_t bits) {
  const WideInt lane = {1, 2, 4, 8, 16, 32, 64, 128};
  return wide_int_equal(((WideInt){0} + (int32_t)bits) & lane, lane);
}

/* Adds ten nodes, of which the first lies before the strip; only to those with bits in `strong`, unless it is NULL. */
WIDE_INLINE void add_nodes(RowOfStrips row, const float *ten, const uint8_t *strong, float *sums) {
  if (row.at) {
    Wide own = wide_load(ten + 1);
    if (strong) own = wide_select(lanes_of(strong[row.at]), own, wide_set(0));
    float *to = sums + (int64_t)row.at * STRIP;
    wide_store(to, wide_load(to) + own);
  }
  if (row.low && (!strong || strong[row.low] >> (STRIP - 1))) sums[(int64_t)row.low * STRIP + STRIP - 1] += ten[0];
  if (row.high && (!strong || (strong[row.high] & 1))) sums[(int64_t)row.high * STRIP] += ten[1 + STRIP];
}

WIDE_INLINE void give_tile(const Splat *splat, int32_t strip, const Tile *tile, bool riding) {
  const uint8_t *strong[3];
  for (int a = 0; a < 3; a++) strong[a] = riding ? splat->strong[a] : NULL;
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++) {
      RowOfStrips row = row_beside(splat, strip, dy, dz);
      int r = (dz + 1) * 3 + dy + 1;
      if (splat->centre && !riding) add_nodes(row, tile->centres[r], NULL, splat->centres);
      if (!splat->face) continue;
      float first[TILE_X], second[TILE_X];
      for (int x = 0; x < TILE_X; x++) first[x] = tile->x[r][x][0], second[x] = tile->x[r][x][1];
      add_nodes(row, first, strong[0], splat->faces[0]);
      if (splat->momenta[0]) add_nodes(row, second, strong[0], splat->momenta[0]);
      if (dy >= 0) {
        add_nodes(row, tile->y[0][(dz + 1) * 2 + dy], strong[1], splat->faces[1]);
        if (splat->momenta[1]) add_nodes(row, tile->y[1][(dz + 1) * 2 + dy], strong[1], splat->momenta[1]);
      }
      if (dz >= 0) {
        add_nodes(row, tile->z[0][dz * 3 + dy + 1], strong[2], splat->faces[2]);
        if (splat->momenta[2]) add_nodes(row, tile->z[1][dz * 3 + dy + 1], strong[2], splat->momenta[2]);
      }
    }
}

/* With `sorted`, those who ride or those who do not. */
WIDE_INLINE void splat_strip(const Splat *splat, int32_t strip, bool sorted, bool riding) {
  const int32_t *start = splat->start + (int64_t)strip * STRIP;
  int32_t place[3];
  strip_place(splat->grid->key[strip], place);
  bool normed = splat->norm && (!splat->normed || splat->normed[strip]);
  Tile tile;
  memset(&tile, 0, sizeof tile);
  Batch batch;
  int lane = 0;
  for (int32_t from = start[0]; from < start[STRIP]; from += BATCH) {
    int32_t to = start[STRIP] - from < BATCH ? start[STRIP] : from + BATCH;
    for (int32_t k = from; k < to; k += LANES) weigh(splat, place, k, k - from, normed, sorted, riding, &batch);
    for (int32_t b = from; b < to;) {
      while (start[lane + 1] <= b) lane++;
      int32_t e = start[lane + 1] < to ? start[lane + 1] : to;
      if (!riding || splat->riders[strip] >> lane & 1)
        add_cell(&batch, b - from, e - from, lane, splat->face != NULL, &tile);
      b = e;
    }
  }
  give_tile(splat, strip, &tile, riding);
}

/* Whether nodes round the strip are wanted. */
static bool wanted_round(const Splat *splat, int32_t strip) {
  for (int row = 0; row < 9; row++) {
    RowOfStrips beside = row_beside(splat, strip, row % 3 - 1, row / 3 - 1);
    if (beside.at || beside.low || beside.high) return true;
  }
  return false;
}

void KERNEL(flip_splat)(const Splat *splat, int32_t first, int32_t last) {
  for (int32_t strip = first; strip < last; strip++) {
    const int32_t *start = splat->start + (int64_t)strip * STRIP;
    if (start[0] == start[STRIP] || (splat->taken && !wanted_round(splat, strip))) continue;
    if (!splat->rides || !splat->riders[strip]) splat_strip(splat, strip, false, false);
    else {
      splat_strip(splat, strip, true, false);
      splat_strip(splat, strip, true, true);
    }
  }
}

/* ---- norms ---- */

#define NORM_LEAST 1e-3f

/* From the sum of the weights that count. */
WIDE_INLINE Wide norm_of(Wide sum) {
  const Wide one = wide_set(1);
  Wide norm = wide_select(wide_less(wide_set(NORM_LEAST), sum), one / sum, wide_set(0));
  return wide_select(wide_less(wide_set(0.99999f), sum), one, norm);
}

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

void KERNEL(flip_cell_norms)(const CellNorms *cell, int32_t b, int32_t e) {
  const Wide one = wide_set(1), zero = wide_set(0);
  for (int32_t k = b; k < e; k += LANES) {
    Wide t[3] = {within_lane(cell->x + k, cell->place[0]), within(cell->y + k, cell->place[1]),
                 within(cell->z + k, cell->place[2])};
    CentreWeights c[3] = {centre_weights(t[0]), centre_weights(t[1]), centre_weights(t[2])};
    Wide centres[8], faces[8];
    sums_of_sets(c[0].node[0], c[0].node[1], c[0].node[2], centres);
    sums_of_sets(zero, one - t[0], t[0], faces);
    for (int g = 0; g < 4; g++) {
      Wide sum = zero;
      for (int row = 0; row < 9; row++) {
        int y = row % 3, z = row / 3;
        if ((g == 2 && y == 0) || (g == 3 && z == 0)) continue;
        Wide wy = g == 2 ? (y == 2 ? t[1] : one - t[1]) : c[1].node[y];
        Wide wz = g == 3 ? (z == 2 ? t[2] : one - t[2]) : c[2].node[z];
        sum += wz * wy * (g == 1 ? faces : centres)[cell->bits[g][row] >> cell->lane & 7];
      }
      store_some(cell->norm[g] + k, norm_of(sum), e - k);
    }
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
    for (int x = 0; x < 3; x++) node[x] = wide_select(lanes_of(rows[row] >> x & 255), one, zero);
    for (int half = 0; half < 2; half++) along[row][half] = weighted(wx[half], node[0], node[1], node[2]);
  }
  for (int z = 0; z < 3; z++)
    for (int o = 0; o < 4; o++)
      across[z][o] = weighted(wy[o >> 1], along[z * 3][o & 1], along[z * 3 + 1][o & 1], along[z * 3 + 2][o & 1]);
  for (int o = 0; o < 8; o++) {
    Wide sum = weighted(wz[o >> 2], across[0][o & 3], across[1][o & 3], across[2][o & 3]);
    norm[o] = norm_of(sum);
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

void KERNEL(flip_octants)(const Octants *octants, int32_t strip) {
  const FlipGrid *grid = octants->grid;
  RowOfStrips rows[9];
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1);
    rows[row] = (RowOfStrips){at, grid->near[at][X_LOW], grid->near[at][X_HIGH]};
  }
  lack_of(octants, rows, 0, HALF_CENTRES, HALF_CENTRES, HALF_CENTRES);
  lack_of(octants, rows, 1, HALF_FACES, HALF_CENTRES, HALF_CENTRES);
  lack_of(octants, rows, 2, HALF_CENTRES, HALF_FACES, HALF_CENTRES);
  lack_of(octants, rows, 3, HALF_CENTRES, HALF_CENTRES, HALF_FACES);
}

/* ---- what sums mean ---- */

typedef struct FaceSums {
  Wide mass, bulk, fill;
} FaceSums;

/* What fell on faces that are not valid belongs to others already. */
WIDE_INLINE FaceSums face_sums(const NodeSums *sums, int64_t strip, int a) {
  const Wide zero = wide_set(0);
  int64_t at = strip * STRIP;
  WideInt valid = lanes_of(sums->fields.valid[1 + a][strip]);
  FaceSums face;
  face.mass = wide_select(valid, wide_load(sums->mass[a] + at), zero);
  face.bulk = sums->bulk[a] ? wide_select(valid, wide_load(sums->bulk[a] + at), zero)
                            : face.mass * wide_set(sums->one_specific);
  face.fill = face.bulk * wide_set(1 / sums->volume) / wide_load(sums->fields.room[1 + a] + at);
  return face;
}

void KERNEL(flip_face_fill)(const NodeSums *sums, int64_t strip, float fill[3][STRIP]) {
  for (int a = 0; a < 3; a++) wide_store(fill[a], face_sums(sums, strip, a).fill);
}

void KERNEL(flip_node_fields)(const NodeSums *sums, int64_t b, int64_t e) {
  const FlipFields *f = &sums->fields;
  const Wide zero = wide_set(0), one = wide_set(1), volume = wide_set(sums->volume);
  const bool mixed = sums->bulk[0] != NULL;
  for (int64_t strip = b; strip < e; strip++) {
    int64_t at = strip * STRIP;
    Wide sand = wide_load(sums->centres + at);
    if (!mixed) sand = sand * wide_set(sums->one_specific);
    wide_store(f->fill + at, wide_load(f->free + at) * sand * wide_set(1 / sums->volume) / wide_load(f->room[0] + at));
    WideInt any = wide_less(zero, sand);
    wide_store(f->strength + at,
               mixed ? wide_select(any, wide_load(sums->strength + at) / sand, zero) : wide_set(sums->one_strength));
    wide_store(f->cohesion + at,
               mixed ? wide_select(any, wide_load(sums->cohesion + at) / sand, zero) : wide_set(sums->one_cohesion));
    for (int a = 0; a < 3; a++) {
      FaceSums face = face_sums(sums, strip, a);
      Wide open = wide_load(f->open[a] + at);
      Wide wall = (one - open) * wide_load(f->wall_v[a] + at);
      WideInt some = wide_less(wide_set(sums->least), face.fill), strong = some & lanes_of(f->strong[a][strip]);
      Wide velocity = wide_select(wide_less(zero, face.mass),
                                  wide_load(sums->momentum[a] + at) / face.mass + wide_set(sums->gain[a]), zero);
      /* The solid bears the closed share of what acts on the face, the sand the open one, whatever room its kernel has:
       * so they get from each other what they give. */
      Wide lightness = wide_select(strong & wide_less(zero, open), volume * open / face.mass, zero);
      wide_store(f->mass[a] + at, face.mass);
      wide_store(f->velocity[a] + at, velocity);
      wide_store(f->lightness[a] + at, lightness);
      wide_store(f->flux[a] + at, wide_select(some, open * face.fill * velocity, zero) + wall);
      wide_store(f->gain[a] + at, open * face.fill * lightness);
      wide_store(f->speed[a] + at, open * velocity + wall);
      wide_store(f->ease[a] + at, open * lightness);
      wide_store(f->change[a] + at, zero);
      wide_store(f->moved[a] + at, zero);
      wide_store(f->stop[a] + at, zero);
    }
  }
}
