/* Cell grid, spatial order and neighbour lists.
 *
 * Points are float arrays. The domain is unbounded: the grid is a sorted list of strips of eight cells with a hash,
 * never a box round everything, so that a stray grain costs nothing. The order is canonical: by cell (along x, rows
 * tile by tile), then by id. It depends only on positions and ids, not on where particles were stored before nor on the
 * number of threads; a resumed run therefore continues bit for bit. At most 2^31 - 9 points; positions that are not
 * finite are refused with SCREE_FAILED. */
#ifndef NEIGHBORS_NEIGHBORS_H
#define NEIGHBORS_NEIGHBORS_H

#include "core/core.h"
#include "core/scratch.h"

typedef struct Points {
  int64_t count;
  const float *x, *y, *z;
  const uint32_t *id;
} Points;

/* Points in cell order and where each occupied cell starts. */
typedef struct CellGrid CellGrid;

Status cell_grid_create(Core *core, CellGrid **grid);
void cell_grid_destroy(Core *core, CellGrid *grid);

/* Computes the canonical order of the points: order[k] = index of the k-th point. `order` has room for count. Without
 * ids (NULL) the index takes their place. What it needs meanwhile it takes from the scratch, or, when that is NULL, has
 * memory of its own for.
 * The caller permutes its fields with it (state/) and then calls cell_grid_build on the sorted points. */
Status cell_grid_order(Core *core, CellGrid *grid, Scratch *scratch, Points points, float cell, int32_t *order);
/* Builds the cells over points that are already in canonical order for this cell size (the usual case), or over any
 * points (it then sorts an index of its own). */
Status cell_grid_build(Core *core, CellGrid *grid, Points points, float cell);

/* Cells for neighbor_list_build alone, over points in any order: cheaper to make and to search for few points, or for
 * all where the order has been lost. */
Status cell_grid_hash(Core *core, CellGrid *grid, Points points, float cell);

/* Iteration over blocks: cell c holds the points [begin, end) of the grid's order. Cells are in that order too; a
 * few of them are empty. `coordinate` may be NULL. */
int64_t cell_grid_cells(const CellGrid *grid);
void cell_grid_cell(const CellGrid *grid, int64_t cell, int64_t *begin, int64_t *end, int32_t coordinate[3]);
/* Ranges of the grid's order that the 27 cells around a cell (itself included) hold: three cells along x are one
 * range, and ranges that touch are merged; ascending, empty ones left out. Returns how many. */
enum { CELL_RANGES_MAX = 9 };
int cell_grid_around(const CellGrid *grid, const int32_t coordinate[3], int64_t ranges[CELL_RANGES_MAX][2]);
/* Ranges that the cells hold that a box (lowest corner, highest corner) touches: row by row (z, then y), so that two
 * boxes list what they share in the same order. Returns how many, or room + 1 when there are more. */
int cell_grid_box(const CellGrid *grid, const float bounds[6], int room, int64_t (*ranges)[2]);
/* Point index at position k of the grid's order (identity when the points were already sorted). */
const int32_t *cell_grid_index(const CellGrid *grid);
/* Coordinate of the cell that a point falls into. */
void cell_grid_coordinate(const CellGrid *grid, float x, float y, float z, int32_t coordinate[3]);

/* Compressed rows: the neighbours of point i are index[start[i] .. start[i+1]), ascending. */
typedef struct NeighborList {
  int64_t count; /* rows */
  int64_t entries;
  int64_t *start; /* count + 1 */
  int32_t *index;
} NeighborList;

void neighbor_list_destroy(Core *core, NeighborList *list);

/* Targets within `reach` (centre to centre) of each query; full lists (i has j and j has i), a point is not its own
 * neighbour when both sets are the same arrays. The grid was built over the targets, still where they are, with
 * cell >= reach. When radii are given (NULL otherwise) the reach of a pair is reach * (query_radius + target_radius).
 * `list` is zeroed or from an earlier build, whose memory is used again. Fastest when queries are in canonical order
 * for the grid's cell. One call at a time per grid: it keeps the buffers. */
Status neighbor_list_build(Core *core, const CellGrid *grid, Points queries, Points targets, float reach,
                           const float *query_radius, const float *target_radius, NeighborList *list);

/* All pairs, O(n m): the oracle of the tests and of tiny sets. */
Status neighbor_list_brute_force(Core *core, Points queries, Points targets, float reach, const float *query_radius,
                                 const float *target_radius, NeighborList *list);

#endif
