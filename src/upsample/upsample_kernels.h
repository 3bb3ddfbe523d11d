/* The hot loops: which coarse grains are near, their weighted sums, and the two laws of motion. */
#ifndef UPSAMPLE_UPSAMPLE_KERNELS_H
#define UPSAMPLE_UPSAMPLE_KERNELS_H

#include "core/simd.h"

/* Grains that are worked on together. Larger: more coarse grains are near some of them but not near all. Smaller: more
 * blocks to gather for. */
enum { FINE_BLOCK = 128, FINE_GROUPS = FINE_BLOCK / LANES };

/* A slot for each cell of a cube of 4 x 4 x 4 that repeats. */
enum { STIR_SLOT_BITS = 2, STIR_SLOTS = 1 << 3 * STIR_SLOT_BITS };

/* Cells whose fine grains are counted: they wrap round, so that a stray grain costs nothing. */
typedef struct CountCells {
  float inverse; /* 1 / side */
  int32_t mask[3];
  int32_t shift[2]; /* of y and z in the index */
} CountCells;

/* A coarse grain: what a pair needs, half a cache line. */
typedef struct CoarseRow {
  float x, y, z, vx, vy, vz;
  float square; /* of the velocity */
  float unused;
} CoarseRow;

typedef struct CoarseSet {
  int64_t count;
  CoarseRow *rows;
  float *x, *y, *z; /* the same again, for the search; twice LANES more than count */
} CoarseSet;

/* Coarse grains near some fine ones. Room for all of the set and twice LANES more. */
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

/* A block of fine grains. Positions at the beginning and velocities are those of the table itself, or, where the count
 * is no multiple of the lanes, copies that are filled up with the last grain. */
typedef struct FineBlock {
  int64_t count, padded;
  float *x, *y, *z, *vx, *vy, *vz;
  float *to_x, *to_y, *to_z; /* positions at the end: in `ends`, or in place where the beginning is not needed */
  const FineBoxes *boxes;    /* at the beginning */
  const float *radius;
  const uint8_t *material;
  bool finite;    /* all of the positions at the end are */
  float farthest; /* m, no grain goes farther */
  _Alignas(64) float ends[3][FINE_BLOCK];
  /* Sums over the coarse grains. A weight is t^3, t = reach^2 - distance^2: the paper's times reach^6. */
  float sum[FINE_BLOCK], sum_x[FINE_BLOCK], sum_y[FINE_BLOCK], sum_z[FINE_BLOCK];
  float top[FINE_BLOCK];    /* largest t */
  float square[FINE_BLOCK]; /* of w v^2 */
  /* The nearest solid; a gap is infinite where none is in reach. */
  bool walled;
  float nearest_moved; /* m, the farthest that one of the solids in reach went, and the doubt about it */
  bool deep;           /* some grain is so deep in a solid that its way out is not known */
  float gap[FINE_BLOCK], nx[FINE_BLOCK], ny[FINE_BLOCK], nz[FINE_BLOCK];
  /* The law's answers. */
  float loose[FINE_BLOCK];  /* 0: goes with the coarse grains, 1: flies */
  float spread[FINE_BLOCK]; /* m/s, of the velocities of the coarse grains round it */
  float copies[6][FINE_BLOCK];
} FineBlock;

typedef struct FineLaw {
  float reach2; /* square of the reach of the weights */
  float dt;
  float gain[3]; /* g dt */
  float covered2, free2;
  float stir; /* share of the spread of coarse velocities at which fine grains leave a crowd */
  float wind[3];
  float air_drag; /* 0: no air */
  float gravity;  /* its size */
  float blow;     /* m/s^2, of the wind on a grain at rest; 0 without gravity */
  bool body_rule;
} FineLaw;

/* Where the boxes round each eight grains of a block have their middle, and half their diagonal. */
typedef struct FineGroups {
  _Alignas(32) float x[FINE_GROUPS];
  float y[FINE_GROUPS], z[FINE_GROUPS], half[FINE_GROUPS];
} FineGroups;

/* Axes of a solid: a point p of the world is turn (p + shift) in its frame. */
typedef struct FineAxes {
  bool turned;
  float turn[3][3];
  float shift[3];
} FineAxes;

/* Distances and normals of grains in a solid's frame. */
typedef struct FineAnswers {
  _Alignas(32) float x[FINE_BLOCK];
  float y[FINE_BLOCK], z[FINE_BLOCK]; /* local */
  float distance[FINE_BLOCK], nx[FINE_BLOCK], ny[FINE_BLOCK], nz[FINE_BLOCK];
} FineAnswers;

/* Lowest and highest coordinates of grains. */
KERNEL_DECLARE(void, fine_bounds, (const float *x, const float *y, const float *z, int64_t count, float bounds[6]));
/* The same, and of each eight; at most FINE_BLOCK grains. */
KERNEL_DECLARE(void, fine_boxes,
               (const float *x, const float *y, const float *z, int64_t count, FineBoxes *boxes, float bounds[6]));
/* Whether all are zero. */
KERNEL_DECLARE(bool, fine_zero, (const float *v, int64_t count));
KERNEL_DECLARE(bool, fine_equal, (const float *a, const float *b, int64_t count));
/* The cell of each grain, and its slot. Coordinates are cut off at a billion cells. At most FINE_BLOCK grains. */
KERNEL_DECLARE(void, fine_cells,
               (const CountCells *cells, const float *x, const float *y, const float *z, int64_t count,
                int32_t index[FINE_BLOCK], int32_t slot[FINE_BLOCK]));
/* The cell of each coordinate, held within half a billion. Answers whether all are within a million. */
KERNEL_DECLARE(bool, coarse_cells, (const float *x, int64_t count, double inverse, int32_t *cell));
/* Appends those of rows [b, e) that are within reach of the box (low, high). */
KERNEL_DECLARE(void, coarse_near,
               (const CoarseSet *set, int64_t b, int64_t e, const float bounds[6], float reach2, const uint64_t *pack,
                Candidates *candidates));
/* Those of `from` that are within reach of the box. */
KERNEL_DECLARE(void, candidates_narrow,
               (const Candidates *from, const float bounds[6], float reach2, const uint64_t *pack, Candidates *to));
/* Sums over the candidates. Where the nearest solid is in reach, what lies behind its plane does not count. `list` has
 * room as candidates have. Answers the effort, in pairs looked at. */
KERNEL_DECLARE(int64_t, fine_sums,
               (const CoarseSet *set, const Candidates *candidates, int32_t *list, float reach2, bool squares,
                const uint64_t *pack, FineBlock *block));
/* The same added only where the sum is not zero yet (rule true) or everywhere: samples of solids. */
KERNEL_DECLARE(void, fine_add_samples,
               (const CoarseSet *set, const Candidates *candidates, int32_t *list, float reach2, bool rule,
                const uint64_t *pack, FineBlock *block));
KERNEL_DECLARE(void, fine_move_paper, (const FineLaw *law, FineBlock *block));
KERNEL_DECLARE(void, fine_move_better, (const FineLaw *law, FineBlock *block));
/* Displaces grains against the gradient of the counts. */
KERNEL_DECLARE(void, fine_stir,
               (const CountCells *cells, const uint32_t *counts, const FineLaw *law, FineBlock *block));
KERNEL_DECLARE(void, fine_groups, (const FineBoxes *boxes, FineGroups *groups));
KERNEL_DECLARE(void, fine_to_local,
               (const FineAxes *axes, const float *x, const float *y, const float *z, int64_t count,
                FineAnswers *answers));
/* [b, e), multiples of the lanes: takes the answers, which begin at 0, where they are nearer than what was. Distances
 * beyond `known` are not taken. Answers whether some grain is deeper inside than that. */
KERNEL_DECLARE(bool, fine_nearest,
               (const FineAxes *axes, const FineAnswers *answers, float known, int64_t b, int64_t e, FineBlock *block));
/* Adds the weight of a solid at rest or one that moves by `ways` (of each grain) in the frame. */
KERNEL_DECLARE(void, fine_add_wall,
               (const FineLaw *law, const FineAnswers *answers, float known, const float *const ways[3], int64_t b,
                int64_t e, FineBlock *block));
/* Lists the grains that may come nearer to a solid than their radius: those near one have `room` less than their gap
 * says, the others at most `free`. Answers how many. */
KERNEL_DECLARE(int64_t, fine_may_touch,
               (const FineBlock *block, float room, float free, const uint64_t *pack, int32_t *list));

#endif
