#include "neighbors/boxes.h"

#include <math.h>

#include "core/parallel.h"

enum { BOXES_CHUNK = 128 };

typedef struct Filling {
  const Core *core;
  const BoxTree *tree;
  int level;
} Filling;

static void fill_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Filling *filling = context;
  KERNEL_CALL(filling->core, boxes_fill)(filling->tree, filling->level, b, e);
}

static float largest(const float *values, int64_t count) {
  float most = 0;
  for (int64_t i = 0; i < count; i++) most = values[i] > most ? values[i] : most;
  return most;
}

Status box_tree_build(Core *core, Scratch *scratch, Points points, const float *radius, BoxTree *tree) {
  *tree = (BoxTree){.points = points, .radius = radius};
  if (radius) tree->radius_most = largest(radius, points.count);
  for (int64_t below = points.count; tree->levels == 0 || below > LANES; tree->levels++) {
    int level = tree->levels;
    int64_t count = tree->count[level] = (below + LANES - 1) / LANES, eights = (count + LANES - 1) / LANES;
    TRY(scratch_take(core, scratch, &tree->eight[level], eights, "boxes"));
    for (int side = 0; side < 6; side++)
      for (int lane = 0; lane < LANES; lane++)
        tree->eight[level][eights - 1][side][lane] = side < 3 ? INFINITY : -INFINITY;
    below = count;
  }
  for (int level = 0; level < tree->levels; level++) {
    Filling filling = {core, tree, level};
    parallel_for(core, 0, tree->count[level], BOXES_CHUNK, fill_chunk, &filling);
  }
  return SCREE_OK;
}
