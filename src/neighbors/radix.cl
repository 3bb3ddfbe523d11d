/* Numbers and who has them are sorted on a device, four bits a pass; those that are equal stay as they were. */
#include "neighbors/radix_shared.h"

/* Who includes it may say what numbers are. */
#ifndef RADIX_NUMBER
#define RADIX_NUMBER uint
#endif

static int digit_of(RADIX_NUMBER number, int shift) { return (int)(number >> shift & (RADIX_DIGITS - 1)); }

/* How many of each digit an item has, in own[digit * RADIX_GROUP + item]. */
static void count_digits(int count, int shift, global const RADIX_NUMBER *number, local int *own) {
  int item = (int)get_local_id(0), first = (int)get_global_id(0) * RADIX_EACH;
  for (int digit = 0; digit < RADIX_DIGITS; digit++) own[digit * RADIX_GROUP + item] = 0;
  for (int k = first; k < min(first + RADIX_EACH, count); k++) own[digit_of(number[k], shift) * RADIX_GROUP + item]++;
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* How many of each digit a block has: table[digit * blocks + block]. */
kernel void radix_digits(int count, int shift, int blocks, global const RADIX_NUMBER *number, global int *table) {
  local int own[RADIX_DIGITS * RADIX_GROUP];
  int item = (int)get_local_id(0), block = (int)get_global_id(0) / RADIX_GROUP, sum = 0;
  count_digits(count, shift, number, own);
  if (item >= RADIX_DIGITS || block >= blocks) return;
  for (int k = 0; k < RADIX_GROUP; k++) sum += own[item * RADIX_GROUP + k];
  table[item * blocks + block] = sum;
}

/* Of one digit all that come before, in their order. */
kernel void radix_scatter(int count, int shift, int blocks, global const RADIX_NUMBER *number, global const int *who,
                          global const int *table, global RADIX_NUMBER *sorted, global int *sorted_who) {
  local int own[RADIX_DIGITS * RADIX_GROUP];
  int item = (int)get_local_id(0), block = (int)get_global_id(0) / RADIX_GROUP;
  int first = (int)get_global_id(0) * RADIX_EACH;
  count_digits(count, shift, number, own);
  if (item < RADIX_DIGITS && block < blocks) {
    int before = table[item * blocks + block];
    for (int k = 0; k < RADIX_GROUP; k++) {
      int here = own[item * RADIX_GROUP + k];
      own[item * RADIX_GROUP + k] = before;
      before += here;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = first; k < min(first + RADIX_EACH, count); k++) {
    int to = own[digit_of(number[k], shift) * RADIX_GROUP + item]++;
    sorted[to] = number[k];
    sorted_who[to] = who[k];
  }
}
