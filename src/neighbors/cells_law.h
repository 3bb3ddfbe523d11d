/* Cells and their canonical order (grid.h), one cell at a time, for the CPU and for devices. */
#ifndef NEIGHBORS_CELLS_LAW_H
#define NEIGHBORS_CELLS_LAW_H

#include "core/lane.h"

enum {
  COORDINATE_BITS = 21,
  COORDINATE_BIAS = 1 << (COORDINATE_BITS - 1),
  /* Farther cells are folded into the outermost one. That is still right: folding brings no two cells further apart.
   * Less than the bits allow, so that the cells around (and a rounded limit) always exist as numbers. */
  COORDINATE_LIMIT = COORDINATE_BIAS - 4,
  TILE_BITS = 3,
  TILE = 1 << TILE_BITS
};

#ifdef __OPENCL_C_VERSION__
typedef ulong CellNumber;
#else
typedef unsigned long long CellNumber;
#endif

/* A box of cells, tiles of rows whole. */
typedef struct CellBox {
  int low_x, size_x;
  int low_tile_y, low_tile_z, tiles_y, tiles_z;
} CellBox;

LANE_INLINE int cell_tile(int y) { return (y + COORDINATE_BIAS) >> TILE_BITS; }

/* Number of a cell inside the box, in canonical order. */
LANE_INLINE CellNumber cell_number(CellBox box, int x, int y, int z) {
  CellNumber tile = (CellNumber)(cell_tile(z) - box.low_tile_z) * (CellNumber)box.tiles_y +
                    (CellNumber)(cell_tile(y) - box.low_tile_y);
  CellNumber row = tile << 2 * TILE_BITS | (CellNumber)((z + COORDINATE_BIAS) & (TILE - 1)) << TILE_BITS |
                   (CellNumber)((y + COORDINATE_BIAS) & (TILE - 1));
  return row * (CellNumber)box.size_x + (CellNumber)(x - box.low_x);
}

#endif
