#include "core/simd.h"

/* Lane l of a set stands at the place that the lanes below it leave. */
#define PACK_LANE(set, l) ((uint64_t)((set) >> (l)&1) * (l) << 8 * __builtin_popcount((set) & ((1 << (l)) - 1)))
#define PACK_1(set)                                                                                                    \
  (PACK_LANE(set, 1) | PACK_LANE(set, 2) | PACK_LANE(set, 3) | PACK_LANE(set, 4) | PACK_LANE(set, 5) |                 \
   PACK_LANE(set, 6) | PACK_LANE(set, 7))
#define PACK_4(set) PACK_1(set), PACK_1((set) + 1), PACK_1((set) + 2), PACK_1((set) + 3)
#define PACK_16(set) PACK_4(set), PACK_4((set) + 4), PACK_4((set) + 8), PACK_4((set) + 12)
#define PACK_64(set) PACK_16(set), PACK_16((set) + 16), PACK_16((set) + 32), PACK_16((set) + 48)

const uint64_t pack_lanes[PACK_TABLE] = {PACK_64(0), PACK_64(64), PACK_64(128), PACK_64(192)};
