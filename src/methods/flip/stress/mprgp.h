/* Modified proportioning with reduced gradient projections (Dostal and Schoeberl 2005): minimises x A x / 2 + b x for
 * lower <= x <= upper, A symmetric and positive semidefinite.
 *
 * As published, a step that meets a bound ends there and a short one of fixed length follows, conjugate gradients begin
 * anew, and elements leave their bounds in steps of their own. Where many bounds are met at once nearly all steps are
 * such short ones. So this begins boldly: a step goes its whole length and is projected (Kruzik, Horak, Cermak,
 * Pospisil, Pecha 2020), its direction is kept on the elements that are still free, and elements that want to leave
 * their bounds are free at once (Vollebregt 2014). It needs a third to a half of the steps, but nobody has shown that
 * it always ends: when it makes no progress the rest is done as published.
 *
 * Bounds may be equal (the element is fixed) or infinite. Vectors are floats; sums are taken in double, in an order
 * that does not depend on threads. */
#ifndef METHODS_FLIP_STRESS_MPRGP_H
#define METHODS_FLIP_STRESS_MPRGP_H

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
  /* y = A x on blocks b to e of the list, or all of it but for what `couple` adds; it may read x beside them. */
  void (*apply)(void *context, const float *x, float *y, int64_t b, int64_t e);
  /* Adds the part of A that ties far elements together to y, and returns that part of x A x; NULL: there is none. */
  double (*couple)(void *context, const float *x, float *y);
  /* An approximate inverse of A on the free elements, in two halves: to = the first of g, then to = the second of that,
   * on blocks b to e of the list. `free` has a byte per block and a bit per element, those beside the list included. It
   * must be symmetric and positive, and leaves 0 on elements that are not free. NULL: none. */
  void (*precondition)(void *context, int half, const float *from, const uint8_t *free, float *to, int64_t b,
                       int64_t e);
  void *context;
  double norm;      /* at least the largest eigenvalue of A */
  double tolerance; /* on the length of the projected gradient */
  int most;         /* steps */
  bool cautious;    /* as published from the beginning */
  /* results */
  int steps;
  double residual; /* length of the projected gradient at the end */
  double gap;      /* sum of (x - lower) |A x + b| over that of x - lower; without a lower bound of |x| instead */
  double below;    /* largest -(A x + b) where x is free to grow */
} Mprgp;

Status mprgp_solve(Mprgp *problem);

#endif
