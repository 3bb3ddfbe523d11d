/* Boxes round every eight points in the order in which they stand, round every eight of these boxes, and so on: a
 * search for few points that needs no cells. It is quick where points that stand near each other are near each other,
 * as they are for a while after they were sorted, and right in any case. */
#ifndef NEIGHBORS_BOXES_H
#define NEIGHBORS_BOXES_H

#include "core/simd.h"
#include "neighbors/neighbors.h"

enum { BOX_LEVELS = 10 };

typedef struct BoxTree {
  Points points;
  const float *radius; /* NULL: a reach is a length, not a factor on the sum of radii */
  float radius_most;
  int levels;
  int64_t count[BOX_LEVELS];
  float (*eight[BOX_LEVELS])[6][LANES]; /* low x, y, z, high x, y, z of eight boxes; the last may hold nothing */
} BoxTree;

/* In scratch. At least eight points, all finite. */
Status box_tree_build(Core *core, Scratch *scratch, Points points, const float *radius, BoxTree *tree);

/* Boxes [b, e) of a level from those below. */
KERNEL_DECLARE(void, boxes_fill, (const BoxTree *tree, int level, int64_t b, int64_t e));

typedef struct BoxQuery {
  float x, y, z, radius;
} BoxQuery;
/* The points within reach of one, ascending, itself included if it is among them, with room behind them for eight more.
 * Answers how many; -1 when there is not room enough, or when it would look at more than `*looks` eights of points. */
typedef int64_t BoxesRow(const BoxTree *tree, BoxQuery query, float reach, int64_t room, int64_t *looks, int32_t *out);
KERNEL_DECLARE(int64_t, boxes_row,
               (const BoxTree *tree, BoxQuery query, float reach, int64_t room, int64_t *looks, int32_t *out));

#endif
