/* Numbers on a device become sums of those before them, in place: blocks, the blocks' sums, and both together. Sums of
 * whole numbers have no order. */
#include "neighbors/scan_shared.h"

kernel void scan_blocks(global int *values, int count, global int *sums) {
  local int part[SCAN_GROUP];
  int item = (int)get_local_id(0), first = (int)get_global_id(0) * SCAN_EACH, sum = 0, own[SCAN_EACH];
  for (int k = 0; k < SCAN_EACH; k++) {
    own[k] = sum;
    sum += first + k < count ? values[first + k] : 0;
  }
  part[item] = sum;
  for (int step = 1; step < SCAN_GROUP; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int more = item >= step ? part[item - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    part[item] += more;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int before = part[item] - sum;
  for (int k = 0; k < SCAN_EACH; k++)
    if (first + k < count) values[first + k] = before + own[k];
  if (item == SCAN_GROUP - 1) sums[get_global_id(0) / SCAN_GROUP] = part[item];
}

/* What the blocks before each have, and all of them behind the last: one group for all, with 64 bits. */
kernel void scan_sums(global const int *sums, int count, global long *before) {
  local long part[SCAN_GROUP];
  int item = (int)get_local_id(0);
  long all = 0;
  for (int begin = 0; begin < count; begin += SCAN_GROUP) {
    long own = begin + item < count ? sums[begin + item] : 0;
    part[item] = own;
    for (int step = 1; step < SCAN_GROUP; step *= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      long more = item >= step ? part[item - step] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      part[item] += more;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (begin + item < count) before[begin + item] = all + part[item] - own;
    all += part[SCAN_GROUP - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) before[count] = all;
}

/* `added`: whether sums of the blocks before are known; where there are few, they are added up here. */
kernel void scan_add(global int *values, int count, global const int *sums, global const long *before, int added) {
  int i = (int)get_global_id(0), block = i / SCAN_BLOCK, more = 0;
  if (i >= count) return;
  if (added) more = (int)before[block];
  else
    for (int k = 0; k < block; k++) more += sums[k];
  values[i] += more;
}

/* The same with 64 bits, into numbers of their own; one more than these, which is the total. */
kernel void scan_starts(global const int *values, int count, int blocks, global const long *before,
                        global long *starts) {
  int i = (int)get_global_id(0);
  if (i < count) starts[i] = before[i / SCAN_BLOCK] + values[i];
  if (i == count) starts[i] = before[blocks];
}
