/* The hot loops: which coarse grains are near, their weighted sums, and the two laws of motion. */
#ifndef UPSAMPLE_UPSAMPLE_KERNELS_H
#define UPSAMPLE_UPSAMPLE_KERNELS_H

#include "core/simd.h"

/* Grains that are worked on together. Larger: more coarse grains are near some of them but not near all. Smaller: more
 * blocks to gather for. */
enum { FINE_BLOCK = 128 };

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
  float *x, *y, *z; /* the same again, for the search; LANES more than count */
} CoarseSet;

/* Coarse grains near a block. Room for all of the set and LANES more. */
typedef struct Candidates {
  int64_t count;
  float *x, *y, *z;
  int32_t *index, *list;
} Candidates;

/* Share of the spread of coarse velocities at which fine grains leave a crowd. */
#define STIR_STRENGTH 0.5f

/* A block of fine grains. Positions at the beginning and velocities are those of the table itself, or, where the count
 * is no multiple of the lanes, copies that are filled up with the last grain. */
typedef struct FineBlock {
  int64_t count, padded;
  float *x, *y, *z, *vx, *vy, *vz;
  const float *radius;
  const uint8_t *material;
  bool finite;                         /* all of the positions at the end are */
  float farthest;                      /* m, no grain goes farther */
  _Alignas(64) float to_x[FINE_BLOCK]; /* positions at the end */
  float to_y[FINE_BLOCK], to_z[FINE_BLOCK];
  /* Sums over the coarse grains. A weight is t^3, t = reach^2 - distance^2: the paper's times reach^6. */
  float sum[FINE_BLOCK], sum_x[FINE_BLOCK], sum_y[FINE_BLOCK], sum_z[FINE_BLOCK];
  float top[FINE_BLOCK];    /* largest t */
  float square[FINE_BLOCK]; /* of w v^2 */
  /* The nearest solid. */
  bool walled;
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
  float wind[3];
  float air_drag; /* 0: no air */
  float gravity;  /* its size */
  float blow;     /* m/s^2, of the wind on a grain at rest; 0 without gravity */
  bool body_rule;
} FineLaw;

/* Lowest and highest coordinates of grains. */
KERNEL_DECLARE(void, fine_bounds, (const float *x, const float *y, const float *z, int64_t count, float bounds[6]));
/* Whether all are zero. */
KERNEL_DECLARE(bool, fine_zero, (const float *v, int64_t count));
KERNEL_DECLARE(bool, fine_equal, (const float *a, const float *b, int64_t count));
/* The cell of each grain. Coordinates are cut off at a billion cells. */
KERNEL_DECLARE(void, fine_cells,
               (const CountCells *cells, const float *x, const float *y, const float *z, int64_t count,
                int32_t *index));
/* Appends those of rows [b, e) that are within reach of the box (low, high). */
KERNEL_DECLARE(void, coarse_near,
               (const CoarseSet *set, int64_t b, int64_t e, const float bounds[6], float reach2, const uint64_t *pack,
                Candidates *candidates));
/* Sums over the candidates. With `walled` what lies behind the plane of the nearest solid does not count. Answers how
 * many pairs were looked at. */
KERNEL_DECLARE(int64_t, fine_sums,
               (const CoarseSet *set, Candidates *candidates, float reach2, bool walled, bool squares,
                const uint64_t *pack, FineBlock *block));
/* The same added only where the sum is not zero yet (rule true) or everywhere: samples of solids. */
KERNEL_DECLARE(void, fine_add_samples,
               (const CoarseSet *set, Candidates *candidates, float reach2, bool rule, const uint64_t *pack,
                FineBlock *block));
KERNEL_DECLARE(void, fine_move_paper, (const FineLaw *law, FineBlock *block));
KERNEL_DECLARE(void, fine_move_better, (const FineLaw *law, FineBlock *block));

#endif
