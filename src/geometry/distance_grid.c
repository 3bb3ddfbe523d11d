#define LANE_SCALAR /* the law for one point */
#include "geometry/distance_grid.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "geometry/bvh_nodes.h"
#include "geometry/grid_cache.h"
#include "geometry/grid_spot_shared.h"
#include "geometry/sides.h"
#include "geometry/triangle_law.h"
#include "geometry/triangle_kernels.h"
#include "geometry/trilinear_law.h"

/* Blocks are marked in cubes of so many a side, each by one thread. Those with nodes are marked, until they have their
 * places, by the side that all of their nodes are on, where it is known. */
enum { MARK_CUBE = 16 };
enum { MARK_CROSSED, MARK_ALL_OUTSIDE, MARK_ALL_INSIDE };

typedef struct GridTask {
  Core *core;
  DistanceGrid *grid;
  const Shape *shape;
  int32_t *block_of; /* of the blocks with nodes: their place in the table */
  uint8_t *mark_of;  /* and their mark */
} GridTask;

static Vec3 node_position(const DistanceGrid *grid, int64_t x, int64_t y, int64_t z) {
  double cell = (double)grid->cell;
  return vec3(grid->low.x + (double)x * cell, grid->low.y + (double)y * cell, grid->low.z + (double)z * cell);
}

static bool mesh_contains(const Shape *shape, Vec3 p) { return bvh_winding(shape->bvh, p) > 0.5; }

/* Away from the surface the side cannot change, so it is asked once for the largest cube that is; `known` is that of
 * the cube round this one. */
static void mark_cube(const GridTask *task, const int32_t low[3], int32_t size, int32_t known) {
  DistanceGrid *grid = task->grid;
  if (low[0] >= grid->blocks[0] || low[1] >= grid->blocks[1] || low[2] >= grid->blocks[2]) return;
  double half = 0.5 * GRID_BLOCK * size * (double)grid->cell, reach = (double)grid->band + half * sqrt(3.0);
  Vec3 corner = node_position(grid, low[0] * GRID_BLOCK, low[1] * GRID_BLOCK, low[2] * GRID_BLOCK);
  Vec3 middle = vec3_add(corner, vec3(half, half, half));
  BvhHit hit = bvh_closest(task->shape->bvh, middle, reach);
  if (known == MARK_CROSSED && hit.distance > half * 1.7321)
    known = mesh_contains(task->shape, middle) ? MARK_ALL_INSIDE : MARK_ALL_OUTSIDE;
  if (hit.triangle >= 0 && size > 1) {
    int32_t part = size / 2;
    for (int k = 0; k < 8; k++)
      mark_cube(task, (int32_t[3]){low[0] + (k & 1) * part, low[1] + (k >> 1 & 1) * part, low[2] + (k >> 2) * part},
                part, known);
    return;
  }
  int32_t mark = hit.triangle >= 0 ? known : known == MARK_ALL_INSIDE ? GRID_INSIDE : GRID_OUTSIDE, high[3];
  for (int a = 0; a < 3; a++) high[a] = low[a] + size < grid->blocks[a] ? low[a] + size : grid->blocks[a];
  for (int64_t z = low[2]; z < high[2]; z++)
    for (int64_t y = low[1]; y < high[1]; y++)
      for (int64_t x = low[0]; x < high[0]; x++) grid->table[(z * grid->blocks[1] + y) * grid->blocks[0] + x] = mark;
}

static int64_t cubes_along(const DistanceGrid *grid, int axis) {
  return parallel_chunks(0, grid->blocks[axis], MARK_CUBE);
}

static void mark_cubes(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const GridTask *task = context;
  int64_t nx = cubes_along(task->grid, 0), ny = cubes_along(task->grid, 1);
  for (int64_t k = b; k < e; k++)
    mark_cube(task,
              (int32_t[3]){(int32_t)(k % nx) * MARK_CUBE, (int32_t)(k / nx % ny) * MARK_CUBE,
                           (int32_t)(k / nx / ny) * MARK_CUBE},
              MARK_CUBE, MARK_CROSSED);
}

/* Nodes [low, high) of a block whose first node is `first`, in the grid's nodes. */
typedef struct NodeBox {
  int64_t first[3];
  int low[3], high[3];
} NodeBox;

static int node_index(const int at[3]) { return (at[2] * GRID_SIDE + at[1]) * GRID_SIDE + at[0]; }

static Vec3 box_node(const DistanceGrid *grid, const NodeBox *box, int node) {
  return node_position(grid, box->first[0] + node % GRID_SIDE, box->first[1] + node / GRID_SIDE % GRID_SIDE,
                       box->first[2] + node / (GRID_SIDE * GRID_SIDE));
}

/* Nodes of a box in cubes of two a side: at most so many, padded to whole lanes. */
enum { NODE_CUBES = 27 };
#define CUBE_HALF 0.8661f /* of a cube's diagonal, in cells */
/* Positions of triangles as floats, in cells from the middle of a block, are off by far less. */
#define CUBE_SLACK 1e-3f

typedef struct NodeCube {
  int node[LANES]; /* its nodes, the first of them again where it has fewer */
  int count;
} NodeCube;

static int cut_into_cubes(const NodeBox *box, NodeCube cubes[NODE_CUBES]) {
  int count = 0;
  for (int z = box->low[2]; z < box->high[2]; z += 2)
    for (int y = box->low[1]; y < box->high[1]; y += 2)
      for (int x = box->low[0]; x < box->high[0]; x += 2) {
        NodeCube *cube = &cubes[count++];
        cube->count = 0;
        for (int k = 0; k < LANES; k++) {
          const int at[3] = {x + (k & 1), y + (k >> 1 & 1), z + (k >> 2)};
          if (at[0] < box->high[0] && at[1] < box->high[1] && at[2] < box->high[2])
            cube->node[cube->count++] = node_index(at);
        }
        for (int k = cube->count; k < LANES; k++) cube->node[k] = cube->node[0];
      }
  return count;
}

/* In cells from the middle of a box. */
static void lane_place(const DistanceGrid *grid, Vec3 middle, Vec3 p, float at[3][LANES], int lane) {
  Vec3 from = vec3_scale(vec3_sub(p, middle), 1 / (double)grid->cell);
  at[0][lane] = (float)from.x, at[1][lane] = (float)from.y, at[2][lane] = (float)from.z;
}

/* Those near a box, in cells from its middle, and their places in the tree. */
typedef struct NearTriangles {
  const int32_t *places;
  TriangleList list;
} NearTriangles;

/* Single precision says which of the triangles near a cube is nearest to each of its nodes, and how far that is, is
 * computed exactly. */
static void fill_cube(const GridTask *task, const NodeBox *box, Vec3 middle, const NodeCube *cube,
                      const NearTriangles *near, const int32_t *some, int64_t count, float *distance) {
  const Bvh *bvh = task->shape->bvh;
  float at[3][LANES];
  int32_t nearest[LANES];
  Vec3 p[LANES];
  for (int k = 0; k < LANES; k++) {
    p[k] = box_node(task->grid, box, cube->node[k]);
    lane_place(task->grid, middle, p[k], at, k);
  }
  KERNEL_CALL(task->core, triangles_nearest)(&near->list, some, count, at[0], at[1], at[2], nearest);
  for (int k = 0; k < cube->count; k++) {
    Vec3 from = vec3_sub(p[k], bvh->origin);
    Vec3 to = triangle_closest(&bvh->triangles[near->places[nearest[k]]], from);
    distance[cube->node[k]] = (float)vec3_length(vec3_sub(from, to));
  }
}

/* Distances of the nodes of a box from the triangles near it. For each cube of nodes only those count that are not much
 * farther from its middle than the nearest. */
static void fill_from(const GridTask *task, const NodeBox *box, Vec3 middle, const int32_t *places, int64_t count,
                      float *distance) {
  const DistanceGrid *grid = task->grid;
  const Bvh *bvh = task->shape->bvh;
  double cell = (double)grid->cell;
  NearTriangles near; /* not cleared: it has room for many */
  near.places = places;
  near.list.count = 0;
  for (int64_t k = 0; k < count; k++) {
    const BvhTriangle *t = &bvh->triangles[places[k]];
    Vec3 a = vec3_scale(vec3_sub(vec3_add(t->a, bvh->origin), middle), 1 / cell);
    Vec3 corners[3] = {a, vec3_madd(a, t->ab, 1 / cell), vec3_madd(a, t->ac, 1 / cell)};
    triangle_list_push(&near.list, corners);
  }
  NodeCube cubes[NODE_CUBES + LANES];
  int cube_count = cut_into_cubes(box, cubes);
  for (int first = 0; first < cube_count; first += LANES) {
    float at[3][LANES], squares[TRIANGLES_MAX][LANES], within[LANES];
    for (int k = 0; k < LANES; k++) {
      const NodeCube *cube = &cubes[first + k < cube_count ? first + k : first];
      Vec3 low = box_node(grid, box, cube->node[0]);
      lane_place(grid, middle, vec3_add(low, vec3(cell / 2, cell / 2, cell / 2)), at, k);
    }
    KERNEL_CALL(task->core, triangles_squares)(&near.list, at[0], at[1], at[2], squares, within);
    for (int k = 0; k < LANES && first + k < cube_count; k++) {
      float most = sqrtf(within[k]) + 2 * CUBE_HALF + CUBE_SLACK;
      int32_t some[TRIANGLES_MAX];
      int64_t found = 0;
      for (int64_t i = 0; i < count; i++)
        if (squares[i][k] <= most * most) some[found++] = (int32_t)i;
      fill_cube(task, box, middle, &cubes[first + k], &near, some, found, distance);
    }
  }
}

/* The triangle nearest to any node of a box is no farther from the middle than the nearest to the middle and the box's
 * whole diagonal. Where those are too many to list the box is cut, down to single nodes. */
static void fill_box(const GridTask *task, const NodeBox *box, float *distance) {
  const DistanceGrid *grid = task->grid;
  const Bvh *bvh = task->shape->bvh;
  int side[3], longest = 0, last[3];
  double square = 0;
  for (int a = 0; a < 3; a++) {
    side[a] = box->high[a] - box->low[a];
    square += (side[a] - 1.0) * (side[a] - 1.0);
    if (side[a] > side[longest]) longest = a;
    last[a] = box->high[a] - 1;
  }
  double half = 0.5 * sqrt(square) * (double)grid->cell;
  Vec3 middle =
      vec3_scale(vec3_add(box_node(grid, box, node_index(box->low)), box_node(grid, box, node_index(last))), 0.5);
  double nearest = bvh_closest(bvh, middle, INFINITY).distance;
  if (side[longest] == 1) {
    distance[node_index(box->low)] = (float)nearest;
    return;
  }
  int32_t places[TRIANGLES_MAX];
  int64_t count = bvh_near(bvh, middle, (nearest + 2 * half) * 1.000001, TRIANGLES_MAX, places);
  if (count > 0 && count <= TRIANGLES_MAX) {
    fill_from(task, box, middle, places, count, distance);
    return;
  }
  NodeBox parts[2] = {*box, *box};
  parts[0].high[longest] = parts[1].low[longest] = box->low[longest] + side[longest] / 2;
  for (int k = 0; k < 2; k++) fill_box(task, &parts[k], distance);
}

typedef struct NodeSides {
  const GridTask *task;
  const NodeBox *box;
} NodeSides;

static bool node_inside(const void *context, int k) {
  const NodeSides *sides = context;
  return mesh_contains(sides->task->shape, box_node(sides->task->grid, sides->box, k));
}

static NodeBox block_box(const GridTask *task, int64_t block) {
  const DistanceGrid *grid = task->grid;
  int64_t place = task->block_of[block], row = place / grid->blocks[0];
  return (NodeBox){.first = {place % grid->blocks[0] * GRID_BLOCK, row % grid->blocks[1] * GRID_BLOCK,
                             row / grid->blocks[1] * GRID_BLOCK},
                   .high = {GRID_BLOCK, GRID_BLOCK, GRID_BLOCK}};
}

/* The nodes of a block that no block before it has. */
static void fill_blocks(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const GridTask *task = context;
  for (int64_t block = b; block < e; block++) {
    NodeBox box = block_box(task, block);
    fill_box(task, &box, task->grid->values + block * GRID_NODES);
  }
}

/* The nodes that a block shares with those behind it: copied from the one that has filled them, or, where there is
 * none, computed. `part` says along which axes it is behind. */
static void fill_border(const GridTask *task, int64_t block, int part) {
  const DistanceGrid *grid = task->grid;
  float *values = grid->values + block * GRID_NODES;
  NodeBox box = block_box(task, block);
  int64_t behind[3];
  bool there = true;
  for (int axis = 0; axis < 3; axis++) {
    behind[axis] = box.first[axis] / GRID_BLOCK + (part >> axis & 1);
    there = there && behind[axis] < grid->blocks[axis];
    if (part >> axis & 1) box.low[axis] = GRID_BLOCK, box.high[axis] = GRID_SIDE;
  }
  int32_t from =
      there ? grid->table[(behind[2] * grid->blocks[1] + behind[1]) * grid->blocks[0] + behind[0]] : GRID_OUTSIDE;
  if (from < 0) {
    fill_box(task, &box, values);
    return;
  }
  int at[3];
  for (at[2] = box.low[2]; at[2] < box.high[2]; at[2]++)
    for (at[1] = box.low[1]; at[1] < box.high[1]; at[1]++)
      for (at[0] = box.low[0]; at[0] < box.high[0]; at[0]++) {
        const int there_at[3] = {at[0] % GRID_BLOCK, at[1] % GRID_BLOCK, at[2] % GRID_BLOCK};
        values[node_index(at)] = grid->values[from + node_index(there_at)];
      }
}

static void fill_borders(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const GridTask *task = context;
  for (int64_t block = b; block < e; block++)
    for (int part = 1; part < 8; part++) fill_border(task, block, part);
}

static void sign_blocks(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const GridTask *task = context;
  const DistanceGrid *grid = task->grid;
  for (int64_t block = b; block < e; block++) {
    NodeBox box = block_box(task, block);
    float *values = grid->values + block * GRID_NODES;
    uint8_t inside[GRID_NODES];
    NodeSides sides = {task, &box};
    if (task->mark_of[block] == MARK_CROSSED) find_sides(GRID_SIDE, grid->cell, values, node_inside, &sides, inside);
    else memset(inside, task->mark_of[block] == MARK_ALL_INSIDE, sizeof inside);
    for (int k = 0; k < GRID_NODES; k++)
      if (inside[k]) values[k] = -values[k];
  }
}

static Status grid_refuse(Core *core, const DistanceGrid *grid, double bytes) {
  return fail(core, SCREE_NO_MEMORY, "a distance grid of %d x %d x %d blocks with cells of %g m would need %.0f MB",
              grid->blocks[0], grid->blocks[1], grid->blocks[2], (double)grid->cell, bytes / 1e6);
}

static Status build(Core *core, GridTask *task, double cell, double band) {
  DistanceGrid *grid = task->grid;
  const Shape *shape = task->shape;
  Vec3 margin = vec3(band + cell, band + cell, band + cell);
  Vec3 size = vec3_sub(vec3_add(shape->bounds_high, margin), vec3_sub(shape->bounds_low, margin));
  for (int k = 0; k < 3; k++) grid->low_f[k] = (float)vec3_get(vec3_sub(shape->bounds_low, margin), k);
  grid->low = vec3((double)grid->low_f[0], (double)grid->low_f[1], (double)grid->low_f[2]);
  grid->cell = (float)cell;
  grid->inverse_cell = (float)(1 / (double)grid->cell);
  grid->band = nextafterf((float)band, INFINITY); /* not less than asked for: a reach of `band` must be served */
  double total = 1;
  for (int k = 0; k < 3; k++) {
    double blocks = ceil(vec3_get(size, k) / (GRID_BLOCK * (double)grid->cell));
    /* Cell coordinates are floats: beyond 2^20 of them little would be left between two nodes. */
    if (!(blocks < (1 << 20) / GRID_BLOCK))
      return fail(core, SCREE_BAD_INPUT, "cells of %g m are too small for a mesh of %g m", cell, vec3_length(size));
    grid->blocks[k] = blocks < 1 ? 1 : (int32_t)blocks;
    total *= grid->blocks[k];
  }
  if (total * 4 > 0.25 * (double)memory_left(&core->memory) || total > INT32_MAX)
    return grid_refuse(core, grid, total * 4);
  GridKey key = grid_cache_key(grid, shape);
  if (grid_cache_load(core, key, grid)) return SCREE_OK;
  TRY(memory_new(core, &grid->table, (int64_t)total, "distance grid"));
  parallel_for(core, 0, cubes_along(grid, 0) * cubes_along(grid, 1) * cubes_along(grid, 2), 1, mark_cubes, task);
  for (int64_t k = 0; k < (int64_t)total; k++)
    if (grid->table[k] >= 0) grid->block_count++;
  double bytes = (double)grid->block_count * GRID_NODES * 4;
  if (bytes > 0.5 * (double)memory_left(&core->memory) || grid->block_count > INT32_MAX / GRID_NODES)
    return grid_refuse(core, grid, bytes);
  TRY(memory_new(core, &task->block_of, grid->block_count, "distance grid"));
  TRY(memory_new(core, &task->mark_of, grid->block_count, "distance grid"));
  TRY(memory_new(core, &grid->values, grid->block_count * GRID_NODES, "distance grid"));
  int32_t next = 0;
  for (int64_t k = 0; k < (int64_t)total; k++) {
    if (grid->table[k] < 0) continue;
    task->block_of[next] = (int32_t)k;
    task->mark_of[next] = (uint8_t)grid->table[k];
    grid->table[k] = next++ * GRID_NODES;
  }
  parallel_for(core, 0, grid->block_count, 8, fill_blocks, task);
  parallel_for(core, 0, grid->block_count, 8, fill_borders, task);
  parallel_for(core, 0, grid->block_count, 8, sign_blocks, task);
  grid_cache_store(core, key, grid);
  return SCREE_OK;
}

Status distance_grid_build(Core *core, const Shape *shape, double cell, double band, DistanceGrid **grid) {
  TRY(memory_new(core, grid, 1, "distance grid"));
  GridTask task = {.core = core, .grid = *grid, .shape = shape};
  Status status = build(core, &task, cell, band);
  memory_drop(core, &task.block_of);
  memory_drop(core, &task.mark_of);
  if (status != SCREE_OK) {
    distance_grid_destroy(core, *grid);
    *grid = NULL;
  }
  return status;
}

void distance_grid_destroy(Core *core, DistanceGrid *grid) {
  if (!grid) return;
  memory_drop(core, &grid->table);
  memory_drop(core, &grid->values);
  memory_drop(core, &grid);
}

bool distance_grid_point(const DistanceGrid *grid, Vec3 point, double reach, ShapePoint *answer) {
  const GridAxes axes = grid_axes(grid);
  const GridSpot spot = grid_spot(&axes, point);
  const int32_t place = spot.block < 0 ? GRID_OUTSIDE : grid->table[spot.block];
  if (place < 0) {
    if (reach > (double)grid->band) return false;
    *answer = grid_spot_beyond(place == GRID_INSIDE, grid->band);
    return true;
  }
  Corners corners;
  for (int k = 0; k < 8; k++) corners.v[k] = grid->values[place + spot.corner + grid_corner(k)];
  *answer = grid_spot_point(corners, spot);
  return true;
}

typedef struct Wall {
  double thickness, area;
} Wall;

static int wall_order(const void *left, const void *right) {
  const Wall *a = left, *b = right;
  return a->thickness < b->thickness ? -1 : a->thickness > b->thickness;
}

typedef struct WallSearch {
  const Shape *shape;
  int64_t step; /* every so manieth triangle is asked */
  double skip;
  Wall *walls; /* by question; of no area where there is none */
} WallSearch;

/* From a triangle to the opposite face behind it. */
static void find_walls(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const WallSearch *search = context;
  const Shape *shape = search->shape;
  const Mesh *mesh = &shape->mesh;
  double skip = search->skip;
  for (int64_t k = b; k < e; k++) {
    int64_t t = k * search->step;
    const int32_t *corner = mesh->triangles[t];
    Vec3 a = mesh->vertices[corner[0]], ab = vec3_sub(mesh->vertices[corner[1]], a),
         ac = vec3_sub(mesh->vertices[corner[2]], a);
    Vec3 cross = vec3_cross(ab, ac), normal = vec3_normalize(cross);
    Vec3 middle = vec3_add(a, vec3_scale(vec3_add(ab, ac), 1.0 / 3));
    BvhHit hit = bvh_ray(shape->bvh, vec3_madd(middle, normal, -skip), vec3_scale(normal, -1), INFINITY);
    /* Only nearly parallel faces bound a wall; a wedge is thin at its edge whatever the cell. */
    if (hit.triangle < 0 || hit.triangle == t || vec3_dot(hit.normal, normal) > -0.9) continue;
    /* Where parts overlap, faces lie within the solid: they bound nothing. */
    if (mesh_contains(shape, vec3_madd(middle, normal, skip))) continue;
    if (mesh_contains(shape, vec3_madd(hit.point, normal, -skip))) continue;
    search->walls[k] = (Wall){hit.distance + skip, 0.5 * vec3_length(cross)};
  }
}

/* The thickness that only a fiftieth of the walls, by area, stays below. */
static Status thin_wall(Core *core, const Shape *shape, double *thin) {
  enum { ASKED = 4096 };
  int64_t triangles = shape->mesh.triangle_count, found = 0;
  WallSearch search = {.shape = shape, .step = (triangles + ASKED - 1) / ASKED};
  search.skip = 1e-7 * vec3_length(vec3_sub(shape->bounds_high, shape->bounds_low));
  int64_t asked = search.step > 0 ? parallel_chunks(0, triangles, search.step) : 0;
  TRY(memory_new(core, &search.walls, ASKED, "wall thickness"));
  parallel_for(core, 0, asked, 16, find_walls, &search);
  Wall *walls = search.walls;
  for (int64_t k = 0; k < asked; k++)
    if (walls[k].area > 0) walls[found++] = walls[k];
  double area = 0, below = 0;
  for (int64_t k = 0; k < found; k++) area += walls[k].area;
  qsort(walls, (size_t)found, sizeof *walls, wall_order);
  *thin = INFINITY;
  for (int64_t k = 0; k < found && below <= area / 50; k++) {
    below += walls[k].area;
    *thin = walls[k].thickness;
  }
  memory_drop(core, &walls);
  return SCREE_OK;
}

Status shape_cache_distance(Core *core, Shape *shape, double cell, double band, double wide) {
  if (!(cell > 0) || !(band >= 0) || !isfinite(cell + band))
    return fail(core, SCREE_BAD_ARGUMENT, "a distance grid needs a positive cell and a band");
  if (shape->kind != SCREE_SHAPE_MESH || shape->grid) return SCREE_OK;
  if (!shape->findings.closed) {
    log_line(core, SCREE_LOG_INFO, "an open mesh keeps exact distances: its two sides cannot be told apart on a grid");
    return SCREE_OK;
  }
  double thin = INFINITY;
  TRY(thin_wall(core, shape, &thin));
  double fine = fmax(thin / 2, cell / 4);
  if (fine < cell) {
    log_line(core, SCREE_LOG_INFO, "walls of %.3g m: the distance grid gets cells of %.3g m instead of %.3g m", thin,
             fine, cell);
    cell = fine;
  } else band = fmax(band, wide);
  return distance_grid_build(core, shape, cell, band, &shape->grid);
}

static bool meshes_are_equal(const Mesh *a, const Mesh *b) {
  return a->vertex_count == b->vertex_count && a->triangle_count == b->triangle_count &&
         memcmp(a->triangles, b->triangles, sizeof *a->triangles * (size_t)a->triangle_count) == 0 &&
         memcmp(a->vertices, b->vertices, sizeof *a->vertices * (size_t)a->vertex_count) == 0;
}

Status shape_copy_distance(Core *core, const Shape *from, Shape *shape, bool *copied) {
  const DistanceGrid *grid = from->grid;
  *copied = shape->kind == SCREE_SHAPE_MESH && from->kind == SCREE_SHAPE_MESH && grid && !shape->grid &&
            meshes_are_equal(&from->mesh, &shape->mesh);
  if (!*copied) return SCREE_OK;
  int64_t places = (int64_t)grid->blocks[0] * grid->blocks[1] * grid->blocks[2];
  int64_t nodes = grid->block_count * GRID_NODES;
  TRY(memory_new(core, &shape->grid, 1, "distance grid"));
  DistanceGrid *copy = shape->grid;
  *copy = *grid;
  copy->table = NULL;
  copy->values = NULL;
  TRY(memory_new(core, &copy->table, places, "distance grid"));
  TRY(memory_new(core, &copy->values, nodes, "distance grid"));
  memcpy(copy->table, grid->table, sizeof *copy->table * (size_t)places);
  memcpy(copy->values, grid->values, sizeof *copy->values * (size_t)nodes);
  return SCREE_OK;
}
