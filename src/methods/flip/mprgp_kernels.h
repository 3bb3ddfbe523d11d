#ifndef METHODS_FLIP_MPRGP_KERNELS_H
#define METHODS_FLIP_MPRGP_KERNELS_H

#include "core/simd.h"

typedef struct MprgpVectors {
  float *x, *g, *p, *q; /* q = A p */
  float *z, *free;      /* preconditioned free gradient; 1 where the element is free. NULL: none */
  const float *lower, *upper;
  float step;  /* a */
  float fixed; /* the fixed step, below 2 / |A| */
} MprgpVectors;

enum { SUM_FREE, SUM_CHOPPED, SUM_REDUCED, SUM_GP, SUM_PQ, SUM_FQ, SUMS };

/* free gradient, chopped gradient, reduced free gradient times free gradient */
KERNEL_DECLARE(void, mprgp_measure, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* g p and p q; answers the longest feasible step along -p */
KERNEL_DECLARE(float, mprgp_line, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* x -= a p, g -= a q */
KERNEL_DECLARE(void, mprgp_go, (const MprgpVectors *v, int64_t b, int64_t e));
/* z q */
KERNEL_DECLARE(void, mprgp_conjugate, (const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]));
/* p = (z or free gradient) - a p */
KERNEL_DECLARE(void, mprgp_turn, (const MprgpVectors *v, int64_t b, int64_t e));
/* p = chopped gradient */
KERNEL_DECLARE(void, mprgp_chop, (const MprgpVectors *v, int64_t b, int64_t e));
/* x = P(x - fixed free gradient) */
KERNEL_DECLARE(void, mprgp_expand, (const MprgpVectors *v, int64_t b, int64_t e));
/* z = free gradient; free = 1 where free */
KERNEL_DECLARE(void, mprgp_mark, (const MprgpVectors *v, int64_t b, int64_t e));

#endif
