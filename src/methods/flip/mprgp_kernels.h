#ifndef METHODS_FLIP_MPRGP_KERNELS_H
#define METHODS_FLIP_MPRGP_KERNELS_H

#include "core/simd.h"

/* Elements are taken in blocks of LANES; kernels get a range of the list of blocks. */
typedef struct MprgpVectors {
  const int32_t *blocks;
  float *x, *g, *p, *q; /* q = A p */
  float *r, *free;      /* free gradient; 1 where the element is free. NULL: there is no preconditioner */
  float *z;             /* preconditioned r; NULL: r itself is meant */
  const float *lower, *upper, *b;
  float step;  /* a */
  float fixed; /* the fixed step, below 2 / |A| */
} MprgpVectors;

enum { SUM_FREE, SUM_CHOPPED, SUM_REDUCED, SUM_GP, SUM_PQ, SUM_FQ, SUM_GAP, SUM_SIZE, SUMS };

/* x into its bounds */
KERNEL_DECLARE(void, mprgp_clamp, (const MprgpVectors *v, int64_t b, int64_t e));
/* g += b, and measures: squares of the free and the chopped gradient, reduced free gradient times free gradient; fills
 * r and free. */
KERNEL_DECLARE(void, mprgp_gradient, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* g p and p q; answers the longest feasible step along -p */
KERNEL_DECLARE(float, mprgp_line, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* x -= a p, g -= a q, and measures */
KERNEL_DECLARE(void, mprgp_go, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* z q */
KERNEL_DECLARE(void, mprgp_conjugate, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* p = (z or free gradient) - a p; p is not read when a is 0 */
KERNEL_DECLARE(void, mprgp_turn, (const MprgpVectors *v, int64_t b, int64_t e));
/* p = chopped gradient */
KERNEL_DECLARE(void, mprgp_chop, (const MprgpVectors *v, int64_t b, int64_t e));
/* x = P(x - a p), then x = P(x - fixed free gradient), the gradient being g - a q */
KERNEL_DECLARE(void, mprgp_expand, (const MprgpVectors *v, int64_t b, int64_t e));
/* x |g| and |x| where bounds leave a choice; answers the largest -g where x may grow */
KERNEL_DECLARE(float, mprgp_judge, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));

#endif
