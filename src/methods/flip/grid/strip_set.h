/* Which strips the grid has: those that sand is in or beside along x, and the eight rows round each. */
#ifndef METHODS_FLIP_GRID_STRIP_SET_H
#define METHODS_FLIP_GRID_STRIP_SET_H

#include "methods/flip/grid/grid.h"

typedef struct StripSet {
  uint64_t *keys; /* ascending, each once; the scratch's */
  int64_t count;
} StripSet;

/* `keys`, in any order and some of them several times, and those of the rows round them. The result does not depend on
 * threads. */
Status strip_set_make(Core *core, Scratch *scratch, const uint64_t *keys, int64_t count, StripSet *set);

/* How many of ascending keys are less than this one. */
static inline int64_t strip_keys_below(const uint64_t *keys, int64_t count, uint64_t key) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

#endif
