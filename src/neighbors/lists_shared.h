/* What the host and the kernels of neighbour lists hand each other (lists.cl). */
#ifndef NEIGHBORS_LISTS_SHARED_H
#define NEIGHBORS_LISTS_SHARED_H

#include "neighbors/cells_law.h"

typedef struct ListsShared {
  double inverse; /* of a cell's side */
  CellBox box;
  int count;
  int dense;          /* whether cells have been counted; otherwise points are sorted by the numbers of their cells */
  int radii;          /* whether reach is a factor on the sum of two radii */
  float limit;        /* m: points farther out are in the outermost cells */
  float reach, share; /* share: of the skin, in a radius */
} ListsShared;

/* Words that come down: the first and last cell along each axis, the first with the other sign; whether a place is not
 * finite. */
enum { LISTS_BOX_LOW = 0, LISTS_BOX_HIGH = 3, LISTS_BOX_BAD = 6, LISTS_BOX_WORDS = 8 };

enum { LISTS_GROUP = 64 };

#endif
