/* What a sphere touches of a shape with faces. Meshes have the triangles that matter listed by the blocks of their
 * distance grid; without a list, or beyond its reach, the tree finds them. */
#define LANE_SCALAR
#include <string.h>

#include "core/parallel.h"
#include "geometry/bvh_nodes.h"
#include "geometry/distance_grid.h"
#include "geometry/grid_spot_shared.h"
#include "geometry/shape.h"

/* Triangles near a sphere that are looked at, by the tree and by lists. Where there are more it touches the nearest
 * point alone. */
enum { NEAR_MOST = 512, LISTED_MOST = 2048 };

/* Triangles near a sphere: their places in the tree. */
typedef struct NearMesh {
  const Shape *shape;
  const int32_t *places;
  int count;
} NearMesh;

static int near_count(NearMesh mesh) { return mesh.count; }
static int near_face(NearMesh mesh, int k) { return mesh.shape->faces.of[mesh.shape->bvh->order[mesh.places[k]]]; }
static BvhTriangle near_triangle(NearMesh mesh, int k) { return mesh.shape->bvh->triangles[mesh.places[k]]; }
static Vec3 near_corner(NearMesh mesh, int k, int corner) {
  const Mesh *of = &mesh.shape->mesh;
  const int32_t *corners = of->triangles[mesh.shape->bvh->order[mesh.places[k]]];
  return vec3_sub(of->vertices[corners[corner]], mesh.shape->bvh->origin);
}

#include "geometry/mesh_touch_shared.h"

static bool has_one_face(NearMesh mesh) {
  for (int k = 1; k < mesh.count; k++)
    if (near_face(mesh, k) != near_face(mesh, 0)) return false;
  return true;
}

/* From what is listed for the point's block. */
static int listed_touches(const Shape *shape, Vec3 p, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  const MeshFaces *faces = &shape->faces;
  const GridAxes axes = grid_axes(shape->grid);
  const int32_t block = grid_spot(&axes, p).block, place = block < 0 ? GRID_OUTSIDE : shape->grid->table[block];
  if (place < 0) return 1;
  const int32_t entry = faces->block[place / GRID_NODES];
  if (entry >= GRID_BLOCK_FACELESS) {
    contacts[0].face = entry >= 0 ? entry : 0;
    return 1;
  }
  const int32_t *begin = faces->begin + grid_block_list(entry);
  const NearMesh mesh = {shape, faces->list + begin[0], begin[1] - begin[0]};
  return mesh_faces_touched(mesh, vec3_sub(p, shape->bvh->origin), reach, (double)shape->grid->cell, contacts);
}

static int mesh_touches(const Shape *shape, Vec3 p, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  int32_t places[NEAR_MOST];
  if (shape->faces.reach > 0 && reach <= shape->faces.reach) return listed_touches(shape, p, reach, contacts);
  const double blurred = shape->grid ? (double)shape->grid->cell : 0;
  const int64_t count = bvh_near(shape->bvh, p, reach + blurred, NEAR_MOST, places);
  if (count < 1 || count > NEAR_MOST) return 1;
  const NearMesh mesh = {shape, places, (int)count};
  if (has_one_face(mesh)) {
    contacts[0].face = near_face(mesh, 0);
    return 1;
  }
  return mesh_faces_touched(mesh, vec3_sub(p, shape->bvh->origin), reach, blurred, contacts);
}

/* A mesh with holes has no inside but near its surface: farther in, what winds round a point says something and jumps
 * to something else where nothing is. */
static bool is_in_nothing(const Shape *shape, double distance, double reach) {
  return shape->kind == SCREE_SHAPE_MESH && !shape->findings.closed && distance < -reach;
}

int shape_touches(const Shape *shape, Vec3 point, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  int count = shape_contacts(shape, point, reach, contacts);
  if (count > 0 && is_in_nothing(shape, contacts[0].distance, reach)) return 0;
  return count > 0 && shape->faces.meet ? mesh_touches(shape, point, reach, contacts) : count;
}

Status shape_find_faces(Core *core, Shape *shape) {
  if (shape->kind != SCREE_SHAPE_MESH || shape->faces.of) return SCREE_OK;
  return mesh_faces_find(core, &shape->mesh, shape->findings.closed, shape->inside, &shape->faces);
}

/* ---- lists by the blocks of the grid ---- */

typedef struct ListTask {
  Shape *shape;
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

/* Who is near the block: its one face, or how many triangles its list has. */
static void look_at_blocks(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ListTask *task = context;
  const Shape *shape = task->shape;
  for (int64_t k = b; k < e; k++) {
    int32_t places[LISTED_MOST];
    const Vec3 middle = block_middle(shape->grid, task->place[k]);
    const int64_t count = bvh_near(shape->bvh, middle, task->reach, LISTED_MOST, places);
    const NearMesh mesh = {shape, places, (int)count};
    task->many[k] = 0;
    if (count < 1 || count > LISTED_MOST) shape->faces.block[k] = GRID_BLOCK_FACELESS;
    else if (has_one_face(mesh)) shape->faces.block[k] = near_face(mesh, 0);
    else task->many[k] = (int32_t)count;
  }
}

static void list_blocks(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ListTask *task = context;
  const MeshFaces *faces = &task->shape->faces;
  for (int64_t k = b; k < e; k++)
    if (task->many[k] > 0)
      bvh_near(task->shape->bvh, block_middle(task->shape->grid, task->place[k]), task->reach, task->many[k],
               faces->list + faces->begin[grid_block_list(faces->block[k])]);
}

/* Lists one behind the other. */
static Status number_lists(Core *core, ListTask *task) {
  MeshFaces *faces = &task->shape->faces;
  int64_t lists = 0, entries = 0;
  for (int64_t k = 0; k < faces->block_count; k++) lists += task->many[k] > 0, entries += task->many[k];
  if (entries > INT32_MAX || entries * 4 > memory_left(&core->memory) / 8) {
    log_line(core, SCREE_LOG_INFO, "the faces of a mesh are too fine to be listed: %lld entries", (long long)entries);
    return SCREE_OK;
  }
  TRY(memory_new(core, &faces->begin, lists + 1, "mesh faces"));
  TRY(memory_new(core, &faces->list, entries + 1, "mesh faces"));
  faces->list_count = lists;
  faces->entries = entries;
  lists = entries = 0;
  for (int64_t k = 0; k < faces->block_count; k++) {
    if (task->many[k] == 0) continue;
    faces->block[k] = grid_block_list((int32_t)lists); /* which is its own inverse */
    faces->begin[lists++] = (int32_t)entries;
    entries += task->many[k];
  }
  faces->begin[lists] = (int32_t)entries;
  parallel_for(core, 0, faces->block_count, 64, list_blocks, task);
  return SCREE_OK;
}

static Status list_faces(Core *core, ListTask *task) {
  const DistanceGrid *grid = task->shape->grid;
  MeshFaces *faces = &task->shape->faces;
  const int64_t blocks = (int64_t)grid->blocks[0] * grid->blocks[1] * grid->blocks[2];
  TRY(memory_new(core, &task->place, grid->block_count, "mesh faces"));
  TRY(memory_new(core, &task->many, grid->block_count, "mesh faces"));
  TRY(memory_new(core, &faces->block, grid->block_count, "mesh faces"));
  faces->block_count = grid->block_count;
  for (int64_t k = 0; k < blocks; k++)
    if (grid->table[k] >= 0) task->place[grid->table[k] / GRID_NODES] = (int32_t)k;
  parallel_for(core, 0, grid->block_count, 64, look_at_blocks, task);
  return number_lists(core, task);
}

Status shape_cache_faces(Core *core, Shape *shape, double reach) {
  if (!shape->faces.meet || !shape->grid || shape->faces.block) return SCREE_OK;
  const double cell = (double)shape->grid->cell, half = 0.5 * sqrt(3) * GRID_BLOCK * cell;
  ListTask task = {.shape = shape, .reach = reach + half + 1.001 * cell};
  Status status = list_faces(core, &task);
  memory_drop(core, &task.place);
  memory_drop(core, &task.many);
  if (status == SCREE_OK && shape->faces.begin) shape->faces.reach = reach;
  return status;
}
