/* Bins, one point and one place at a time, for the CPU and for devices: bins.h says what they are. */
#ifndef NEIGHBORS_BINS_LAW_H
#define NEIGHBORS_BINS_LAW_H

#include "core/lane.h"

enum {
  BINS_REACH_BITS = 11,
  BINS_ROW_BITS = BINS_REACH_BITS + 1,
  BINS_BIN_BITS = BINS_REACH_BITS,
  BINS_RUN = 3,
  BINS_LOW_BITS = 2,
  BINS_REACH = 1 << BINS_REACH_BITS,
  BINS_BIAS = 1 << 30,
  BINS_FAR = BINS_BIAS - (1 << 16) /* units; the places around still exist as numbers */
};
enum { BINS_RANGES = 8, BINS_ROWS = 4 };

#ifdef __OPENCL_C_VERSION__
typedef ulong BinsLong;
#else
typedef unsigned long long BinsLong;
#endif

/* Where row (y, z) begins in a table of hashed bins. */
LANE_INLINE unsigned bins_hash(int y, int z) {
  BinsLong key = (BinsLong)(unsigned)y << 32 | (unsigned)z;
  return (unsigned)(((key ^ key >> 29) * 0x9e3779b97f4a7c15u) >> 32);
}

#endif
