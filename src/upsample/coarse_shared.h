/* What the host hands to the kernels of coarse grains (coarse.cl). */
#ifndef UPSAMPLE_COARSE_SHARED_H
#define UPSAMPLE_COARSE_SHARED_H

#include "upsample/coarse_law.h"

enum { COARSE_GROUP = 128 }; /* work items of a group */

typedef struct CoarseShared {
  CoarseTable table;
  CoarseRate rate;
  int paper; /* where they are and how fast, at the end of the frame */
} CoarseShared;

/* Words of a box, which begins as zero: what float_key makes of the highest places, and its complement of the lowest.
 */
enum { COARSE_BOX_LOW = 0, COARSE_BOX_HIGH = 3, COARSE_BOX_WORDS = 6 };

/* Of the bits of a float: a number that is larger where the float is; and back. */
static inline unsigned float_key(unsigned bits) { return bits & 0x80000000u ? ~bits : bits | 0x80000000u; }
static inline unsigned float_key_bits(unsigned key) { return key & 0x80000000u ? key & 0x7fffffffu : ~key; }

#endif
