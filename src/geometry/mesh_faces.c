#include "geometry/mesh_faces.h"

/* How far, as a share of the edge's length, the triangle behind an edge must rise to make it an inner edge. */
#define RISE 1e-6

static Vec3 corner_of(const Mesh *mesh, int64_t t, uint32_t corner) {
  return mesh->vertices[mesh->triangles[t][corner % 3]];
}

static Vec3 normal_of(const Mesh *mesh, int64_t t) {
  Vec3 a = corner_of(mesh, t, 0);
  return vec3_normalize(vec3_cross(vec3_sub(corner_of(mesh, t, 1), a), vec3_sub(corner_of(mesh, t, 2), a)));
}

/* Whether the triangle behind half h rises out of the plane of its own, seen from the side of the sphere. */
static bool is_inner(const Mesh *mesh, uint32_t h, uint32_t partner, bool inside) {
  Vec3 from = corner_of(mesh, h / 3, h % 3), edge = vec3_sub(corner_of(mesh, h / 3, h % 3 + 1), from);
  Vec3 far = vec3_sub(corner_of(mesh, partner / 3, partner % 3 + 2), from);
  double rise = vec3_dot(normal_of(mesh, h / 3), far);
  return (inside ? -rise : rise) > RISE * vec3_length(edge);
}

/* Gives all triangles a number that are connected with `first` over edges that bend no more than `bend` says. */
static void spread(const Mesh *mesh, const uint32_t *partner, double bend, int64_t first, int32_t number, int32_t *of,
                   int32_t *queue) {
  int64_t count = 0;
  of[first] = number;
  queue[count++] = (int32_t)first;
  for (int64_t k = 0; k < count; k++) {
    const int64_t t = queue[k];
    const Vec3 normal = normal_of(mesh, t);
    for (int64_t h = 3 * t; h < 3 * t + 3; h++) {
      if (partner[h] == MESH_NO_PARTNER) continue;
      const int64_t other = partner[h] / 3;
      if (of[other] >= 0 || vec3_dot(normal, normal_of(mesh, other)) < bend) continue;
      of[other] = number;
      queue[count++] = (int32_t)other;
    }
  }
}

static int32_t number_all(const Mesh *mesh, const uint32_t *partner, double bend, int32_t *of, int32_t *queue) {
  int32_t count = 0;
  for (int64_t t = 0; t < mesh->triangle_count; t++) of[t] = -1;
  for (int64_t t = 0; t < mesh->triangle_count; t++)
    if (of[t] < 0) spread(mesh, partner, bend, t, count++, of, queue);
  return count;
}

static bool is_convex(const Mesh *mesh, const uint32_t *partner, bool inside) {
  for (int64_t h = 0; h < 3 * mesh->triangle_count; h++)
    if (partner[h] == MESH_NO_PARTNER || is_inner(mesh, (uint32_t)h, partner[h], inside)) return false;
  return true;
}

Status mesh_faces_find(Core *core, const Mesh *mesh, bool closed, bool inside, MeshFaces *faces) {
  uint32_t *partner = NULL;
  int32_t *queue = NULL;
  Status status = mesh_partners(core, mesh, &partner);
  if (status == SCREE_OK) status = memory_new(core, &queue, mesh->triangle_count, "mesh faces");
  if (status == SCREE_OK) status = memory_new(core, &faces->of, mesh->triangle_count, "mesh faces");
  if (status == SCREE_OK) {
    int32_t parts = number_all(mesh, partner, -2, faces->of, queue);
    faces->count = number_all(mesh, partner, MESH_FACE_BEND, faces->of, queue);
    faces->meet = faces->count > 1 && !(closed && parts == 1 && is_convex(mesh, partner, inside));
  }
  memory_drop(core, &partner);
  memory_drop(core, &queue);
  return status;
}

void mesh_faces_destroy(Core *core, MeshFaces *faces) {
  memory_drop(core, &faces->of);
  block_lists_drop(core, &faces->lists);
  *faces = (MeshFaces){0};
}
