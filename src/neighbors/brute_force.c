/* All pairs: slow, short and independent of the grid, so that it can be trusted. */
#include "neighbors/neighbors.h"

static Status push(Core *core, NeighborList *list, int64_t target) {
  TRY(memory_grow(core, &list->index, list->entries + 1, "neighbour list"));
  list->index[list->entries++] = (int32_t)target;
  return SCREE_OK;
}

Status neighbor_list_brute_force(Core *core, Points queries, Points targets, float reach, const float *query_radius,
                                 const float *target_radius, NeighborList *list) {
  bool same = queries.x == targets.x && queries.y == targets.y && queries.z == targets.z;
  list->count = list->entries = 0;
  TRY(memory_grow(core, &list->start, queries.count + 1, "neighbour list"));
  TRY(memory_grow(core, &list->index, 1, "neighbour list"));
  list->start[0] = 0;
  for (int64_t i = 0; i < queries.count; i++) {
    for (int64_t j = 0; j < targets.count; j++) {
      if (same && i == j) continue;
      float limit = target_radius ? reach * (query_radius[i] + target_radius[j]) : reach;
      float dx = targets.x[j] - queries.x[i], dy = targets.y[j] - queries.y[i], dz = targets.z[j] - queries.z[i];
      if (dx * dx + dy * dy + dz * dz <= limit * limit) TRY(push(core, list, j));
    }
    list->start[i + 1] = list->entries;
  }
  list->count = queries.count;
  return SCREE_OK;
}
