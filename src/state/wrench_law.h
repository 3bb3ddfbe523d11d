/* Forces in 64-bit fixed point: one text for CPU and devices. */
#ifndef STATE_WRENCH_LAW_H
#define STATE_WRENCH_LAW_H

#include "core/vec_law.h"

#ifdef __OPENCL_C_VERSION__
typedef long WrenchUnits;
#else
typedef long long WrenchUnits;
#endif

/* One unit of the fixed point is 2^-30 N (about 1e-9 N); the sum holds +-8.6e9 N. What is beyond counts as an eighth of
 * that: a step that computes such a force has gone wrong, and shall say so by where things fly. */
VEC_INLINE WrenchUnits wrench_units(double part) {
  const double units = part * 1073741824.0, most = 1152921504606846976.0; /* 2^30, 2^60 */
  if (units < most && units > -most) return (WrenchUnits)units;
  return units > 0 ? (WrenchUnits)1 << 60 : -((WrenchUnits)1 << 60);
}

#endif
