#include "sampling/blocks.h"

#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"

enum { BLOCK_COORDINATE_MAX = 1 << 19 };

typedef struct Builder {
  Core *core;
  const Region *region;
  Blocks *blocks;
  double smallest, largest;
  int64_t boundary_count;
} Builder;

typedef enum Place { PLACE_OUT, PLACE_IN, PLACE_BETWEEN } Place;

/* Where a cube lies for the purpose of centres. A distance is right to a float's rounding. */
static Place classify(const Builder *builder, Vec3 center, double half_side, double *distance) {
  double half = half_side * sqrt(3.0);
  *distance = region_distance(builder->region, center, half + builder->largest).distance;
  if (*distance > half - builder->smallest) return PLACE_OUT;
  if (region_blocked(builder->region, center, 0) && half_side == 0) return PLACE_OUT;
  return *distance < -(half + builder->largest) ? PLACE_IN : PLACE_BETWEEN;
}

static Status emit(Builder *builder, const int32_t base[3], bool inside) {
  Blocks *blocks = builder->blocks;
  int64_t k = blocks->count;
  TRY(memory_grow(builder->core, &blocks->coordinate, k + 1, "sampling blocks"));
  TRY(memory_grow(builder->core, &blocks->boundary, k + 1, "sampling blocks"));
  memcpy(blocks->coordinate[k], base, sizeof blocks->coordinate[k]);
  blocks->boundary[k] = inside ? -1 : (int32_t)builder->boundary_count++;
  blocks->count = k + 1;
  if (blocks->count == INT32_MAX) return fail(builder->core, SCREE_NO_MEMORY, "too many samples for one shape");
  return SCREE_OK;
}

/* Octree over blocks: large cubes wholly outside are dropped without looking at their blocks, and those inside need no
 * further distances. The order of the blocks follows the tree, so that neighbours are near in memory. */
static Status grow(Builder *builder, const int32_t base[3], int32_t size, bool inside) {
  const Region *region = builder->region;
  double side = builder->blocks->side;
  Vec3 low = vec3(base[0] * side, base[1] * side, base[2] * side);
  Vec3 center = vec3_add(low, vec3(size * side / 2, size * side / 2, size * side / 2));
  if (low.x > region->high.x || low.y > region->high.y || low.z > region->high.z) return SCREE_OK;
  if (low.x + size * side < region->low.x || low.y + size * side < region->low.y || low.z + size * side < region->low.z)
    return SCREE_OK;
  if (!inside) {
    double distance;
    Place place = classify(builder, center, size * side / 2, &distance);
    if (place == PLACE_OUT) return SCREE_OK;
    inside = place == PLACE_IN;
  }
  if (size == 1) return emit(builder, base, inside);
  int32_t half = size / 2;
  for (int k = 0; k < 8; k++) {
    int32_t child[3] = {base[0] + (k & 1) * half, base[1] + (k >> 1 & 1) * half, base[2] + (k >> 2) * half};
    TRY(grow(builder, child, half, inside));
  }
  return SCREE_OK;
}

/* The same octree inside one block, down to its cells. */
static void classify_cells(const Builder *builder, int64_t block, const int cell[3], int size) {
  Blocks *blocks = builder->blocks;
  float *distances = blocks->distance[blocks->boundary[block]];
  const int32_t *c = blocks->coordinate[block];
  double half = size * blocks->cell / 2;
  Vec3 center =
      vec3(c[0] * blocks->side + cell[0] * blocks->cell + half, c[1] * blocks->side + cell[1] * blocks->cell + half,
           c[2] * blocks->side + cell[2] * blocks->cell + half);
  double distance;
  Place place = classify(builder, center, half, &distance);
  if (place == PLACE_OUT) return;
  if (place == PLACE_BETWEEN && size > 1) {
    for (int k = 0; k < 8; k++) {
      int child[3] = {cell[0] + (k & 1) * size / 2, cell[1] + (k >> 1 & 1) * size / 2, cell[2] + (k >> 2) * size / 2};
      classify_cells(builder, block, child, size / 2);
    }
    return;
  }
  for (int z = cell[2]; z < cell[2] + size; z++)
    for (int y = cell[1]; y < cell[1] + size; y++)
      for (int x = cell[0]; x < cell[0] + size; x++) {
        int k = (z * BLOCK_CELLS + y) * BLOCK_CELLS + x;
        /* Wholly inside: any point of any cell is deep enough for the largest radius. */
        distances[k] = place == PLACE_IN ? -SCREE_BIG : (float)distance;
        blocks->active[block][k / 64] |= (uint64_t)1 << (k % 64);
      }
}

static void classify_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Builder *builder = context;
  for (int64_t k = b; k < e; k++) {
    if (builder->blocks->boundary[k] < 0) memset(builder->blocks->active[k], 0xff, sizeof *builder->blocks->active);
    else classify_cells(builder, k, (int[3]){0, 0, 0}, BLOCK_CELLS);
  }
}

static uint64_t coordinate_key(const int32_t c[3]) {
  return (uint64_t)(c[0] & 0x1fffff) << 42 | (uint64_t)(c[1] & 0x1fffff) << 21 | (uint64_t)(c[2] & 0x1fffff);
}

static int32_t find(const Blocks *blocks, const int32_t *table, uint64_t mask, const int32_t c[3]) {
  for (uint64_t slot = rng_mix(coordinate_key(c)) & mask;; slot = (slot + 1) & mask) {
    int32_t k = table[slot] - 1;
    if (k < 0) return -1;
    if (memcmp(blocks->coordinate[k], c, sizeof blocks->coordinate[k]) == 0) return k;
  }
}

static Status find_neighbors(Core *core, Blocks *blocks) {
  uint64_t slots = 64;
  while (slots < 2 * (uint64_t)blocks->count) slots *= 2;
  int32_t *table = NULL;
  TRY(memory_new(core, &table, (int64_t)slots, "sampling blocks"));
  for (int64_t k = 0; k < blocks->count; k++) {
    uint64_t slot = rng_mix(coordinate_key(blocks->coordinate[k])) & (slots - 1);
    while (table[slot] != 0) slot = (slot + 1) & (slots - 1);
    table[slot] = (int32_t)(k + 1);
  }
  for (int64_t k = 0; k < blocks->count; k++)
    for (int n = 0; n < 27; n++) {
      const int32_t *c = blocks->coordinate[k];
      int32_t at[3] = {c[0] + n % 3 - 1, c[1] + n / 3 % 3 - 1, c[2] + n / 9 - 1};
      blocks->around[k][n] = find(blocks, table, slots - 1, at);
    }
  memory_drop(core, &table);
  return SCREE_OK;
}

static int color_of(const int32_t c[3]) { return (c[0] & 1) | (c[1] & 1) << 1 | (c[2] & 1) << 2; }

static void sort_by_color(Blocks *blocks) {
  for (int64_t k = 0; k < blocks->count; k++) blocks->color_start[color_of(blocks->coordinate[k]) + 1]++;
  for (int c = 0; c < BLOCK_COLORS; c++) blocks->color_start[c + 1] += blocks->color_start[c];
  int64_t next[BLOCK_COLORS];
  memcpy(next, blocks->color_start, sizeof next);
  for (int64_t k = 0; k < blocks->count; k++) blocks->color_order[next[color_of(blocks->coordinate[k])]++] = (int32_t)k;
}

static Status allocate(Core *core, Blocks *blocks, int64_t boundary_count, bool radii) {
  int64_t n = blocks->count;
  TRY(memory_new(core, &blocks->around, n, "sampling blocks"));
  TRY(memory_new(core, &blocks->distance, boundary_count, "sampling blocks"));
  TRY(memory_new(core, &blocks->active, n, "sampling blocks"));
  TRY(memory_new(core, &blocks->filled, n, "sampling blocks"));
  TRY(memory_new(core, &blocks->color_order, n, "sampling blocks"));
  TRY(memory_new(core, &blocks->x, n * BLOCK_SPHERES, "sampling blocks"));
  TRY(memory_new(core, &blocks->y, n * BLOCK_SPHERES, "sampling blocks"));
  TRY(memory_new(core, &blocks->z, n * BLOCK_SPHERES, "sampling blocks"));
  if (radii) TRY(memory_new(core, &blocks->radius, n * BLOCK_SPHERES, "sampling blocks"));
  return SCREE_OK;
}

static Status build(Builder *builder) {
  Core *core = builder->core;
  const Region *region = builder->region;
  Blocks *blocks = builder->blocks;
  double widest = fmax(region->high.x, fmax(region->high.y, region->high.z));
  if (!(widest / blocks->side < BLOCK_COORDINATE_MAX))
    return fail(core, SCREE_NO_MEMORY, "the shape is %.3g m wide, too much for samples of radius %.3g m", 2 * widest,
                builder->region->plan->radius);
  int32_t size = 1;
  while (size * blocks->side < widest) size *= 2;
  for (int k = 0; k < 8; k++) {
    int32_t base[3] = {(k & 1) - 1, (k >> 1 & 1) - 1, (k >> 2) - 1};
    for (int axis = 0; axis < 3; axis++) base[axis] *= size;
    TRY(grow(builder, base, size, false));
  }
  TRY(allocate(core, blocks, builder->boundary_count, builder->largest > builder->smallest));
  parallel_for(core, 0, blocks->count, 8, classify_body, builder);
  TRY(find_neighbors(core, blocks));
  sort_by_color(blocks);
  return SCREE_OK;
}

Status blocks_create(Core *core, const Region *region, double cell, double smallest, double largest, Blocks *blocks) {
  *blocks = (Blocks){.cell = cell, .side = cell * BLOCK_CELLS};
  Builder builder = {.core = core, .region = region, .blocks = blocks, .smallest = smallest, .largest = largest};
  Status status = build(&builder);
  if (status != SCREE_OK) blocks_destroy(core, blocks);
  return status;
}

void blocks_destroy(Core *core, Blocks *blocks) {
  memory_drop(core, &blocks->coordinate);
  memory_drop(core, &blocks->around);
  memory_drop(core, &blocks->boundary);
  memory_drop(core, &blocks->distance);
  memory_drop(core, &blocks->active);
  memory_drop(core, &blocks->filled);
  memory_drop(core, &blocks->color_order);
  memory_drop(core, &blocks->x);
  memory_drop(core, &blocks->y);
  memory_drop(core, &blocks->z);
  memory_drop(core, &blocks->radius);
}

int64_t blocks_spheres(const Blocks *blocks) {
  int64_t sum = 0;
  for (int64_t k = 0; k < blocks->count; k++) sum += blocks->filled[k];
  return sum;
}
