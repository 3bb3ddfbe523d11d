/* A sparse grid of blocks over a region, each of 8^3 cells, with the spheres placed so far.
 *
 * A block is the unit of work. Blocks of one colour (the parity of their three coordinates) are a whole block apart,
 * which is more than two spheres can reach, so they are worked on at once; the eight colours follow one another. */
#ifndef SAMPLING_BLOCKS_H
#define SAMPLING_BLOCKS_H

#include "sampling/skin.h"

enum {
  BLOCK_CELLS = 8, /* along a side */
  BLOCK_CELL_COUNT = BLOCK_CELLS * BLOCK_CELLS * BLOCK_CELLS,
  BLOCK_COLORS = 8,
  BLOCK_SPHERES = 160 /* a block holds 72 of equal size when saturated; packed like cannonballs, 139 */
};

typedef struct Blocks {
  int64_t count;
  double side, cell;
  int32_t (*coordinate)[3];
  int32_t (*around)[27];                     /* the block itself and its neighbours; -1 where there is none */
  int32_t *boundary;                         /* row of `distance`, -1 for blocks wholly inside */
  float (*distance)[BLOCK_CELL_COUNT];       /* signed, at the centres of the cells */
  uint64_t (*active)[BLOCK_CELL_COUNT / 64]; /* cells that may still take a centre */
  int32_t *filled;
  float *x, *y, *z, *radius; /* BLOCK_SPHERES a block */
  int64_t color_start[BLOCK_COLORS + 1];
  int32_t *color_order; /* blocks by colour */
  Skin skin;
} Blocks;

/* Blocks where a centre at least `smallest` inside may lie. `cell` is the side of a cell; spheres lie between smallest
 * and largest in radius. */
Status blocks_create(Core *core, const Region *region, double cell, double smallest, double largest, Blocks *blocks);
void blocks_destroy(Core *core, Blocks *blocks);

static inline Vec3 block_cell_center(const Blocks *blocks, int64_t block, int cell) {
  const int32_t *c = blocks->coordinate[block];
  double side = blocks->cell;
  return vec3(((double)c[0] * BLOCK_CELLS + cell % BLOCK_CELLS + 0.5) * side,
              ((double)c[1] * BLOCK_CELLS + cell / BLOCK_CELLS % BLOCK_CELLS + 0.5) * side,
              ((double)c[2] * BLOCK_CELLS + cell / (BLOCK_CELLS * BLOCK_CELLS) + 0.5) * side);
}
static inline bool block_cell_active(const Blocks *blocks, int64_t block, int cell) {
  return blocks->active[block][cell / 64] >> (cell % 64) & 1;
}
static inline void block_cell_close(Blocks *blocks, int64_t block, int cell) {
  blocks->active[block][cell / 64] &= ~((uint64_t)1 << (cell % 64));
}
static inline Vec3 block_center(const Blocks *blocks, int64_t block) {
  const int32_t *c = blocks->coordinate[block];
  return vec3((c[0] + 0.5) * blocks->side, (c[1] + 0.5) * blocks->side, (c[2] + 0.5) * blocks->side);
}
/* Key for random numbers. */
static inline uint64_t block_key(const Blocks *blocks, int64_t block) {
  const int32_t *c = blocks->coordinate[block];
  return (uint64_t)(c[0] & 0x1fffff) << 42 | (uint64_t)(c[1] & 0x1fffff) << 21 | (uint64_t)(c[2] & 0x1fffff);
}
int64_t blocks_spheres(const Blocks *blocks);

#endif
