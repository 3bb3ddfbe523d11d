/* Bins as the host hands them to kernels (bins.cl). */
#ifndef NEIGHBORS_BINS_SHARED_H
#define NEIGHBORS_BINS_SHARED_H

#include "neighbors/bins_law.h"

typedef struct BinsShared {
  int count;
  int hashed, differ;
  int low[3], size[3];
  unsigned mask;
  float far, margin;
  int limit;
} BinsShared;

/* Behind the units of a point that the bins do not hold: it is in none of them. */
enum { BINS_OUTSIDE = -1 };

/* Words that come down: the first and last unit along each axis, the first with the other sign; whether a place is not
 * finite. */
enum { BINS_BOX_LOW = 0, BINS_BOX_HIGH = 3, BINS_BOX_BAD = 6, BINS_BOX_WORDS = 8 };

#endif
