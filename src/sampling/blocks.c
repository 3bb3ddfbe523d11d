#include "sampling/blocks.h"

#include <stdatomic.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "geometry/sides.h"

enum {
  BLOCK_COORDINATE_MAX = 1 << 19,
  PART_CUBES = 8 /* cubes along an axis of each octant of a region that grow by themselves */
};

typedef struct Builder {
  Core *core;
  const Region *region;
  Blocks *blocks;
  double smallest, largest; /* depth of centres */
  double radius;            /* the largest */
  int64_t boundary_count;
} Builder;

/* Cubes of blocks that the octree comes to, in its order. */
typedef struct Cube {
  int32_t base[3], size;
  bool inside, clear;
} Cube;

typedef struct Cubes {
  int64_t count, room;
  int32_t least; /* size at which the octree stops before it looks at a cube; 1: blocks that it has looked at */
  Cube *cubes;
} Cubes;

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

/* Parts of the tree grow on several threads, of which none may describe an error. */
static bool emit(const Builder *builder, Cube cube, Cubes *to) {
  if (to->count == to->room) {
    Memory *memory = &builder->core->memory;
    int64_t room = 2 * to->room + 64;
    Cube *larger = memory_get(memory, room, sizeof *larger, "sampling blocks");
    if (!larger) return false;
    if (to->count > 0) memcpy(larger, to->cubes, sizeof *larger * (size_t)to->count);
    memory_free(memory, to->cubes);
    to->cubes = larger, to->room = room;
  }
  to->cubes[to->count++] = cube;
  return true;
}

/* Whether spheres in a cube may be where they must not. A sphere somewhere in it lies in the large one round it. */
static bool may_be_blocked(const Builder *builder, Vec3 center, double half_side) {
  return region_blocked(builder->region, center, half_side * sqrt(3.0) + builder->radius);
}

/* Octree over blocks: large cubes wholly outside are dropped without looking at their blocks, and those inside need no
 * further distances. The order of the blocks follows the tree, so that neighbours are near in memory. `clear`: inside,
 * and with a tile nothing is in the way. */
static bool grow(const Builder *builder, Cube cube, Cubes *to) {
  const Region *region = builder->region;
  double side = builder->blocks->side;
  int32_t size = cube.size, half = size / 2;
  Vec3 low = vec3(cube.base[0] * side, cube.base[1] * side, cube.base[2] * side);
  Vec3 center = vec3_add(low, vec3(size * side / 2, size * side / 2, size * side / 2));
  if (low.x > region->high.x || low.y > region->high.y || low.z > region->high.z) return true;
  if (low.x + size * side < region->low.x || low.y + size * side < region->low.y || low.z + size * side < region->low.z)
    return true;
  if (size == to->least && size > 1) return emit(builder, cube, to);
  if (!cube.inside) {
    double distance;
    Place place = classify(builder, center, size * side / 2, &distance);
    if (place == PLACE_OUT) return true;
    cube.inside = place == PLACE_IN;
  }
  if (cube.inside && !cube.clear)
    cube.clear = !builder->blocks->tiled || !may_be_blocked(builder, center, size * side / 2);
  if (size == 1) return emit(builder, cube, to);
  for (int k = 0; k < 8; k++) {
    Cube child = {.size = half, .inside = cube.inside, .clear = cube.clear};
    for (int axis = 0; axis < 3; axis++) child.base[axis] = cube.base[axis] + (k >> axis & 1) * half;
    if (!grow(builder, child, to)) return false;
  }
  return true;
}

/* A part of the tree, and where its blocks begin among all. */
typedef struct Part {
  Cubes blocks;
  int64_t first;
  bool grown;
} Part;

typedef struct Parts {
  const Builder *builder;
  const Cubes *cubes;
  Part *parts;
} Parts;

static void grow_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Parts *job = context;
  for (int64_t k = b; k < e; k++) {
    job->parts[k].blocks.least = 1;
    job->parts[k].grown = grow(job->builder, job->cubes->cubes[k], &job->parts[k].blocks);
  }
}

static void place_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Parts *job = context;
  const Blocks *blocks = job->builder->blocks;
  for (int64_t k = b; k < e; k++) {
    const Part *part = &job->parts[k];
    for (int64_t n = 0; n < part->blocks.count; n++) {
      const Cube *cube = &part->blocks.cubes[n];
      memcpy(blocks->coordinate[part->first + n], cube->base, sizeof cube->base);
      blocks->boundary[part->first + n] = cube->clear ? -1 : 0;
    }
  }
}

/* Blocks of all parts, one part after the other. */
static Status join(Builder *builder, const Parts *job) {
  Core *core = builder->core;
  Blocks *blocks = builder->blocks;
  for (int64_t k = 0; k < job->cubes->count; k++) {
    if (!job->parts[k].grown) return fail(core, SCREE_NO_MEMORY, "no memory for sampling blocks");
    job->parts[k].first = blocks->count;
    blocks->count += job->parts[k].blocks.count;
  }
  if (blocks->count >= INT32_MAX) return fail(core, SCREE_NO_MEMORY, "too many samples for one shape");
  TRY(memory_new(core, &blocks->coordinate, blocks->count, "sampling blocks"));
  TRY(memory_new(core, &blocks->boundary, blocks->count, "sampling blocks"));
  parallel_for(core, 0, job->cubes->count, 1, place_body, (void *)job);
  for (int64_t k = 0; k < blocks->count; k++)
    if (blocks->boundary[k] >= 0) blocks->boundary[k] = (int32_t)builder->boundary_count++;
  return SCREE_OK;
}

/* The first levels of the tree say which parts of it there are. */
static Status grow_all(Builder *builder, int32_t size) {
  Core *core = builder->core;
  Cubes cubes = {.least = size > PART_CUBES ? size / PART_CUBES : 1};
  Parts job = {builder, &cubes, NULL};
  bool grown = true;
  for (int k = 0; k < 8; k++) {
    Cube root = {.base = {(k & 1) - 1, (k >> 1 & 1) - 1, (k >> 2) - 1}, .size = size};
    for (int axis = 0; axis < 3; axis++) root.base[axis] *= size;
    grown = grown && grow(builder, root, &cubes);
  }
  Status status = SCREE_OK;
  if (!grown) status = fail(core, SCREE_NO_MEMORY, "no memory for sampling blocks");
  else status = memory_new(core, &job.parts, cubes.count + 1, "sampling blocks");
  if (status == SCREE_OK && cubes.least > 1) {
    parallel_for(core, 0, cubes.count, 1, grow_body, &job);
  } else if (status == SCREE_OK) {
    job.parts[0] = (Part){.blocks = cubes, .grown = true};
    cubes = (Cubes){.count = 1};
  }
  if (status == SCREE_OK) status = join(builder, &job);
  for (int64_t k = 0; job.parts && k < cubes.count; k++) memory_drop(core, &job.parts[k].blocks.cubes);
  memory_drop(core, &job.parts);
  memory_drop(core, &cubes.cubes);
  return status;
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
        blocks->active[block_row(blocks, block)][k / 64] |= (uint64_t)1 << (k % 64);
      }
}

_Static_assert(BLOCK_CELL_COUNT == 64 * BLOCK_CELLS, "a word has a layer of cells");

/* Whether a cube of cells has one that takes spheres of the tile unseen. */
static bool some_open(const uint64_t *open, const int cell[3], int size) {
  uint64_t layer = 0, found = 0, row = ((uint64_t)(1u << size) - 1) << cell[0];
  for (int y = cell[1]; y < cell[1] + size; y++) layer |= row << (BLOCK_CELLS * y);
  for (int z = cell[2]; z < cell[2] + size; z++) found |= open[z] & layer;
  return found != 0;
}

/* Cells of a cube of them where something may be in the way do not take spheres of the tile unseen. */
static void shut_blocked(const Builder *builder, int64_t block, const int cell[3], int size) {
  Blocks *blocks = builder->blocks;
  if (!some_open(blocks->open[block_row(blocks, block)], cell, size)) return;
  const int32_t *c = blocks->coordinate[block];
  double half = size * blocks->cell / 2;
  Vec3 low = vec3(c[0] * blocks->side + cell[0] * blocks->cell, c[1] * blocks->side + cell[1] * blocks->cell,
                  c[2] * blocks->side + cell[2] * blocks->cell);
  if (!may_be_blocked(builder, vec3_add(low, vec3(half, half, half)), half)) return;
  for (int k = 0; k < 8 && size > 1; k++) {
    int child[3] = {cell[0] + (k & 1) * size / 2, cell[1] + (k >> 1 & 1) * size / 2, cell[2] + (k >> 2) * size / 2};
    shut_blocked(builder, block, child, size / 2);
  }
  if (size > 1) return;
  int k = (cell[2] * BLOCK_CELLS + cell[1]) * BLOCK_CELLS + cell[0];
  blocks->open[block_row(blocks, block)][k / 64] &= ~((uint64_t)1 << (k % 64));
}

/* With a tile, spheres are looked at, and thrown, where something is near. */
static void find_open(const Builder *builder, int64_t block) {
  Blocks *blocks = builder->blocks;
  int64_t row = blocks->boundary[block];
  for (int k = 0; k < BLOCK_CELL_COUNT; k++)
    if ((double)blocks->distance[row][k] <= -SCREE_BIG / 2) blocks->open[row][k / 64] |= (uint64_t)1 << (k % 64);
  if (builder->region->plan->obstacle) shut_blocked(builder, block, (int[3]){0, 0, 0}, BLOCK_CELLS);
  for (int w = 0; w < BLOCK_CELL_COUNT / 64; w++) blocks->active[row][w] &= ~blocks->open[row][w];
}

typedef struct CellSides {
  const Builder *builder;
  int64_t block;
} CellSides;

static bool cell_inside(const void *context, int cell) {
  const CellSides *sides = context;
  const Builder *builder = sides->builder;
  return region_contains(builder->region, block_cell_center(builder->blocks, sides->block, cell));
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
  CellSides sides = {builder, block};
  find_sides(BLOCK_CELLS, (float)blocks->cell, distance, cell_inside, &sides, inside);
  for (int k = 0; k < BLOCK_CELL_COUNT; k++) {
    double signed_distance = inside[k] ? -(double)distance[k] : (double)distance[k];
    if (signed_distance <= half - builder->smallest)
      blocks->active[block_row(blocks, block)][k / 64] |= (uint64_t)1 << (k % 64);
    distance[k] = (float)(signed_distance <= -reach * 0.9999 ? -SCREE_BIG : signed_distance);
  }
}

static void classify_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Builder *builder = context;
  Blocks *blocks = builder->blocks;
  TriangleList list;
  for (int64_t k = b; k < e; k++) {
    if (block_row(blocks, k) < 0) continue;
    if (blocks->boundary[k] < 0) memset(blocks->active[k], 0xff, sizeof *blocks->active);
    else if (skin_load(&blocks->skin, builder->region, blocks->boundary[k], block_center(blocks, k), &list))
      classify_near(builder, k, &list);
    else classify_cells(builder, k, (int[3]){0, 0, 0}, BLOCK_CELLS);
    if (blocks->tiled) find_open(builder, k);
  }
}

static uint64_t coordinate_key(const int32_t c[3]) {
  return (uint64_t)(c[0] & 0x1fffff) << 42 | (uint64_t)(c[1] & 0x1fffff) << 21 | (uint64_t)(c[2] & 0x1fffff);
}

typedef struct Table {
  const Blocks *blocks;
  _Atomic int32_t *slots; /* block + 1 */
  uint64_t mask;
} Table;

static int32_t find(const Table *table, const int32_t c[3]) {
  for (uint64_t slot = rng_mix(coordinate_key(c)) & table->mask;; slot = (slot + 1) & table->mask) {
    int32_t k = atomic_load_explicit(&table->slots[slot], memory_order_relaxed) - 1;
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
  for (int64_t k = b; k < e; k++) {
    int64_t row = block_row(table->blocks, k);
    for (int n = 0; n < 27 && row >= 0; n++) {
      const int32_t *c = table->blocks->coordinate[k];
      int32_t at[3] = {c[0] + n % 3 - 1, c[1] + n / 3 % 3 - 1, c[2] + n / 9 - 1};
      table->blocks->around[row][n] = find(table, at);
    }
  }
}

/* Where a block comes to stand is chance, and of no consequence. */
static void enter_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Table *table = context;
  for (int64_t k = b; k < e; k++) {
    uint64_t slot = rng_mix(coordinate_key(table->blocks->coordinate[k])) & table->mask;
    for (int32_t none = 0; !atomic_compare_exchange_strong_explicit(&table->slots[slot], &none, (int32_t)(k + 1),
                                                                    memory_order_relaxed, memory_order_relaxed);
         none = 0)
      slot = (slot + 1) & table->mask;
  }
}

static Status table_create(Core *core, const Blocks *blocks, Table *table) {
  uint64_t slots = 64;
  while (slots < 2 * (uint64_t)blocks->count) slots *= 2;
  *table = (Table){.blocks = blocks, .mask = slots - 1};
  TRY(memory_new(core, &table->slots, (int64_t)slots, "sampling blocks"));
  parallel_for(core, 0, blocks->count, 1024, enter_body, table);
  return SCREE_OK;
}

static int color_of(const int32_t c[3]) { return (c[0] & 1) | (c[1] & 1) << 1 | (c[2] & 1) << 2; }

static void sort_by_color(Blocks *blocks) {
  for (int64_t k = 0; k < blocks->count; k++)
    if (block_row(blocks, k) >= 0) blocks->color_start[color_of(blocks->coordinate[k]) + 1]++;
  for (int c = 0; c < BLOCK_COLORS; c++) blocks->color_start[c + 1] += blocks->color_start[c];
  int64_t next[BLOCK_COLORS];
  memcpy(next, blocks->color_start, sizeof next);
  for (int64_t k = 0; k < blocks->count; k++)
    if (block_row(blocks, k) >= 0) blocks->color_order[next[color_of(blocks->coordinate[k])]++] = (int32_t)k;
}

static Status allocate(Core *core, Blocks *blocks, int64_t boundary_count, bool radii) {
  int64_t n = blocks->rows = blocks->tiled ? boundary_count : blocks->count;
  TRY(memory_new(core, &blocks->around, n, "sampling blocks"));
  TRY(memory_new(core, &blocks->distance, boundary_count, "sampling blocks"));
  if (blocks->tiled) TRY(memory_new(core, &blocks->open, n, "sampling blocks"));
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
  TRY(grow_all(builder, size));
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

Status blocks_create(Core *core, const Region *region, bool tiled, double cell, double smallest, double largest,
                     Blocks *blocks) {
  *blocks = (Blocks){.cell = cell, .side = cell * BLOCK_CELLS, .tiled = tiled};
  Builder builder = {.core = core,
                     .region = region,
                     .blocks = blocks,
                     .smallest = region->plan->fraction > 0 ? 0 : region->inset * smallest, /* all of it counts */
                     .largest = region->inset * largest,
                     .radius = largest};
  Status status = build(&builder);
  if (status != SCREE_OK) blocks_destroy(core, blocks);
  return status;
}

Status blocks_create_periodic(Core *core, double cell, bool radii, Blocks *blocks) {
  *blocks = (Blocks){.count = TILE_BINS, .cell = cell, .side = cell * BLOCK_CELLS, .periodic = true};
  Status status = memory_new(core, &blocks->coordinate, TILE_BINS, "sampling blocks");
  if (status == SCREE_OK) status = memory_new(core, &blocks->boundary, TILE_BINS, "sampling blocks");
  if (status == SCREE_OK) status = allocate(core, blocks, 0, radii);
  if (status != SCREE_OK) {
    blocks_destroy(core, blocks);
    return status;
  }
  for (int k = 0; k < TILE_BINS; k++) {
    int32_t *c = blocks->coordinate[k];
    c[0] = k % TILE_BLOCKS, c[1] = k / TILE_BLOCKS % TILE_BLOCKS, c[2] = k / (TILE_BLOCKS * TILE_BLOCKS);
    for (int n = 0; n < 27; n++)
      blocks->around[k][n] = tile_bin(c[0] + n % 3 - 1, c[1] + n / 3 % 3 - 1, c[2] + n / 9 - 1);
    blocks->boundary[k] = -1;
    memset(blocks->active[k], 0xff, sizeof *blocks->active);
  }
  sort_by_color(blocks);
  return SCREE_OK;
}

typedef struct Obstructed {
  const Region *region;
  const Blocks *blocks;
  double off;
} Obstructed;

/* The share of a cube that lies below a plane at a signed distance from its centre; exact for planes along axes. */
static double share_below(double distance, double side) { return fmin(fmax(0.5 - distance / side, 0), 1); }

static double obstructed_body(void *context, int64_t b, int64_t e) {
  const Obstructed *job = context;
  const Blocks *blocks = job->blocks;
  double side = blocks->cell, near_cell = side / 2 * sqrt(3.0) + job->off, sum = 0;
  double near_block = blocks->side / 2 * sqrt(3.0) + job->off;
  for (int64_t block = b; block < e; block++) {
    int64_t row = block_row(blocks, block);
    if (row < 0 || !region_blocked(job->region, block_center(blocks, block), near_block)) continue;
    for (int k = 0; k < BLOCK_CELL_COUNT; k++) {
      if (!block_cell_active(blocks, block, k)) continue;
      int32_t boundary = blocks->boundary[block];
      double distance = boundary < 0 ? -SCREE_BIG : (double)blocks->distance[boundary][k];
      double off = region_obstacle(job->region, block_cell_center(blocks, block, k), near_cell, near_cell).distance;
      sum += share_below(distance, side) - share_below(fmax(distance, job->off - off), side);
    }
  }
  return sum;
}

double blocks_obstructed(Core *core, const Blocks *blocks, const Region *region, double off) {
  if (!region->plan->obstacle) return 0;
  Obstructed job = {region, blocks, off};
  return parallel_sum(core, 0, blocks->count, 8, obstructed_body, &job) * blocks->cell * blocks->cell * blocks->cell;
}

void blocks_destroy(Core *core, Blocks *blocks) {
  skin_destroy(core, &blocks->skin);
  memory_drop(core, &blocks->coordinate);
  memory_drop(core, &blocks->around);
  memory_drop(core, &blocks->boundary);
  memory_drop(core, &blocks->distance);
  memory_drop(core, &blocks->active);
  memory_drop(core, &blocks->open);
  memory_drop(core, &blocks->filled);
  memory_drop(core, &blocks->color_order);
  memory_drop(core, &blocks->x);
  memory_drop(core, &blocks->y);
  memory_drop(core, &blocks->z);
  memory_drop(core, &blocks->radius);
}

typedef struct Collect {
  const Blocks *blocks;
  double nominal;
  const int32_t *before; /* spheres before each block, and behind the last */
  Samples *samples;
} Collect;

static void collect_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Collect *collect = context;
  const Blocks *blocks = collect->blocks;
  Samples *samples = collect->samples;
  for (int64_t block = b; block < e; block++)
    for (int64_t k = 0, n = collect->before[block]; n < collect->before[block + 1]; k++, n++) {
      float point[3];
      block_point(blocks, block, k, point);
      samples->x[n] = point[0], samples->y[n] = point[1], samples->z[n] = point[2];
      if (samples->radius) samples->radius[n] = block_radius(blocks, block, k, collect->nominal);
    }
}

static int64_t block_own(const Blocks *blocks, int64_t block) {
  return block_row(blocks, block) < 0 ? 0 : block_filled(blocks, block);
}

/* Sums of those before, of all spheres or of those that blocks with rows have. */
static Status count_before(Core *core, const Blocks *blocks, int64_t (*count_of)(const Blocks *, int64_t),
                           int32_t **before) {
  int64_t sum = 0;
  TRY(memory_new(core, before, blocks->count + 1, "sampling blocks"));
  for (int64_t b = 0; b < blocks->count; b++) {
    sum += count_of(blocks, b);
    if (sum > INT32_MAX) return fail(core, SCREE_NO_MEMORY, "too many samples for one shape");
    (*before)[b + 1] = (int32_t)sum;
  }
  return SCREE_OK;
}

static Status collect_all(Core *core, const Blocks *blocks, double nominal, const int32_t *before, Samples *samples) {
  Collect collect = {.blocks = blocks, .nominal = nominal, .before = before, .samples = samples};
  TRY(samples_new(core, before[blocks->count], blocks->radius != NULL, samples));
  parallel_for(core, 0, blocks->count, 64, collect_body, &collect);
  return SCREE_OK;
}

Status blocks_collect(Core *core, const Blocks *blocks, double nominal, Samples *samples) {
  int32_t *before = NULL;
  Status status = count_before(core, blocks, block_filled, &before);
  if (status == SCREE_OK) status = collect_all(core, blocks, nominal, before, samples);
  if (status == SCREE_OK) samples->count = before[blocks->count];
  memory_drop(core, &before);
  return status;
}

Status blocks_hand_over(Core *core, Blocks *blocks, double nominal, Tile *tile, Samples *samples) {
  TRY(memory_new(core, &samples->blocks, 1, "sampling blocks"));
  SampleBlocks *to = samples->blocks;
  TRY(memory_new(core, &to->tile, 1, "tile of samples"));
  TRY(count_before(core, blocks, block_filled, &to->before));
  TRY(count_before(core, blocks, block_own, &to->samples));
  TRY(collect_all(core, blocks, nominal, to->samples, samples));
  to->count = blocks->count, to->side = blocks->side;
  to->own = to->samples[blocks->count];
  samples->count = to->before[blocks->count];
  for (int64_t b = 0; b < blocks->count; b++)
    if (block_row(blocks, b) < 0) to->samples[b] = -1;
  to->coordinate = blocks->coordinate, blocks->coordinate = NULL;
  *to->tile = *tile, *tile = (Tile){0};
  return SCREE_OK;
}
