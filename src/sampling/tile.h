/* A cube of spheres that can be put next to itself without end. Where a fill holds many more spheres than the cube,
 * they are cut out of a space full of copies of it: only at the boundary is anything to be found out about them.
 *
 * The spheres are made once for a distribution of radii, by the same throws, and for dense starts by the same pushing
 * apart, as those of a fill without a tile. A seed turns the cube and moves it. */
#ifndef SAMPLING_TILE_H
#define SAMPLING_TILE_H

#include "sampling/sampling.h"
#include "sampling/sizes.h"
#include "sampling/tile_shared.h"

enum { BLOCK_CELLS = 8 };

/* Spheres of a tile keep apart by this much more than they have to, so that rounding where a fill is wide cannot push
 * one into another: TILE_WIDEST radii from the middle of a fill a float is off by less. */
#define TILE_APART 1.0002
#define TILE_WIDEST 1500.0

typedef struct Tile {
  int64_t count;
  float *x, *y, *z; /* within their bin, in sides of a bin */
  float *radius;    /* over the nominal one; NULL when all are equal */
  int32_t start[TILE_BINS + 1];
} Tile;

typedef struct TileKind {
  double spread;
  int distribution;
  double shrink;   /* thrown as if radii were this share of what they are, and pushed apart; 1: only thrown */
  double throws;   /* as in darts_throw_sizes */
  double fraction; /* solid; 0: what comes of the throws */
} TileKind;
/* Tiles that several fills share; zeroed at the beginning. */
typedef struct Tiles {
  int64_t count;
  struct TileMade {
    TileKind kind;
    Tile tile;
  } * made;
} Tiles;

/* Side of a cell of the blocks that a tile of a kind is made and cut in, over the nominal radius. */
double tile_cell(const TileKind *kind, double largest);
/* The tile of a kind, made if there is none yet; it holds until the next call. */
Status tiles_find(Core *core, Tiles *tiles, TileKind kind, const Tile **tile);
void tiles_destroy(Core *core, Tiles *tiles);

/* The tile turned and moved as a seed says. */
Status tile_place(Core *core, const Tile *tile, uint64_t seed, Tile *placed);
void tile_destroy(Core *core, Tile *tile);

static inline float tile_radius(const Tile *tile, int64_t k, double nominal) {
  return tile->radius ? tile_scaled(tile->radius[k], nominal) : (float)nominal;
}
/* Sphere `at` of the tile in a block with these coordinates. */
static inline void tile_point(const Tile *tile, int64_t at, const int32_t block[3], double side, float point[3]) {
  point[0] = tile_coordinate(block[0], tile->x[at], side);
  point[1] = tile_coordinate(block[1], tile->y[at], side);
  point[2] = tile_coordinate(block[2], tile->z[at], side);
}

#endif
