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

/* Where a cube lies for the purpose of centres. */
static Place classify(const Builder *builder, Vec3 center, double half_side, double *distance) {
  double half = half_side * sqrt(3.0), reach = half + builder->largest;
  if (builder->region->closed) {
    *distance = region_surface_distance(builder->region, center, reach);
    if (*distance <= half - builder->smallest) return PLACE_BETWEEN; /* whichever side the centre is on */
    if (region_contains(builder->region, center)) *distance = -*distance;
  } else *distance = region_distance(builder->region, center, reach).distance;
  if (*distance > half - builder->smallest) return PLACE_OUT;
  return *distance <= -reach ? PLACE_IN : PLACE_BETWEEN;
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

/* Cells with a border of one round them, so that neighbours need no test of range. */
enum { PADDED = BLOCK_CELLS + 2, PADDED_COUNT = PADDED * PADDED * PADDED };
static int padded_index(int cell) {
  return ((cell / (BLOCK_CELLS * BLOCK_CELLS) + 1) * PADDED + cell / BLOCK_CELLS % BLOCK_CELLS + 1) * PADDED +
         cell % BLOCK_CELLS + 1;
}
static int plain_index(int padded) {
  return ((padded / (PADDED * PADDED) - 1) * BLOCK_CELLS + padded / PADDED % PADDED - 1) * BLOCK_CELLS +
         padded % PADDED - 1;
}

/* Cells whose surroundings are joined to those of the first in the queue: the balls that reach up to the surface from
 * both centres meet, so no surface lies between. Fills the queue with them. */
static int join_cells(float side, const float *distance, uint8_t *seen, int16_t *queue) {
  const float lengths[4] = {0, side, side * 1.4143f, side * 1.7321f};
  int count = 1;
  for (int k = 0; k < count; k++)
    for (int dz = -1; dz <= 1; dz++)
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
          int other = queue[k] + (dz * PADDED + dy) * PADDED + dx;
          if (seen[other] || distance[queue[k]] + distance[other] <= lengths[dx * dx + dy * dy + dz * dz]) continue;
          seen[other] = 1;
          queue[count++] = (int16_t)other;
        }
  return count;
}

/* Which cells have their centre inside the region. */
static void find_signs(const Builder *builder, int64_t block, const float *distance, uint8_t *inside) {
  const Blocks *blocks = builder->blocks;
  float padded[PADDED_COUNT];
  uint8_t seen[PADDED_COUNT], within[PADDED_COUNT] = {0};
  int16_t queue[BLOCK_CELL_COUNT];
  memset(seen, 1, sizeof seen);
  for (int k = 0; k < BLOCK_CELL_COUNT; k++) padded[padded_index(k)] = distance[k], seen[padded_index(k)] = 0;
  for (int k = 0; k < BLOCK_CELL_COUNT; k++) {
    int first = padded_index(k);
    if (!seen[first]) {
      seen[first] = 1, queue[0] = (int16_t)first;
      int count = join_cells((float)blocks->cell * 1.001f, padded, seen, queue);
      /* One look at the whole mesh serves them all, where it is surest: farthest from the surface. */
      int deepest = first;
      for (int i = 0; i < count; i++)
        if (padded[queue[i]] > padded[deepest]) deepest = queue[i];
      bool is_inside = region_contains(builder->region, block_cell_center(blocks, block, plain_index(deepest)));
      for (int i = 0; i < count; i++) within[queue[i]] = is_inside;
    }
    inside[k] = within[first];
  }
}

/* All cells of a block with the triangles near it at hand. */
static void classify_near(const Builder *builder, int64_t block, const TriangleList *list) {
  Blocks *blocks = builder->blocks;
  float *distance = blocks->distance[blocks->boundary[block]], x[BLOCK_CELLS];
  double half = blocks->cell / 2 * sqrt(3.0), reach = half + builder->largest;
  for (int k = 0; k < BLOCK_CELLS; k++) x[k] = (float)((k + 0.5 - BLOCK_CELLS / 2) * blocks->cell);
  for (int k = 0; k < BLOCK_CELL_COUNT; k += BLOCK_CELLS) KERNEL_CALL(builder->core, triangles_distance_row)
  (list, x, x[k / BLOCK_CELLS % BLOCK_CELLS], x[k / (BLOCK_CELLS * BLOCK_CELLS)], (float)reach, distance + k);
  uint8_t inside[BLOCK_CELL_COUNT];
  find_signs(builder, block, distance, inside);
  for (int k = 0; k < BLOCK_CELL_COUNT; k++) {
    double signed_distance = inside[k] ? -(double)distance[k] : (double)distance[k];
    if (signed_distance <= half - builder->smallest) blocks->active[block][k / 64] |= (uint64_t)1 << (k % 64);
    distance[k] = (float)(signed_distance <= -reach * 0.9999 ? -SCREE_BIG : signed_distance);
  }
}

static void classify_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Builder *builder = context;
  Blocks *blocks = builder->blocks;
  TriangleList list;
  for (int64_t k = b; k < e; k++) {
    if (blocks->boundary[k] < 0) memset(blocks->active[k], 0xff, sizeof *blocks->active);
    else if (skin_load(&blocks->skin, builder->region, blocks->boundary[k], block_center(blocks, k), &list))
      classify_near(builder, k, &list);
    else classify_cells(builder, k, (int[3]){0, 0, 0}, BLOCK_CELLS);
  }
}

static uint64_t coordinate_key(const int32_t c[3]) {
  return (uint64_t)(c[0] & 0x1fffff) << 42 | (uint64_t)(c[1] & 0x1fffff) << 21 | (uint64_t)(c[2] & 0x1fffff);
}

typedef struct Table {
  const Blocks *blocks;
  int32_t *slots; /* block + 1 */
  uint64_t mask;
} Table;

static int32_t find(const Table *table, const int32_t c[3]) {
  for (uint64_t slot = rng_mix(coordinate_key(c)) & table->mask;; slot = (slot + 1) & table->mask) {
    int32_t k = table->slots[slot] - 1;
    if (k < 0) return -1;
    if (memcmp(table->blocks->coordinate[k], c, sizeof table->blocks->coordinate[k]) == 0) return k;
  }
}

static int64_t find_row(const void *context, const int32_t c[3]) {
  const Table *table = context;
  int32_t block = find(table, c);
  return block < 0 ? -1 : table->blocks->boundary[block];
}

static void neighbors_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Table *table = context;
  for (int64_t k = b; k < e; k++)
    for (int n = 0; n < 27; n++) {
      const int32_t *c = table->blocks->coordinate[k];
      int32_t at[3] = {c[0] + n % 3 - 1, c[1] + n / 3 % 3 - 1, c[2] + n / 9 - 1};
      table->blocks->around[k][n] = find(table, at);
    }
}

static Status table_create(Core *core, const Blocks *blocks, Table *table) {
  uint64_t slots = 64;
  while (slots < 2 * (uint64_t)blocks->count) slots *= 2;
  *table = (Table){.blocks = blocks, .mask = slots - 1};
  TRY(memory_new(core, &table->slots, (int64_t)slots, "sampling blocks"));
  for (int64_t k = 0; k < blocks->count; k++) {
    uint64_t slot = rng_mix(coordinate_key(blocks->coordinate[k])) & table->mask;
    while (table->slots[slot] != 0) slot = (slot + 1) & table->mask;
    table->slots[slot] = (int32_t)(k + 1);
  }
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
  Table table;
  TRY(table_create(core, blocks, &table));
  parallel_for(core, 0, blocks->count, 256, neighbors_body, &table);
  double margin = blocks->cell / 2 * sqrt(3.0) + builder->largest;
  Status status =
      skin_create(core, region, blocks->side, margin, builder->boundary_count, find_row, &table, &blocks->skin);
  memory_drop(core, &table.slots);
  TRY(status);
  parallel_for(core, 0, blocks->count, 8, classify_body, builder);
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
  skin_destroy(core, &blocks->skin);
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
