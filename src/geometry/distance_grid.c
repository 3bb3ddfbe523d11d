#define LANE_SCALAR /* the law for one point */
#include "geometry/distance_grid.h"

#include <stdlib.h>

#include "core/parallel.h"
#include "geometry/trilinear_law.h"

typedef struct GridTask {
  DistanceGrid *grid;
  const Shape *shape;
  int32_t *block_of; /* of the blocks with nodes: their place in the table */
} GridTask;

static Vec3 node_position(const DistanceGrid *grid, int64_t x, int64_t y, int64_t z) {
  double cell = (double)grid->cell;
  return vec3(grid->low.x + (double)x * cell, grid->low.y + (double)y * cell, grid->low.z + (double)z * cell);
}

static bool mesh_contains(const Shape *shape, Vec3 p) { return bvh_winding(shape->bvh, p) > 0.5; }

/* Rows of blocks along x: which come near the surface, and on which side of it the others are. Between two neighbours
 * away from the surface the side cannot change, so it is asked once per stretch. */
static void mark_rows(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  GridTask *task = context;
  DistanceGrid *grid = task->grid;
  double half = 0.5 * GRID_BLOCK, reach = (double)grid->band + half * sqrt(3.0) * (double)grid->cell;
  for (int64_t row = b; row < e; row++) {
    int64_t y = row % grid->blocks[1], z = row / grid->blocks[1];
    int32_t *table = grid->table + row * grid->blocks[0];
    int32_t side = 0;
    for (int32_t x = 0; x < grid->blocks[0]; x++) {
      Vec3 middle = node_position(grid, x * GRID_BLOCK, y * GRID_BLOCK, z * GRID_BLOCK);
      middle = vec3_add(middle, vec3_scale(vec3(half, half, half), (double)grid->cell));
      if (bvh_closest(task->shape->bvh, middle, reach).triangle >= 0) {
        table[x] = 0;
        side = 0;
      } else {
        if (side == 0) side = mesh_contains(task->shape, middle) ? GRID_INSIDE : GRID_OUTSIDE;
        table[x] = side;
      }
    }
  }
}

/* Walks the nodes of a block in a snake, so that each is one cell from the one before: that bounds the search, and the
 * side needs asking only when the surface may lie between. */
static void fill_blocks(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  GridTask *task = context;
  DistanceGrid *grid = task->grid;
  double cell = (double)grid->cell;
  for (int64_t block = b; block < e; block++) {
    int64_t place = task->block_of[block], row = place / grid->blocks[0];
    int64_t x0 = place % grid->blocks[0] * GRID_BLOCK, y0 = row % grid->blocks[1] * GRID_BLOCK;
    int64_t z0 = row / grid->blocks[1] * GRID_BLOCK;
    float *values = grid->values + block * GRID_NODES;
    double last = INFINITY;
    bool contained = false;
    for (int k = 0; k < GRID_NODES; k++) {
      int z = k / (GRID_SIDE * GRID_SIDE), y = k / GRID_SIDE % GRID_SIDE, x = k % GRID_SIDE;
      if (z % 2) y = GRID_SIDE - 1 - y;
      if ((k / GRID_SIDE) % 2) x = GRID_SIDE - 1 - x;
      Vec3 p = node_position(grid, x0 + x, y0 + y, z0 + z);
      double distance = bvh_closest(task->shape->bvh, p, (last + cell) * 1.000001).distance;
      if (k == 0 || !(last > cell * 1.000001)) contained = mesh_contains(task->shape, p);
      values[(z * GRID_SIDE + y) * GRID_SIDE + x] = (float)(contained ? -distance : distance);
      last = distance;
    }
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
  int64_t rows = (int64_t)grid->blocks[1] * grid->blocks[2];
  TRY(memory_new(core, &grid->table, (int64_t)total, "distance grid"));
  parallel_for(core, 0, rows, 4, mark_rows, task);
  for (int64_t k = 0; k < (int64_t)total; k++)
    if (grid->table[k] == 0) grid->block_count++;
  double bytes = (double)grid->block_count * GRID_NODES * 4;
  if (bytes > 0.5 * (double)memory_left(&core->memory) || grid->block_count > INT32_MAX / GRID_NODES)
    return grid_refuse(core, grid, bytes);
  TRY(memory_new(core, &task->block_of, grid->block_count, "distance grid"));
  TRY(memory_new(core, &grid->values, grid->block_count * GRID_NODES, "distance grid"));
  int32_t next = 0;
  for (int64_t k = 0; k < (int64_t)total; k++) {
    if (grid->table[k] != 0) continue;
    task->block_of[next] = (int32_t)k;
    grid->table[k] = next++ * GRID_NODES;
  }
  parallel_for(core, 0, grid->block_count, 8, fill_blocks, task);
  return SCREE_OK;
}

Status distance_grid_build(Core *core, const Shape *shape, double cell, double band, DistanceGrid **grid) {
  TRY(memory_new(core, grid, 1, "distance grid"));
  GridTask task = {.grid = *grid, .shape = shape};
  Status status = build(core, &task, cell, band);
  memory_drop(core, &task.block_of);
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
  Vec3 at = vec3_scale(vec3_sub(point, grid->low), 1 / (double)grid->cell);
  float left[3];
  int32_t corner = 0, place = grid_place(grid, (float)at.x, (float)at.y, (float)at.z, left, &corner);
  if (place < 0) {
    if (reach > (double)grid->band) return false;
    double beyond = (double)grid->band * (1 + 1e-6);
    *answer = (ShapePoint){place == GRID_INSIDE ? -beyond : beyond, vec3(0, 0, 1)};
    return true;
  }
  Corners corners;
  for (int k = 0; k < 8; k++) corners.v[k] = grid->values[place + corner + grid_corner(k)];
  Trilinear here = trilinear(corners, vec_make(left[0], left[1], left[2]));
  Vec3 gradient = vec3((double)here.gradient.x, (double)here.gradient.y, (double)here.gradient.z);
  double length = vec3_length(gradient);
  *answer = (ShapePoint){(double)here.value, length > 0 ? vec3_scale(gradient, 1 / length) : vec3(0, 0, 1)};
  return true;
}

typedef struct Wall {
  double thickness, area;
} Wall;

static int wall_order(const void *left, const void *right) {
  const Wall *a = left, *b = right;
  return a->thickness < b->thickness ? -1 : a->thickness > b->thickness;
}

/* From some of the triangles to the opposite face behind them. */
static int64_t find_walls(const Shape *shape, Wall *walls, int64_t most) {
  const Mesh *mesh = &shape->mesh;
  int64_t step = (mesh->triangle_count + most - 1) / most, found = 0;
  double skip = 1e-7 * vec3_length(vec3_sub(shape->bounds_high, shape->bounds_low));
  for (int64_t t = 0; t < mesh->triangle_count; t += step) {
    const int32_t *corner = mesh->triangles[t];
    Vec3 a = mesh->vertices[corner[0]], b = mesh->vertices[corner[1]], c = mesh->vertices[corner[2]];
    Vec3 cross = vec3_cross(vec3_sub(b, a), vec3_sub(c, a)), normal = vec3_normalize(cross);
    Vec3 middle = vec3_scale(vec3_add(a, vec3_add(b, c)), 1.0 / 3);
    BvhHit hit = bvh_ray(shape->bvh, vec3_madd(middle, normal, -skip), vec3_scale(normal, -1), INFINITY);
    /* Only nearly parallel faces bound a wall; a wedge is thin at its edge whatever the cell. */
    if (hit.triangle < 0 || hit.triangle == t || vec3_dot(hit.normal, normal) > -0.9) continue;
    /* Where parts overlap, faces lie within the solid: they bound nothing. */
    if (mesh_contains(shape, vec3_madd(middle, normal, skip))) continue;
    if (mesh_contains(shape, vec3_madd(hit.point, normal, -skip))) continue;
    walls[found++] = (Wall){hit.distance + skip, 0.5 * vec3_length(cross)};
  }
  return found;
}

/* The thickness that only a fiftieth of the walls, by area, stays below. */
static Status thin_wall(Core *core, const Shape *shape, double *thin) {
  enum { ASKED = 4096 };
  Wall *walls = NULL;
  TRY(memory_new(core, &walls, ASKED, "wall thickness"));
  int64_t found = find_walls(shape, walls, ASKED);
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

Status shape_cache_distance(Core *core, Shape *shape, double cell, double band) {
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
  }
  return distance_grid_build(core, shape, cell, band, &shape->grid);
}
