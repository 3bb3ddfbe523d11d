#include "sampling/tile.h"

#include <math.h>

#include "core/rng.h"
#include "sampling/darts.h"
#include "sampling/relax.h"

/* Of seeds 1 to 5 the fullest for equal radii; others are a little more even for radii that differ. */
enum { TILE_SEED = 3 };

static void tile_coordinates(double period, float x, int32_t *bin, float *within) {
  double at = (double)x / period * TILE_BLOCKS;
  *bin = at < 0 ? 0 : at >= TILE_BLOCKS ? TILE_BLOCKS - 1 : (int32_t)at;
  *within = (float)fmin(fmax(at - *bin, 0), 0x1.fffffep-1);
}

/* Sorts spheres in [0, period)^3 into the bins. Radii are over the nominal one. */
static Status tile_store(Core *core, const Samples *samples, double period, Tile *tile) {
  TRY(memory_new(core, &tile->x, samples->count, "tile of samples"));
  TRY(memory_new(core, &tile->y, samples->count, "tile of samples"));
  TRY(memory_new(core, &tile->z, samples->count, "tile of samples"));
  if (samples->radius) TRY(memory_new(core, &tile->radius, samples->count, "tile of samples"));
  const float *at[3] = {samples->x, samples->y, samples->z};
  int32_t filled[TILE_BINS] = {0};
  for (int pass = 0; pass < 2; pass++)
    for (int64_t k = 0; k < samples->count; k++) {
      int32_t bin[3];
      float within[3];
      for (int axis = 0; axis < 3; axis++) tile_coordinates(period, at[axis][k], &bin[axis], &within[axis]);
      int b = tile_bin(bin[0], bin[1], bin[2]);
      if (pass == 0) {
        filled[b] += filled[b] < BLOCK_SPHERES;
        if (k + 1 == samples->count)
          for (int n = 0; n < TILE_BINS; n++) tile->start[n + 1] = tile->start[n] + filled[n], filled[n] = 0;
      } else if (filled[b] < tile->start[b + 1] - tile->start[b]) {
        int32_t place = tile->start[b] + filled[b]++;
        tile->x[place] = within[0], tile->y[place] = within[1], tile->z[place] = within[2];
        if (samples->radius) tile->radius[place] = samples->radius[k];
      }
    }
  tile->count = tile->start[TILE_BINS];
  return SCREE_OK;
}

static Status throw_all(Core *core, const Sizes *sizes, const TileKind *kind, Blocks *blocks) {
  SamplingPlan plan = {.seed = TILE_SEED};
  Region nothing = {.plan = &plan}; /* all cells are inside */
  Darts darts;
  Status status = darts_create(core, &nothing, sizes, blocks, kind->shrink * TILE_APART, &darts);
  if (status == SCREE_OK) {
    if (sizes->quantile) darts_throw_sizes(&darts, kind->throws);
    else darts_throw_equal(&darts);
  }
  darts_destroy(&darts);
  return status;
}

double tile_cell(const TileKind *kind, double largest) {
  /* Where it is cut, true radii count. */
  return fmax(2 * kind->shrink / sqrt(3.0), 2.01 * largest / BLOCK_CELLS);
}

static Status tile_fill(Core *core, const TileKind *kind, const Sizes *sizes, Tile *tile) {
  Blocks blocks;
  Samples samples = {0};
  TRY(blocks_create_periodic(core, tile_cell(kind, sizes->largest), sizes->quantile != NULL, &blocks));
  double period = TILE_BLOCKS * blocks.side;
  Status status = throw_all(core, sizes, kind, &blocks);
  if (status == SCREE_OK) status = blocks_collect(core, &blocks, sizes->nominal, &samples);
  blocks_destroy(core, &blocks);
  if (kind->fraction > 0) samples_thin(&samples, sizes->nominal, kind->fraction * period * period * period, TILE_SEED);
  if (status == SCREE_OK && kind->shrink < 1) status = relax_periodic(core, period, sizes, &samples);
  if (status == SCREE_OK) status = tile_store(core, &samples, period, tile);
  samples_destroy(core, &samples);
  return status;
}

static Status tile_create(Core *core, const TileKind *kind, Tile *tile) {
  Sizes sizes;
  *tile = (Tile){0};
  TRY(sizes_create(core, 1, kind->spread, kind->distribution, &sizes));
  Status status = tile_fill(core, kind, &sizes, tile);
  sizes_destroy(core, &sizes);
  if (status != SCREE_OK) tile_destroy(core, tile);
  return status;
}

void tile_destroy(Core *core, Tile *tile) {
  memory_drop(core, &tile->x);
  memory_drop(core, &tile->y);
  memory_drop(core, &tile->z);
  memory_drop(core, &tile->radius);
}

Status tiles_find(Core *core, Tiles *tiles, TileKind kind, const Tile **tile) {
  for (int64_t k = 0; k < tiles->count; k++) {
    const TileKind *made = &tiles->made[k].kind;
    if (made->spread != kind.spread || made->shrink != kind.shrink || made->throws != kind.throws) continue;
    if (made->fraction != kind.fraction) continue;
    if (made->distribution != kind.distribution && kind.spread > 0) continue;
    *tile = &tiles->made[k].tile;
    return SCREE_OK;
  }
  Tile made;
  TRY(memory_grow(core, &tiles->made, tiles->count + 1, "tiles of samples"));
  TRY(tile_create(core, &kind, &made));
  tiles->made[tiles->count] = (struct TileMade){kind, made};
  *tile = &tiles->made[tiles->count++].tile;
  return SCREE_OK;
}

void tiles_destroy(Core *core, Tiles *tiles) {
  for (int64_t k = 0; k < tiles->count; k++) tile_destroy(core, &tiles->made[k].tile);
  memory_drop(core, &tiles->made);
  tiles->count = 0;
}

/* One of the 48 ways in which a cube comes to lie on itself, then a shift by any part of the period. */
static void turn_and_move(const Tile *tile, uint64_t bits, Samples *to) {
  static const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const int *axis_of = axes[bits % 6];
  unsigned mirrored = (unsigned)(bits >> 8) & 7;
  double shift[3];
  for (int axis = 0; axis < 3; axis++) shift[axis] = TILE_BLOCKS * rng_unit(bits = rng_mix(bits));
  const float *from[3] = {tile->x, tile->y, tile->z};
  float *into[3] = {to->x, to->y, to->z};
  for (int b = 0; b < TILE_BINS; b++) {
    const int bin[3] = {b % TILE_BLOCKS, b / TILE_BLOCKS % TILE_BLOCKS, b / (TILE_BLOCKS * TILE_BLOCKS)};
    for (int32_t k = tile->start[b]; k < tile->start[b + 1]; k++)
      for (int axis = 0; axis < 3; axis++) {
        double at = bin[axis_of[axis]] + (double)from[axis_of[axis]][k];
        at = (mirrored >> axis & 1 ? TILE_BLOCKS - at : at) + shift[axis];
        into[axis][k] = (float)(at >= TILE_BLOCKS ? at - TILE_BLOCKS : at);
      }
  }
}

Status tile_place(Core *core, const Tile *tile, uint64_t seed, Tile *placed) {
  Samples moved = {.count = tile->count, .radius = tile->radius};
  *placed = (Tile){0};
  Status status = samples_new(core, tile->count, false, &moved);
  if (status == SCREE_OK) {
    turn_and_move(tile, rng_bits(seed, 0, 0, RNG_TILE), &moved);
    status = tile_store(core, &moved, TILE_BLOCKS, placed);
  }
  moved.radius = NULL; /* the tile's */
  samples_destroy(core, &moved);
  if (status != SCREE_OK) tile_destroy(core, placed);
  return status;
}
