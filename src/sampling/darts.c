#include "sampling/darts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "sampling/sampling_kernels.h"

enum {
  GATHERED_MAX = 27 * BLOCK_SPHERES,
  GAP_CUBES_MAX = 4096, /* open cubes followed at once in one cell */
  SIZE_CLASSES = 16,
  THROWS_PER_SPHERE = 300
};

/* A cube inside a cell: its centre relative to the cell's. */
typedef struct Cube {
  float x, y, z;
} Cube;

typedef struct DartsScratch {
  SphereList gathered[8]; /* by octant of the block: spheres that a new one there could meet; radii shrunk */
  float low[3], middle[3], high[3], margin; /* the block, and how far a sphere outside reaches into it */
  SphereList close;                         /* of them, those that a new one in this cell could meet */
  Cube cubes[2][GAP_CUBES_MAX];
  int16_t order[BLOCK_CELL_COUNT];
  bool has_skin; /* the triangles near this block are at hand */
  Vec3 center;
  TriangleList skin;
} DartsScratch;

/* What is known about the cell in hand. */
typedef struct Cell {
  int64_t block;
  int index;
  bool inside; /* deep enough for any radius */
  Vec3 center;
  double distance;
  uint64_t random; /* state of its random numbers */
} Cell;

static Status list_create(Core *core, SphereList *list) {
  TRY(memory_new(core, &list->x, GATHERED_MAX + LANES, "sampling scratch"));
  TRY(memory_new(core, &list->y, GATHERED_MAX + LANES, "sampling scratch"));
  TRY(memory_new(core, &list->z, GATHERED_MAX + LANES, "sampling scratch"));
  TRY(memory_new(core, &list->r, GATHERED_MAX + LANES, "sampling scratch"));
  return SCREE_OK;
}

static void list_destroy(Core *core, SphereList *list) {
  memory_drop(core, &list->x);
  memory_drop(core, &list->y);
  memory_drop(core, &list->z);
  memory_drop(core, &list->r);
}

Status darts_create(Core *core, const Region *region, const Sizes *sizes, Blocks *blocks, double shrink, Darts *darts) {
  *darts = (Darts){.core = core, .region = region, .sizes = sizes, .blocks = blocks, .shrink = shrink};
  darts->seed = region->plan->seed;
  int threads = pool_threads(core->pool);
  TRY(memory_new(core, &darts->scratch, threads, "sampling scratch"));
  for (int t = 0; t < threads; t++) {
    for (int o = 0; o < 8; o++) TRY(list_create(core, &darts->scratch[t].gathered[o]));
    TRY(list_create(core, &darts->scratch[t].close));
  }
  return SCREE_OK;
}

void darts_destroy(Darts *darts) {
  for (int t = 0; darts->scratch && t < pool_threads(darts->core->pool); t++) {
    for (int o = 0; o < 8; o++) list_destroy(darts->core, &darts->scratch[t].gathered[o]);
    list_destroy(darts->core, &darts->scratch[t].close);
  }
  memory_drop(darts->core, &darts->scratch);
}

static float sphere_radius(const Darts *darts, int64_t block, int64_t k) {
  double nominal = darts->sizes->nominal;
  return darts->sizes->quantile ? block_radius(darts->blocks, block, k, nominal) : (float)nominal;
}

/* From a block of a tile in the making to neighbour n of it: 0, or the way round the tile. */
static void way_round(const Blocks *blocks, int64_t block, int n, float shift[3]) {
  const int32_t *c = blocks->coordinate[block];
  int32_t at[3] = {c[0] + n % 3 - 1, c[1] + n / 3 % 3 - 1, c[2] + n / 9 - 1};
  float period = (float)(TILE_BLOCKS * blocks->side);
  for (int axis = 0; axis < 3; axis++)
    shift[axis] = !blocks->periodic ? 0 : at[axis] < 0 ? -period : at[axis] >= TILE_BLOCKS ? period : 0;
}

/* Puts a sphere on the list of every octant that it reaches. */
static inline void remember(DartsScratch *scratch, const float point[3], float radius) {
  float margin = scratch->margin;
  if (point[0] < scratch->low[0] - margin || point[1] < scratch->low[1] - margin ||
      point[2] < scratch->low[2] - margin || point[0] > scratch->high[0] + margin ||
      point[1] > scratch->high[1] + margin || point[2] > scratch->high[2] + margin)
    return;
  unsigned octants = 0xff;
  static const unsigned upper[3] = {0xaa, 0xcc, 0xf0};
  for (int axis = 0; axis < 3; axis++) {
    if (point[axis] > scratch->middle[axis] + margin) octants &= upper[axis];
    if (point[axis] < scratch->middle[axis] - margin) octants &= ~upper[axis];
  }
  for (; octants; octants &= octants - 1)
    sphere_list_push(&scratch->gathered[__builtin_ctz(octants)], point[0], point[1], point[2], radius);
}

static void load_skin(const Darts *darts, int64_t block, DartsScratch *scratch) {
  const Blocks *blocks = darts->blocks;
  scratch->center = block_center(blocks, block);
  scratch->has_skin = skin_load(&blocks->skin, darts->region, blocks->boundary[block], scratch->center, &scratch->skin);
}

static void gather(const Darts *darts, int64_t block, DartsScratch *scratch) {
  const Blocks *blocks = darts->blocks;
  scratch->margin = (float)(2 * darts->shrink * darts->sizes->largest * 1.0001);
  for (int axis = 0; axis < 3; axis++) {
    double low = blocks->coordinate[block][axis] * blocks->side;
    scratch->low[axis] = (float)low;
    scratch->middle[axis] = (float)(low + blocks->side / 2);
    scratch->high[axis] = (float)(low + blocks->side);
  }
  for (int o = 0; o < 8; o++) sphere_list_clear(&scratch->gathered[o]);
  load_skin(darts, block, scratch);
  for (int n = 0; n < 27; n++) {
    int64_t other = blocks->around[block_row(blocks, block)][n];
    if (other < 0) continue;
    float shift[3], point[3];
    way_round(blocks, block, n, shift);
    for (int64_t k = 0, filled = block_filled(blocks, other); k < filled; k++) {
      block_point(blocks, other, k, point);
      for (int axis = 0; axis < 3; axis++) point[axis] += shift[axis];
      remember(scratch, point, (float)darts->shrink * sphere_radius(darts, other, k));
    }
  }
}

/* Spheres that one in the cell could meet. */
static const SphereList *gathered_at(const DartsScratch *scratch, int cell) {
  int half = BLOCK_CELLS / 2, x = cell % BLOCK_CELLS, y = cell / BLOCK_CELLS % BLOCK_CELLS,
      z = cell / (BLOCK_CELLS * BLOCK_CELLS);
  return &scratch->gathered[(x >= half) | (y >= half) << 1 | (z >= half) << 2];
}

static double cell_distance(const Blocks *blocks, int64_t block, int index) {
  int32_t row = blocks->boundary[block];
  return row < 0 ? -SCREE_BIG : (double)blocks->distance[row][index];
}

static bool is_inside(double distance) { return distance <= -SCREE_BIG / 2; }

/* `random` is the caller's: a throw takes it from the round or from the sphere. */
static Cell cell_at(const Blocks *blocks, int64_t block, int index) {
  Cell cell = {.block = block, .index = index, .center = block_cell_center(blocks, block, index)};
  cell.distance = cell_distance(blocks, block, index);
  cell.inside = is_inside(cell.distance);
  return cell;
}

/* A random point of the cube of half side `half` round a centre, as it will be stored. */
static void throw_into(Cell *cell, Vec3 center, double half, float point[3]) {
  cell->random = rng_mix(cell->random);
  uint64_t bits = cell->random;
  const double scale = 2.0 / (1 << 21);
  point[0] = (float)(center.x + half * ((double)(bits & 0x1fffff) * scale - 1));
  point[1] = (float)(center.y + half * ((double)(bits >> 21 & 0x1fffff) * scale - 1));
  point[2] = (float)(center.z + half * ((double)(bits >> 42 & 0x1fffff) * scale - 1));
}

/* Distance to the surface without a sign, by the triangles at hand. They are stored as floats relative to the block:
 * what that may cost is taken off, so that no sphere can stick out. */
static double skin_distance(const Darts *darts, const DartsScratch *scratch, Vec3 at, double most) {
  Vec3 p = vec3_sub(at, scratch->center);
  double widest = fmax(darts->region->high.x, fmax(darts->region->high.y, darts->region->high.z));
  return (double)KERNEL_CALL(darts->core, triangles_distance)(
             &scratch->skin, (float[3]){(float)p.x, (float)p.y, (float)p.z}, (float)most) -
         2e-7 * (widest + darts->blocks->side);
}

/* Whether a centre near the walls lies deep enough. A signed distance changes no faster than the point moves, which
 * settles most cases by that of the cell's centre. */
static bool inside(const Darts *darts, const DartsScratch *scratch, const Cell *cell, Vec3 at, double depth) {
  double moved = vec3_length(vec3_sub(at, cell->center));
  if (-cell->distance - moved >= depth * 1.00001) return true;
  if (-cell->distance + moved < depth) return false;
  if (scratch->has_skin) {
    double clear = skin_distance(darts, scratch, at, 1.01 * fmax(depth, moved));
    if (clear < depth) return false;
    /* Nothing of the surface lies so near. If the cell's centre does, it is on the same side. */
    if (moved < clear) return cell->distance < 0;
  }
  return region_distance(darts->region, at, depth * 1.01).distance <= -depth;
}

/* Everything but the other spheres. */
static bool allowed(const Darts *darts, const DartsScratch *scratch, const Cell *cell, const float point[3],
                    double radius) {
  Vec3 at = vec3(point[0], point[1], point[2]);
  if (!cell->inside && !inside(darts, scratch, cell, at, darts->region->inset * radius)) return false;
  return !region_blocked(darts->region, at, radius);
}

static bool store(Blocks *blocks, int64_t block, const float point[3], double radius) {
  int64_t row = block_row(blocks, block);
  if (blocks->filled[row] == BLOCK_SPHERES) return false;
  int64_t k = row * BLOCK_SPHERES + blocks->filled[row]++;
  blocks->x[k] = point[0], blocks->y[k] = point[1], blocks->z[k] = point[2];
  if (blocks->radius) blocks->radius[k] = (float)radius;
  return true;
}

static bool place(Darts *darts, DartsScratch *scratch, int64_t block, const float point[3], double radius) {
  if (!store(darts->blocks, block, point, radius)) return false;
  remember(scratch, point, (float)(darts->shrink * radius));
  return true;
}

/* One random sphere into a cube; `against` are the spheres that matter. */
static bool try_cube(Darts *darts, DartsScratch *scratch, const SphereList *against, Cell *cell, Vec3 center,
                     double half) {
  float point[3];
  double radius = darts->sizes->nominal;
  throw_into(cell, center, half, point);
  if (KERNEL_CALL(darts->core, spheres_conflict)(against, point, (float)(darts->shrink * radius))) return false;
  return allowed(darts, scratch, cell, point, radius) && place(darts, scratch, cell->block, point, radius);
}

static Vec3 cube_center(const Cell *cell, Cube cube) {
  return vec3(cell->center.x + (double)cube.x, cell->center.y + (double)cube.y, cell->center.z + (double)cube.z);
}

/* Whether some centre in the cube may be allowed by walls and the blocked places. A sphere at any point of the cube
 * contains the smaller one at its centre. */
static bool cube_allowed(const Darts *darts, const DartsScratch *scratch, const Cell *cell, Vec3 center, double half) {
  double reach = half * sqrt(3.0), radius = darts->sizes->nominal, wanted = darts->region->inset * radius;
  if (!cell->inside) {
    double moved = vec3_length(vec3_sub(center, cell->center));
    if (-cell->distance + moved + reach < wanted) return false;
    if (-cell->distance - moved + reach < wanted) {
      double depth = scratch->has_skin ? skin_distance(darts, scratch, center, wanted + reach)
                                       : -region_distance(darts->region, center, wanted + reach).distance;
      if (depth + reach < wanted) return false;
    }
  }
  return !(radius > reach && region_blocked(darts->region, center, radius - reach));
}

/* The eighths of the open cubes that are open themselves. */
static int64_t halve_cubes(const Darts *darts, const DartsScratch *scratch, const Cell *cell, const Cube *cubes,
                           int64_t count, float half, Cube *parts) {
  float radius = (float)(darts->shrink * darts->sizes->nominal);
  float center[3] = {(float)cell->center.x, (float)cell->center.y, (float)cell->center.z};
  bool free = cell->inside && !darts->region->plan->obstacle;
  int64_t found = 0;
  for (int64_t k = 0; k < count; k++) {
    float at[3] = {center[0] + cubes[k].x, center[1] + cubes[k].y, center[2] + cubes[k].z};
    unsigned open = KERNEL_CALL(darts->core, cubes_open)(&scratch->close, at, half, radius);
    for (; open && found < GAP_CUBES_MAX; open &= open - 1) {
      int child = __builtin_ctz(open);
      Cube part = {cubes[k].x + (child & 1 ? half : -half), cubes[k].y + (child & 2 ? half : -half),
                   cubes[k].z + (child & 4 ? half : -half)};
      if (free || cube_allowed(darts, scratch, cell, cube_center(cell, part), (double)half)) parts[found++] = part;
    }
  }
  return found;
}

/* Follows the parts of the cell that no sphere excludes, halving them `depth` times, with a throw into each on the way.
 * Returns true when a sphere was placed or nothing is left open. */
static bool search_cell(Darts *darts, DartsScratch *scratch, Cell *cell, int depth) {
  float half = (float)darts->blocks->cell / 2;
  int64_t count = 1;
  Cube *now = scratch->cubes[0], *next = scratch->cubes[1];
  now[0] = (Cube){0, 0, 0};
  for (int level = 0; level < depth; level++) {
    half /= 2;
    count = halve_cubes(darts, scratch, cell, now, count, half, next);
    if (count == 0) return true;
    int64_t at = (int64_t)((cell->random >> 32) * (uint64_t)count >> 32);
    for (int64_t k = 0; k < count; k++, at = at + 1 < count ? at + 1 : 0)
      if (try_cube(darts, scratch, &scratch->close, cell, cube_center(cell, next[at]), (double)half)) return true;
    Cube *swap = now;
    now = next, next = swap;
  }
  return false;
}

/* One round over a block. */
typedef struct Round {
  Darts *darts;
  uint64_t number;
  int throws; /* anywhere in the cell */
  int depth;  /* of the search afterwards; 0: none */
  bool last;  /* cells are closed afterwards whatever came out */
} Round;

static bool visit_cell(const Round *round, DartsScratch *scratch, int64_t block, int index) {
  Darts *darts = round->darts;
  Cell cell = cell_at(darts->blocks, block, index);
  uint64_t key = rng_mix(block_key(darts->blocks, block)) + (uint64_t)index;
  cell.random = rng_bits(darts->seed, key, round->number, RNG_VOLUME_SAMPLE);
  double half = darts->blocks->cell / 2, radius = darts->shrink * darts->sizes->nominal;
  const SphereList *against = gathered_at(scratch, index);
  if (round->throws > 1 || round->depth > 0) {
    float center[3] = {(float)cell.center.x, (float)cell.center.y, (float)cell.center.z};
    KERNEL_CALL(darts->core, spheres_near)
    (against, center, (float)(radius + half * sqrt(3.0) * 1.0001), &scratch->close);
    against = &scratch->close;
  }
  for (int k = 0; k < round->throws; k++)
    if (try_cube(darts, scratch, against, &cell, cell.center, half)) return true;
  return round->depth > 0 && search_cell(darts, scratch, &cell, round->depth);
}

/* The open cells of a block in random order. */
static int shuffle_cells(const Darts *darts, DartsScratch *scratch, int64_t block, uint64_t round) {
  int count = 0;
  uint64_t random = rng_bits(darts->seed, ~block_key(darts->blocks, block), round, RNG_VOLUME_SAMPLE);
  const uint64_t *active = darts->blocks->active[block_row(darts->blocks, block)];
  for (int word = 0; word < BLOCK_CELL_COUNT / 64; word++)
    for (uint64_t left = active[word]; left; left &= left - 1, count++) {
      random = rng_mix(random);
      int other = (int)((random >> 32) * (uint64_t)(count + 1) >> 32);
      scratch->order[count] = scratch->order[other];
      scratch->order[other] = (int16_t)(64 * word + __builtin_ctzll(left));
    }
  return count;
}

typedef struct ColorJob {
  const Round *round;
  const int32_t *order;
} ColorJob;

static void round_body(void *context, int64_t b, int64_t e, int thread) {
  const ColorJob *job = context;
  Darts *darts = job->round->darts;
  DartsScratch *scratch = &darts->scratch[thread];
  for (int64_t k = b; k < e; k++) {
    int64_t block = job->order[k];
    int count = shuffle_cells(darts, scratch, block, job->round->number);
    if (count == 0) continue;
    gather(darts, block, scratch);
    for (int i = 0; i < count; i++) {
      int cell = scratch->order[i];
      if (visit_cell(job->round, scratch, block, cell) || job->round->last)
        block_cell_close(darts->blocks, block, cell);
    }
  }
}

static void run_round(const Round *round) {
  Blocks *blocks = round->darts->blocks;
  for (int color = 0; color < BLOCK_COLORS; color++) {
    ColorJob job = {round, blocks->color_order};
    parallel_for(round->darts->core, blocks->color_start[color], blocks->color_start[color + 1], 2, round_body, &job);
    progress_done(round->darts->core, fmin(1, ((double)round->number + (color + 1.0) / BLOCK_COLORS) / 2));
  }
}

/* The cell of a block that a point of the tile is in. */
static int cell_of(const Tile *tile, int64_t at) {
  const float within[3] = {tile->x[at], tile->y[at], tile->z[at]};
  int cell[3];
  for (int axis = 0; axis < 3; axis++) {
    cell[axis] = (int)(within[axis] * BLOCK_CELLS);
    if (cell[axis] >= BLOCK_CELLS) cell[axis] = BLOCK_CELLS - 1;
  }
  return (cell[2] * BLOCK_CELLS + cell[1]) * BLOCK_CELLS + cell[0];
}

static void cut_body(void *context, int64_t b, int64_t e, int thread) {
  Darts *darts = context;
  Blocks *blocks = darts->blocks;
  const Tile *tile = blocks->tile;
  DartsScratch *scratch = &darts->scratch[thread];
  for (int64_t block = b; block < e; block++) {
    int64_t row = block_row(blocks, block);
    if (row < 0) continue;
    load_skin(darts, block, scratch);
    const int32_t *start = tile->start + block_bin(blocks, block);
    for (int64_t k = 0; k < start[1] - start[0]; k++) {
      int at = cell_of(tile, start[0] + k);
      float point[3];
      double radius = (double)tile_radius(tile, start[0] + k, darts->sizes->nominal);
      block_tile_point(blocks, block, k, point);
      bool open = blocks->open[row][at / 64] >> (at % 64) & 1;
      if (!open && !(block_cell_active(blocks, block, at))) continue;
      if (!open) {
        Cell cell = cell_at(blocks, block, at);
        if (!allowed(darts, scratch, &cell, point, radius)) continue;
      }
      if (store(blocks, block, point, radius) && !darts->sizes->quantile) block_cell_close(blocks, block, at);
    }
  }
}

void darts_cut_tile(Darts *darts) { parallel_for(darts->core, 0, darts->blocks->count, 16, cut_body, darts); }

/* One throw into each cell places seven tenths of what fits. After that most throws would miss, and it is cheaper to
 * throw only into eighths of cells that are not yet excluded. Where a tile was cut, only gaps are left. */
void darts_throw_equal(Darts *darts) {
  if (!darts->blocks->tiled) run_round(&(Round){.darts = darts, .number = 0, .throws = 1});
  run_round(&(Round){.darts = darts, .number = 1, .depth = 3});
}

void darts_fill_gaps(Darts *darts) { run_round(&(Round){.darts = darts, .number = 2, .depth = 10, .last = true}); }

/* Many sizes: each class, from the largest radii down, gets the same number of spheres, and every block its share by
 * the room it has. A draw per throw would favour small spheres, which fit more often. */
typedef struct SizeJob {
  Darts *darts;
  const int32_t *order;
  int size_class;
  double per_cell; /* spheres of one class in a cell wholly inside */
} SizeJob;

static void size_block(const SizeJob *job, DartsScratch *scratch, int64_t block) {
  Darts *darts = job->darts;
  const Blocks *blocks = darts->blocks;
  double room = 0;
  const uint64_t *active = blocks->active[block_row(blocks, block)];
  for (int word = 0; word < BLOCK_CELL_COUNT / 64; word++)
    for (uint64_t left = active[word]; left; left &= left - 1)
      room += is_inside(cell_distance(blocks, block, 64 * word + __builtin_ctzll(left))) ? 1.0 : 0.5;
  uint64_t random = rng_bits(darts->seed, block_key(blocks, block), (uint64_t)job->size_class, RNG_RADIUS);
  int64_t wanted = (int64_t)(room * job->per_cell + rng_unit(random));
  if (wanted == 0) return;
  int count = shuffle_cells(darts, scratch, block, (uint64_t)job->size_class);
  gather(darts, block, scratch);
  for (int64_t s = 0; s < wanted; s++) {
    random = rng_mix(random);
    double radius = sizes_at(darts->sizes, (job->size_class + rng_unit(random)) / SIZE_CLASSES);
    radius = (double)(float)radius;
    for (int t = 0; t < THROWS_PER_SPHERE; t++) {
      random = rng_mix(random);
      int pick = (int)((random >> 32) * (uint64_t)count >> 32);
      Cell cell = cell_at(blocks, block, scratch->order[pick]);
      cell.random = random;
      float point[3];
      throw_into(&cell, cell.center, blocks->cell / 2, point);
      if (KERNEL_CALL(darts->core, spheres_conflict)(gathered_at(scratch, cell.index), point,
                                                     (float)(darts->shrink * radius)))
        continue;
      if (allowed(darts, scratch, &cell, point, radius) && place(darts, scratch, block, point, radius)) break;
    }
  }
}

static void size_body(void *context, int64_t b, int64_t e, int thread) {
  const SizeJob *job = context;
  for (int64_t k = b; k < e; k++) size_block(job, &job->darts->scratch[thread], job->order[k]);
}

void darts_throw_sizes(Darts *darts, double fraction) {
  Blocks *blocks = darts->blocks;
  double cell_volume = blocks->cell * blocks->cell * blocks->cell;
  SizeJob job = {.darts = darts, .order = blocks->color_order};
  job.per_cell = fraction * cell_volume / darts->sizes->mean_volume / SIZE_CLASSES;
  for (job.size_class = SIZE_CLASSES - 1; job.size_class >= 0; job.size_class--) {
    for (int color = 0; color < BLOCK_COLORS; color++)
      parallel_for(darts->core, blocks->color_start[color], blocks->color_start[color + 1], 2, size_body, &job);
    progress_done(darts->core, 1 - (double)job.size_class / SIZE_CLASSES);
  }
}

/* Within a diameter of a wall: the share of what a tile is thrown with that a cut leaves room for, and how much less
 * crowded the throws are. There are gaps enough, and where it is crowded in corners pushing apart takes long. */
#define CUT_EMPTY 0.6
#define CUT_SHRINK 1.03

static void close_far_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Darts *darts = context;
  const Blocks *blocks = darts->blocks;
  double reach = 2 * darts->sizes->largest;
  for (int64_t block = b; block < e; block++)
    for (int k = 0; k < BLOCK_CELL_COUNT && block_row(blocks, block) >= 0; k++)
      if (block_cell_active(blocks, block, k) &&
          !region_blocked(darts->region, block_cell_center(blocks, block, k), reach))
        block_cell_close(darts->blocks, block, k);
}

void darts_throw_at_obstacles(Darts *darts, const TileKind *kind) {
  parallel_for(darts->core, 0, darts->blocks->count, 16, close_far_body, darts);
  darts->shrink = CUT_SHRINK * kind->shrink;
  if (darts->sizes->quantile) darts_throw_sizes(darts, CUT_EMPTY * kind->throws);
  else darts_throw_equal(darts);
}
