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

#ifdef __wasm_simd128__
#define BYTE(set, k) (uint8_t)(4 * (PACK_1(set) >> 8 * ((k) / 4) & 7) + (k) % 4)
#define BYTES_4(set, k) BYTE(set, k), BYTE(set, (k) + 1), BYTE(set, (k) + 2), BYTE(set, (k) + 3)
#define BYTES(set)                                                                                                     \
  { BYTES_4(set, 0), BYTES_4(set, 4), BYTES_4(set, 8), BYTES_4(set, 12) }
const uint8_t wasm_pack_bytes[16][16] = {BYTES(0),  BYTES(1),  BYTES(2),  BYTES(3), BYTES(4),  BYTES(5),
                                         BYTES(6),  BYTES(7),  BYTES(8),  BYTES(9), BYTES(10), BYTES(11),
                                         BYTES(12), BYTES(13), BYTES(14), BYTES(15)};
#endif
