/* Lists of strips that a solve runs over. */
#ifndef METHODS_FLIP_GRID_STRIP_LIST_H
#define METHODS_FLIP_GRID_STRIP_LIST_H

#include "methods/flip/grid/grid.h"

enum { STRIP_CHUNK = 64 };

typedef struct StripList {
  int32_t *strips;
  int64_t count;
} StripList;

/* Strips with a bit in `lanes`, a byte per strip; with `round` also those within one cell of one. From scratch. */
Status grid_list_strips(Core *core, Scratch *scratch, const FlipGrid *grid, const uint8_t *lanes, bool round,
                        StripList *list);

#endif
