#include "geometry/block_lists.h"

#include "core/parallel.h"
#include "geometry/bvh_nodes.h"
#include "geometry/distance_grid.h"

enum { LISTED_MOST = 2048, BLOCKS_CHUNK = 64 };

typedef struct ListTask {
  const Shape *shape;
  BlockLists *lists;
  BlockInstead instead;
  int32_t *place; /* of each block with nodes: where it is in the grid's table */
  int32_t *many;  /* triangles that its list has; 0: none */
  double reach;   /* of a sphere in a block that a triangle may matter to, from the block's middle */
} ListTask;

static Vec3 block_middle(const DistanceGrid *grid, int32_t place) {
  const int32_t row = place / grid->blocks[0];
  const double side = GRID_BLOCK * (double)grid->cell;
  const Vec3 at = vec3(place % grid->blocks[0] + 0.5, row % grid->blocks[1] + 0.5, row / grid->blocks[1] + 0.5);
  return vec3_madd(grid->low, at, side);
}

/* A node of the grid is in the middle of each block, and knows how far the mesh is. */
static bool is_far(const ListTask *task, int64_t block) {
  enum { MIDDLE = GRID_NODES / 2 };
  const double distance = (double)task->shape->grid->values[block * GRID_NODES + MIDDLE];
  return fabs(distance) > 1.0001 * task->reach;
}

/* Who is near the block: how many triangles its list has, or what it has instead. */
static void look_at_blocks(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ListTask *task = context;
  const Shape *shape = task->shape;
  for (int64_t k = b; k < e; k++) {
    int32_t places[LISTED_MOST], *block = &task->lists->block[k];
    task->many[k] = 0;
    *block = GRID_BLOCK_FACELESS;
    if (is_far(task, k)) continue;
    const Vec3 middle = block_middle(shape->grid, task->place[k]);
    const int64_t count = bvh_near(shape->bvh, middle, task->reach, LISTED_MOST, places);
    if (count < 1 || count > LISTED_MOST) continue;
    if (task->instead) *block = task->instead(shape, places, (int)count);
    if (!task->instead || *block == GRID_BLOCK_LISTED) task->many[k] = (int32_t)count;
  }
}

static void list_blocks(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ListTask *task = context;
  const BlockLists *lists = task->lists;
  for (int64_t k = b; k < e; k++)
    if (task->many[k] > 0)
      bvh_near(task->shape->bvh, block_middle(task->shape->grid, task->place[k]), task->reach, task->many[k],
               lists->list + lists->begin[grid_block_list(lists->block[k])]);
}

/* Lists one behind the other. */
static Status number_lists(Core *core, ListTask *task) {
  BlockLists *lists = task->lists;
  int64_t count = 0, entries = 0;
  for (int64_t k = 0; k < lists->block_count; k++) count += task->many[k] > 0, entries += task->many[k];
  if (entries > INT32_MAX || entries * 4 > memory_left(&core->memory) / 8) {
    log_line(core, SCREE_LOG_INFO, "the faces of a mesh are too fine to be listed: %lld entries", (long long)entries);
    return SCREE_OK;
  }
  TRY(memory_new(core, &lists->begin, count + 1, "mesh faces"));
  TRY(memory_new(core, &lists->list, entries + 1, "mesh faces"));
  lists->list_count = count;
  lists->entries = entries;
  count = entries = 0;
  for (int64_t k = 0; k < lists->block_count; k++) {
    if (task->many[k] == 0) continue;
    lists->block[k] = grid_block_list((int32_t)count); /* which is its own inverse */
    lists->begin[count++] = (int32_t)entries;
    entries += task->many[k];
  }
  lists->begin[count] = (int32_t)entries;
  parallel_for(core, 0, lists->block_count, BLOCKS_CHUNK, list_blocks, task);
  return SCREE_OK;
}

static Status make_lists(Core *core, ListTask *task) {
  const DistanceGrid *grid = task->shape->grid;
  BlockLists *lists = task->lists;
  const int64_t blocks = (int64_t)grid->blocks[0] * grid->blocks[1] * grid->blocks[2];
  TRY(memory_new(core, &task->place, grid->block_count, "mesh faces"));
  TRY(memory_new(core, &task->many, grid->block_count, "mesh faces"));
  TRY(memory_new(core, &lists->block, grid->block_count, "mesh faces"));
  lists->block_count = grid->block_count;
  for (int64_t k = 0; k < blocks; k++)
    if (grid->table[k] >= 0) task->place[grid->table[k] / GRID_NODES] = (int32_t)k;
  parallel_for(core, 0, grid->block_count, BLOCKS_CHUNK, look_at_blocks, task);
  return number_lists(core, task);
}

Status block_lists_make(Core *core, const Shape *shape, double reach, BlockInstead instead, BlockLists *lists) {
  const double half = 0.5 * sqrt(3) * GRID_BLOCK * (double)shape->grid->cell;
  ListTask task = {.shape = shape, .lists = lists, .instead = instead, .reach = reach + half};
  Status status = make_lists(core, &task);
  memory_drop(core, &task.place);
  memory_drop(core, &task.many);
  return status;
}

void block_lists_drop(Core *core, BlockLists *lists) {
  memory_drop(core, &lists->block);
  memory_drop(core, &lists->begin);
  memory_drop(core, &lists->list);
  *lists = (BlockLists){.block = NULL};
}
