/* Where spheres of a tile are in a fill, and how large: one text for the CPU and for devices that have doubles. */
#ifndef SAMPLING_TILE_SHARED_H
#define SAMPLING_TILE_SHARED_H

enum { TILE_BLOCKS = 4, TILE_BINS = TILE_BLOCKS * TILE_BLOCKS * TILE_BLOCKS };

/* Which bin of the tile a block is, by its coordinates. */
static inline int tile_bin(int x, int y, int z) {
  return (int)((((unsigned)z % TILE_BLOCKS) * TILE_BLOCKS + (unsigned)y % TILE_BLOCKS) * TILE_BLOCKS +
               (unsigned)x % TILE_BLOCKS);
}

/* On one axis: `within` a block, whose side is given. */
static inline float tile_coordinate(int block, float within, double side) {
  return (float)((block + (double)within) * side);
}

static inline float tile_scaled(float radius, double nominal) { return (float)((double)radius * nominal); }

#endif
