/* Four doubles abreast, for loops of kernels over samples of bodies: see simd.h. */
#ifndef CORE_FOUR_H
#define CORE_FOUR_H

#include "core/simd.h"

enum { FOUR = 4 };
typedef double Four __attribute__((vector_size(32)));
typedef int64_t FourInt __attribute__((vector_size(32)));

WIDE_INLINE Four four_load(const float *p) { return (Four){(double)p[0], (double)p[1], (double)p[2], (double)p[3]}; }
/* a where it is larger, b otherwise. */
WIDE_INLINE Four four_max(Four a, Four b) {
  FourInt larger = (FourInt)(a > b);
  return (Four)((larger & (FourInt)a) | (~larger & (FourInt)b));
}
WIDE_INLINE double four_sum(Four a) { return (a[0] + a[1]) + (a[2] + a[3]); }

#endif
