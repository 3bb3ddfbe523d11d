#ifndef METHODS_FLIP_STRESS_MPRGP_KERNELS_H
#define METHODS_FLIP_STRESS_MPRGP_KERNELS_H

#include "methods/flip/grid/grid.h"

/* Elements are taken in blocks of LANES; kernels get a range of the list of blocks. */
typedef struct MprgpVectors {
  const int32_t *blocks;
  float *x, *g, *p, *q; /* q = A p */
  float *z;             /* preconditioned gradient; NULL: there is no preconditioner */
  uint8_t *free;        /* per block, a bit per element: takes part in the steps */
  const float *lower, *upper, *b;
  float step;    /* a */
  float fixed;   /* the fixed step, below 2 / |A| */
  bool cautious; /* elements at their bounds take no part, and steps end at the first bound */
} MprgpVectors;

enum { SUM_FREE, SUM_CHOPPED, SUM_REDUCED, SUM_GP, SUM_PQ, SUM_ZQ, SUM_GAP, SUM_SIZE, SUMS };

/* x into its bounds */
KERNEL_DECLARE(void, mprgp_clamp, (const MprgpVectors *v, int64_t b, int64_t e));
/* g += b */
KERNEL_DECLARE(void, mprgp_add, (const MprgpVectors *v, int64_t b, int64_t e));
/* Squares of the free and the chopped gradient and, when cautious, reduced free gradient times free gradient; fills
 * `free`. */
KERNEL_DECLARE(void, mprgp_measure, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* g p and p q; when cautious, returns the longest feasible step along -p */
KERNEL_DECLARE(float, mprgp_line, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* x = P(x - a p), g -= a q, and measures; returns whether that P moved something, which leaves g wrong */
KERNEL_DECLARE(bool, mprgp_go, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* z q */
KERNEL_DECLARE(void, mprgp_conjugate, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* p = (z or free gradient) - a p on the free elements, 0 on the others; p is not read when a is 0 */
KERNEL_DECLARE(void, mprgp_turn, (const MprgpVectors *v, int64_t b, int64_t e));
/* p = chopped gradient */
KERNEL_DECLARE(void, mprgp_chop, (const MprgpVectors *v, int64_t b, int64_t e));
/* x = P(x - a p), then x = P(x - fixed free gradient), the gradient being g - a q */
KERNEL_DECLARE(void, mprgp_expand, (const MprgpVectors *v, int64_t b, int64_t e));
/* x |g| and |x| where bounds leave a choice; returns the largest -g where x may grow */
KERNEL_DECLARE(float, mprgp_judge, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));

#endif
