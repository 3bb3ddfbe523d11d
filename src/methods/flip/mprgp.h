/* Modified proportioning with reduced gradient projections (Dostal and Schoeberl 2005): minimises x A x / 2 + b x for
 * lower <= x <= upper, A symmetric and positive semidefinite.
 *
 * Bounds may be equal (the element is fixed) or infinite. Vectors are floats; sums are taken in double, in an order
 * that does not depend on threads. */
#ifndef METHODS_FLIP_MPRGP_H
#define METHODS_FLIP_MPRGP_H

#include "core/core.h"
#include "core/scratch.h"

typedef struct Mprgp {
  Core *core;
  Scratch *scratch;
  int64_t count;         /* a multiple of LANES */
  const int32_t *blocks; /* of LANES elements: those that are unknown; the rest of x is 0 and not looked at */
  int64_t block_count;
  float *x; /* start and result */
  const float *lower, *upper;
  const float *b;
  void (*apply)(void *context, const float *x, float *y); /* y = A x */
  /* z = an approximate inverse of A, on the elements with free > 0 only; NULL: none. It must be symmetric and positive
   * there, and leaves z = 0 elsewhere. */
  void (*precondition)(void *context, const float *r, const float *free, float *z);
  void *context;
  double norm;      /* at least the largest eigenvalue of A */
  double tolerance; /* on the length of the projected gradient */
  int most;         /* steps */
  /* results */
  int steps;
  double residual; /* length of the projected gradient at the end */
  double gap;      /* sum of x |A x + b| over that of |x| */
  double below;    /* largest -(A x + b) where x is free to grow */
} Mprgp;

Status mprgp_solve(Mprgp *problem);

#endif
