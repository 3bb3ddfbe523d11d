/* Bodies whose samples are pushed one by one and brought back into shape: see PositionBody. One text for CPU and
 * devices. */
#ifndef METHODS_COMMON_POSITION_MATCH_SHARED_H
#define METHODS_COMMON_POSITION_MATCH_SHARED_H

#include "state/wrench_law.h"

/* What a contact pushes a sample of a matched body with, kg m: the push and its moments p a^T about the samples'
 * centre, in the fixed point of forces, so that sums of them have no order. */
enum { MATCH_SUMS = 12 };
VEC_INLINE void boundary_match(Vec3 push, Vec3 arm, double per_square, WrenchUnits to[MATCH_SUMS]) {
  const double parts[3] = {push.x, push.y, push.z}, from[3] = {arm.x, arm.y, arm.z};
  for (int r = 0; r < 3; r++) {
    to[r] = wrench_units(parts[r] * per_square);
    for (int c = 0; c < 3; c++) to[3 + 3 * r + c] = wrench_units(parts[r] * from[c] * per_square);
  }
}

#endif
