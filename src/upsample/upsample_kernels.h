/* The hot loops over blocks of fine grains, and what the stages of a block hand on to each other. */
#ifndef UPSAMPLE_UPSAMPLE_KERNELS_H
#define UPSAMPLE_UPSAMPLE_KERNELS_H

#include "core/simd.h"
#include "upsample/crowd_law.h"
#include "upsample/motion_law.h"
#include "upsample/wall_law.h"

/* Grains that are worked on together. Larger: more coarse grains are near some of them but not near all. Smaller: more
 * blocks to gather for. */
enum { FINE_BLOCK = 128, FINE_GROUPS = FINE_BLOCK / LANES };

/* A slot for each cell of a cube of 4 x 4 x 4 that repeats. */
enum { STIR_SLOT_BITS = 2, STIR_SLOTS = 1 << 3 * STIR_SLOT_BITS };

/* A coarse grain: what a pair needs, half a cache line. */
typedef struct CoarseRow {
  float x, y, z, vx, vy, vz;
  float square; /* of the velocity */
  float unused;
} CoarseRow;

typedef struct CoarseSet {
  int64_t count;
  CoarseRow *rows;
  float *x, *y, *z; /* the same again, for the search; LANES_MOST more than count */
} CoarseSet;

/* Coarse grains near some fine ones. Room for all of the set and LANES_MOST more. */
typedef struct Candidates {
  int64_t count;
  float *x, *y, *z;
  int32_t *index;
} Candidates;

/* Boxes round each eight grains of a block. */
typedef struct FineBoxes {
  _Alignas(32) float low[3][FINE_GROUPS];
  float high[3][FINE_GROUPS];
} FineBoxes;

/* A block of fine grains, from block_load to block_store (block.c). Positions at the beginning and velocities are those
 * of the table itself, or, where the count is no multiple of the lanes, copies that are filled up with the last grain.
 */
typedef struct FineBlock {
  int64_t count, padded;
  const float *x, *y, *z;
  float *vx, *vy, *vz;          /* at the beginning of the frame until fine_move_*, then at its end */
  float *end_x, *end_y, *end_z; /* positions at the end: in `ends`, or in place of x, y, z (mode paper) */
  const FineBoxes *boxes;       /* at the beginning */
  const float *radius;
  const uint8_t *material;
  _Alignas(64) float ends[3][FINE_BLOCK];
  float copies[6][FINE_BLOCK];
} FineBlock;

/* The nearest solid of each grain at the beginning of the frame. walls_before fills it; it holds until the block is
 * done with. In mode paper there is none. */
typedef struct FineWalls {
  bool any;                /* a solid is in reach of the block; else nothing below is set */
  float gap[FINE_BLOCK];   /* infinite where no solid is in reach */
  float clear[FINE_BLOCK]; /* wall_clearance; infinite where no solid is in reach */
  float nx[FINE_BLOCK], ny[FINE_BLOCK], nz[FINE_BLOCK];
} FineWalls;

/* WeightedSums (weight_law.h) of each grain. fine_sums fills it, in mode paper fine_add_samples and fine_add_wall add
 * to it; it holds until fine_move_*. */
typedef struct FineSums {
  _Alignas(64) float weight[FINE_BLOCK];
  float vx[FINE_BLOCK], vy[FINE_BLOCK], vz[FINE_BLOCK];
  float top[FINE_BLOCK], square[FINE_BLOCK];
} FineSums;

/* What the law of motion says besides velocities and positions. fine_move_* fill it; walls_after raises `farthest`.
 * Only `finite` is there in mode paper. */
typedef struct FineMotion {
  bool finite;    /* all of the positions at the end are */
  float farthest; /* m, no grain goes farther */
  _Alignas(64) float loose[FINE_BLOCK];
  float spread[FINE_BLOCK];
} FineMotion;

/* Where the boxes round each eight grains of a block have their middle, and half their diagonal. */
typedef struct FineGroups {
  _Alignas(32) float x[FINE_GROUPS];
  float y[FINE_GROUPS], z[FINE_GROUPS], half[FINE_GROUPS];
} FineGroups;

/* Grains in a solid's frame: fine_to_local fills the places, a query of the shape (walls.c) distances and normals. */
typedef struct FineDistances {
  _Alignas(32) float x[FINE_BLOCK];
  float y[FINE_BLOCK], z[FINE_BLOCK];
  float distance[FINE_BLOCK], nx[FINE_BLOCK], ny[FINE_BLOCK], nz[FINE_BLOCK];
} FineDistances;

/* Lowest and highest coordinates of grains. */
KERNEL_DECLARE(void, fine_bounds, (const float *x, const float *y, const float *z, int64_t count, float bounds[6]));
/* The same, and of each eight; at most FINE_BLOCK grains. */
KERNEL_DECLARE(void, fine_boxes,
               (const float *x, const float *y, const float *z, int64_t count, FineBoxes *boxes, float bounds[6]));
/* Whether all are zero. */
KERNEL_DECLARE(bool, fine_zero, (const float *v, int64_t count));
KERNEL_DECLARE(bool, fine_equal, (const float *a, const float *b, int64_t count));
/* The cell of each grain, -1 where it is not counted, and its slot. Coordinates are cut off at a billion cells. At most
 * FINE_BLOCK grains. */
KERNEL_DECLARE(void, fine_cells,
               (const CountCells *cells, const float *x, const float *y, const float *z, int64_t count,
                int32_t index[FINE_BLOCK], int32_t slot[FINE_BLOCK]));
/* The cell of each coordinate, held within half a billion. Returns whether all are within a million. */
KERNEL_DECLARE(bool, coarse_cells, (const float *x, int64_t count, double inverse, int32_t *cell));
/* Appends those of rows [b, e) that are within reach of the box (low, high). */
KERNEL16_DECLARE(void, coarse_near,
                 (const CoarseSet *set, int64_t b, int64_t e, const float bounds[6], float reach2,
                  Candidates *candidates));
/* Those of `from` that are within reach of the box. */
KERNEL16_DECLARE(void, candidates_narrow,
                 (const Candidates *from, const float bounds[6], float reach2, Candidates *to));
/* Sums over the candidates. Where the nearest solid is in reach, what lies behind its plane does not count. `list` has
 * room as candidates have. Returns the effort, in pairs looked at. */
KERNEL16_DECLARE(int64_t, fine_sums,
                 (const CoarseSet *set, const Candidates *candidates, int32_t *list, float reach2, bool squares,
                  const FineBlock *block, const FineWalls *walls, FineSums *sums));
/* Adds samples of solids. */
KERNEL16_DECLARE(void, fine_add_samples,
                 (const CoarseSet *set, const Candidates *candidates, int32_t *list, float reach2, bool body_rule,
                  const FineBlock *block, FineSums *sums));
KERNEL_DECLARE(void, fine_move_paper,
               (const FineParameters *parameters, const FineSums *sums, FineBlock *block, FineMotion *motion));
KERNEL_DECLARE(void, fine_move_better,
               (const FineParameters *parameters, const FineSums *sums, FineBlock *block, FineMotion *motion));
/* Displaces grains against the gradient of the counts. */
KERNEL_DECLARE(void, fine_stir,
               (const CountCells *cells, const uint32_t *counts, const FineParameters *parameters,
                const FineWalls *walls, const FineMotion *motion, FineBlock *block));
KERNEL_DECLARE(void, fine_groups, (const FineBoxes *boxes, FineGroups *groups));
KERNEL_DECLARE(void, fine_to_local,
               (const FineAxes *axes, const float *x, const float *y, const float *z, int64_t count,
                FineDistances *distances));
/* [b, e), multiples of the lanes: takes the distances, which begin at 0, where they are nearer than `reach` and than
 * what was found before. Distances beyond `known` are not taken. `lag`: see wall_clearance. */
KERNEL_DECLARE(void, fine_nearest,
               (const FineAxes *axes, const FineDistances *distances, float known, float reach, float lag, int64_t b,
                int64_t e, FineWalls *walls));
/* Adds the weight of a solid at rest (displacement NULL) or of one that moves by `displacement` of each grain in the
 * frame. */
KERNEL_DECLARE(void, fine_add_wall,
               (const FineParameters *parameters, const FineDistances *distances, float known,
                const float *const displacement[3], int64_t b, int64_t e, FineSums *sums));
/* Lists the grains that may come nearer to a solid than their radius; `most`: the clearance of those that none is in
 * reach of. Returns how many. */
KERNEL_DECLARE(int64_t, fine_may_touch, (const FineBlock *block, const FineWalls *walls, float most, int32_t *list));

#endif
