#include "sampling/skin.h"

#include <string.h>

static void world_corners(const Region *region, int64_t triangle, Vec3 v[3]) {
  const Mesh *mesh = &region->shape->mesh;
  for (int k = 0; k < 3; k++)
    v[k] = mat3_apply(&region->to_world, vec3_sub(mesh->vertices[mesh->triangles[triangle][k]], region->center));
}

typedef struct Visit {
  Skin *skin;
  int64_t *next; /* where the next triangle of a row goes; NULL while counting */
  SkinFind find;
  const void *context;
  double side;
} Visit;

/* Calls on every boundary block within the margin of a triangle's box and plane. */
static void visit_triangle(const Visit *visit, const Region *region, int32_t triangle) {
  Vec3 v[3];
  world_corners(region, triangle, v);
  double side = visit->side, margin = visit->skin->margin;
  Vec3 low = vec3_min(v[0], vec3_min(v[1], v[2])), high = vec3_max(v[0], vec3_max(v[1], v[2]));
  Vec3 normal = vec3_normalize(vec3_cross(vec3_sub(v[1], v[0]), vec3_sub(v[2], v[0])));
  double reach = side / 2 * (fabs(normal.x) + fabs(normal.y) + fabs(normal.z)) + margin;
  int32_t from[3], to[3], c[3];
  for (int axis = 0; axis < 3; axis++) {
    from[axis] = (int32_t)floor((vec3_get(low, axis) - margin) / side);
    to[axis] = (int32_t)floor((vec3_get(high, axis) + margin) / side);
  }
  for (c[2] = from[2]; c[2] <= to[2]; c[2]++)
    for (c[1] = from[1]; c[1] <= to[1]; c[1]++)
      for (c[0] = from[0]; c[0] <= to[0]; c[0]++) {
        Vec3 center = vec3((c[0] + 0.5) * side, (c[1] + 0.5) * side, (c[2] + 0.5) * side);
        if (fabs(vec3_dot(normal, vec3_sub(center, v[0]))) > reach) continue;
        int64_t row = visit->find(visit->context, c);
        if (row < 0) continue;
        if (visit->next) visit->skin->triangle[visit->next[row]++] = triangle;
        else visit->skin->start[row + 1]++;
      }
}

static Status build(Core *core, const Region *region, int64_t rows, Visit *visit) {
  Skin *skin = visit->skin;
  int64_t triangles = region->shape->mesh.triangle_count;
  TRY(memory_new(core, &skin->start, rows + 1, "sampling skin"));
  for (int64_t t = 0; t < triangles; t++) visit_triangle(visit, region, (int32_t)t);
  for (int64_t k = 0; k < rows; k++) skin->start[k + 1] += skin->start[k];
  TRY(memory_new(core, &skin->triangle, skin->start[rows], "sampling skin"));
  TRY(memory_new(core, &visit->next, rows, "sampling skin"));
  memcpy(visit->next, skin->start, (size_t)rows * sizeof *visit->next);
  for (int64_t t = 0; t < triangles; t++) visit_triangle(visit, region, (int32_t)t);
  memory_drop(core, &visit->next);
  return SCREE_OK;
}

Status skin_create(Core *core, const Region *region, double side, double margin, int64_t rows, SkinFind find,
                   const void *context, Skin *skin) {
  *skin = (Skin){.margin = margin};
  if (!region->closed || rows == 0) return SCREE_OK;
  Visit visit = {.skin = skin, .find = find, .context = context, .side = side};
  return build(core, region, rows, &visit);
}

void skin_destroy(Core *core, Skin *skin) {
  memory_drop(core, &skin->start);
  memory_drop(core, &skin->triangle);
}

bool skin_load(const Skin *skin, const Region *region, int64_t row, Vec3 center, TriangleList *list) {
  if (!skin->start || row < 0 || skin->start[row + 1] - skin->start[row] > TRIANGLES_MAX) return false;
  list->count = 0;
  for (int64_t t = skin->start[row]; t < skin->start[row + 1]; t++) {
    Vec3 v[3];
    world_corners(region, skin->triangle[t], v);
    for (int c = 0; c < 3; c++) v[c] = vec3_sub(v[c], center);
    triangle_list_push(list, v);
  }
  triangle_list_end(list);
  return true;
}
