/* Sizes of the kernels that sort (radix.cl). */
#ifndef NEIGHBORS_RADIX_SHARED_H
#define NEIGHBORS_RADIX_SHARED_H

enum {
  RADIX_GROUP = 64,     /* work items of a group */
  RADIX_DIGIT_BITS = 4, /* bits a pass */
  RADIX_DIGITS = 1 << RADIX_DIGIT_BITS,
  RADIX_EACH = 16,                       /* numbers an item */
  RADIX_BLOCK = RADIX_GROUP * RADIX_EACH /* numbers a group */
};

#endif
