/* Triangles of a mesh near the blocks of its distance grid: who asks about a place looks at those of its block. */
#ifndef GEOMETRY_BLOCK_LISTS_H
#define GEOMETRY_BLOCK_LISTS_H

#include "core/core.h"

struct Shape;

typedef struct BlockLists {
  /* Per block with nodes: grid_block_list, a list of triangles, which is list[begin[k]] to list[begin[k + 1] - 1], as
   * places in the tree; or what the block has instead. */
  int32_t *block, *begin, *list;
  int64_t block_count, list_count, entries;
} BlockLists;

/* What a block with these triangles near it has instead of a list; GRID_BLOCK_LISTED: nothing. */
typedef int32_t (*BlockInstead)(const struct Shape *shape, const int32_t *places, int count);

/* For spheres of a reach up to `reach`; `begin` stays NULL where there are too many triangles to list. A block has
 * GRID_BLOCK_FACELESS where none is near or too many are. */
Status block_lists_make(Core *core, const struct Shape *shape, double reach, BlockInstead instead, BlockLists *lists);
void block_lists_drop(Core *core, BlockLists *lists);

#endif
