/* What a sphere touches of a shape with faces. Meshes have the triangles that matter listed by the blocks of their
 * distance grid; without a list, or beyond its reach, the tree finds them. */
#define LANE_SCALAR
#include <string.h>

#include "core/parallel.h"
#include "geometry/bvh_nodes.h"
#include "geometry/distance_grid.h"
#include "geometry/grid_spot_shared.h"
#include "geometry/shape.h"

/* Triangles near a sphere that are looked at by the tree. Where there are more it touches the nearest
 * point alone. */
enum { NEAR_MOST = 512 };

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
  const int32_t entry = faces->lists.block[place / GRID_NODES];
  if (entry >= GRID_BLOCK_FACELESS) {
    contacts[0].face = entry >= 0 ? entry : 0;
    return 1;
  }
  const int32_t *begin = faces->lists.begin + grid_block_list(entry);
  const NearMesh mesh = {shape, faces->lists.list + begin[0], begin[1] - begin[0]};
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

/* A block near a single face needs no list. */
static int32_t single_face(const Shape *shape, const int32_t *places, int count) {
  const NearMesh mesh = {shape, places, count};
  return has_one_face(mesh) ? near_face(mesh, 0) : GRID_BLOCK_LISTED;
}

Status shape_cache_faces(Core *core, Shape *shape, double reach) {
  MeshFaces *faces = &shape->faces;
  if (!faces->meet || !shape->grid || faces->lists.block) return SCREE_OK;
  TRY(block_lists_make(core, shape, reach + 1.001 * (double)shape->grid->cell, single_face, &faces->lists));
  if (faces->lists.begin) faces->reach = reach;
  return SCREE_OK;
}
