/* A sparse grid of blocks over a region, each of 8^3 cells, with the spheres placed so far.
 *
 * A block is the unit of work. Blocks of one colour (the parity of their three coordinates) are a whole block apart,
 * which is more than two spheres can reach, so they are worked on at once; the eight colours follow one another. */
#ifndef SAMPLING_BLOCKS_H
#define SAMPLING_BLOCKS_H

#include "sampling/skin.h"
#include "sampling/tile.h"

enum {
  BLOCK_CELL_COUNT = BLOCK_CELLS * BLOCK_CELLS * BLOCK_CELLS,
  BLOCK_COLORS = 8,
  BLOCK_SPHERES = 160 /* a block holds 72 of equal size when saturated; packed like cannonballs, 139 */
};

/* Without a tile every block has a row of its own. With one, blocks wholly inside that nothing blocks hold what their
 * part of the tile holds, and only the others, those at a boundary, have rows. */
typedef struct Blocks {
  int64_t count, rows;
  double side, cell;
  bool tiled;       /* filled out of a tile */
  const Tile *tile; /* before anything is filled in */
  bool periodic;    /* a tile in the making: what leaves at one side comes in at the other */
  int32_t (*coordinate)[3];
  int32_t *boundary;                   /* row of `distance`, -1 for blocks wholly inside */
  float (*distance)[BLOCK_CELL_COUNT]; /* signed, at the centres of the cells */
  /* By row: */
  int32_t (*around)[27];                     /* the block itself and its neighbours; -1 where there is none */
  uint64_t (*active)[BLOCK_CELL_COUNT / 64]; /* cells that may still take a centre */
  uint64_t (*open)[BLOCK_CELL_COUNT / 64];   /* with a tile: cells that take its spheres without a look at them */
  int32_t *filled;
  float *x, *y, *z, *radius; /* BLOCK_SPHERES a row */
  int64_t color_start[BLOCK_COLORS + 1];
  int32_t *color_order; /* blocks with rows by colour */
  Skin skin;
} Blocks;

/* Blocks where a centre may lie that is as deep as the region's inset wants. `cell` is the side of a cell; spheres lie
 * between smallest and largest in radius. */
Status blocks_create(Core *core, const Region *region, bool tiled, double cell, double smallest, double largest,
                     Blocks *blocks);
/* A cube of TILE_BLOCKS^3 blocks that repeats itself, with its lowest corner at 0. */
Status blocks_create_periodic(Core *core, double cell, bool radii, Blocks *blocks);
/* How much of the region lies within `off` of obstacles, before anything is placed; m^3. */
double blocks_obstructed(Core *core, const Blocks *blocks, const Region *region, double off);
void blocks_destroy(Core *core, Blocks *blocks);

static inline int64_t block_row(const Blocks *blocks, int64_t block) {
  return blocks->tiled ? blocks->boundary[block] : block;
}
static inline int block_bin(const Blocks *blocks, int64_t block) {
  const int32_t *c = blocks->coordinate[block];
  return tile_bin(c[0], c[1], c[2]);
}
static inline int64_t block_filled(const Blocks *blocks, int64_t block) {
  int64_t row = block_row(blocks, block);
  if (row >= 0) return blocks->filled[row];
  const int32_t *start = blocks->tile->start + block_bin(blocks, block);
  return start[1] - start[0];
}
/* Sphere k of the tile in the part of it that a block is. */
static inline void block_tile_point(const Blocks *blocks, int64_t block, int64_t k, float point[3]) {
  const Tile *tile = blocks->tile;
  int64_t at = tile->start[block_bin(blocks, block)] + k;
  tile_point(tile, at, blocks->coordinate[block], blocks->side, point);
}
/* Sphere k of a block. */
static inline void block_point(const Blocks *blocks, int64_t block, int64_t k, float point[3]) {
  int64_t row = block_row(blocks, block), at = row * BLOCK_SPHERES + k;
  if (row < 0) block_tile_point(blocks, block, k, point);
  else point[0] = blocks->x[at], point[1] = blocks->y[at], point[2] = blocks->z[at];
}
/* Its radius, where they differ. */
static inline float block_radius(const Blocks *blocks, int64_t block, int64_t k, double nominal) {
  int64_t row = block_row(blocks, block);
  if (row >= 0) return blocks->radius[row * BLOCK_SPHERES + k];
  return tile_radius(blocks->tile, blocks->tile->start[block_bin(blocks, block)] + k, nominal);
}

static inline Vec3 block_cell_center(const Blocks *blocks, int64_t block, int cell) {
  const int32_t *c = blocks->coordinate[block];
  double side = blocks->cell;
  return vec3(((double)c[0] * BLOCK_CELLS + cell % BLOCK_CELLS + 0.5) * side,
              ((double)c[1] * BLOCK_CELLS + cell / BLOCK_CELLS % BLOCK_CELLS + 0.5) * side,
              ((double)c[2] * BLOCK_CELLS + cell / (BLOCK_CELLS * BLOCK_CELLS) + 0.5) * side);
}
static inline bool block_cell_active(const Blocks *blocks, int64_t block, int cell) {
  return blocks->active[block_row(blocks, block)][cell / 64] >> (cell % 64) & 1;
}
static inline void block_cell_close(Blocks *blocks, int64_t block, int cell) {
  blocks->active[block_row(blocks, block)][cell / 64] &= ~((uint64_t)1 << (cell % 64));
}
static inline Vec3 block_center(const Blocks *blocks, int64_t block) {
  const int32_t *c = blocks->coordinate[block];
  return vec3((c[0] + 0.5) * blocks->side, (c[1] + 0.5) * blocks->side, (c[2] + 0.5) * blocks->side);
}
/* All spheres, block by block. */
Status blocks_collect(Core *core, const Blocks *blocks, double nominal, Samples *samples);
/* Those of blocks with rows alone; the blocks themselves and the tile become the samples'. */
Status blocks_hand_over(Core *core, Blocks *blocks, double nominal, Tile *tile, Samples *samples);
/* Key for random numbers. */
static inline uint64_t block_key(const Blocks *blocks, int64_t block) {
  const int32_t *c = blocks->coordinate[block];
  return (uint64_t)(c[0] & 0x1fffff) << 42 | (uint64_t)(c[1] & 0x1fffff) << 21 | (uint64_t)(c[2] & 0x1fffff);
}
#endif
