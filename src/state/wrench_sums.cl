/* Sums of 64 bits, which are two words, the lower half first, by atomics of 32 bits with a carry: they have no order. */
#ifndef STATE_WRENCH_SUMS_CL
#define STATE_WRENCH_SUMS_CL

#include "state/wrench_law.h"

static void add_long(global int *to, long value) {
  const uint low = (uint)(ulong)value, old = (uint)atomic_add(to, (int)low);
  atomic_add(to + 1, (int)((ulong)value >> 32) + (old + low < old ? 1 : 0));
}

static void add_long_here(local int *to, long value) {
  const uint low = (uint)(ulong)value, old = (uint)atomic_add(to, (int)low);
  atomic_add(to + 1, (int)((ulong)value >> 32) + (old + low < old ? 1 : 0));
}

#endif
