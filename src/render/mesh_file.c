#include "render/mesh_file.h"

#include <stdlib.h>

#include "geometry/mesh.h"

static Status mesh_file_view(Core *core, const Mesh *mesh, Vec3 origin, ScreeMeshView *view) {
  float *vertices = malloc((size_t)mesh->vertex_count * 3 * sizeof *vertices + 1);
  uint32_t *triangles = malloc((size_t)mesh->triangle_count * 3 * sizeof *triangles + 1);
  *view = (ScreeMeshView){mesh->vertex_count, mesh->triangle_count, vertices, triangles};
  if (!vertices || !triangles) {
    mesh_file_free(view);
    return fail(core, SCREE_NO_MEMORY, "no memory for the mesh");
  }
  for (int64_t v = 0; v < mesh->vertex_count; v++)
    for (int k = 0; k < 3; k++) vertices[3 * v + k] = (float)(vec3_get(mesh->vertices[v], k) - vec3_get(origin, k));
  for (int64_t t = 0; t < mesh->triangle_count; t++)
    for (int k = 0; k < 3; k++) triangles[3 * t + k] = (uint32_t)mesh->triangles[t][k];
  return SCREE_OK;
}

ScreeStatus mesh_file_read(const char *path, ScreeVec3 origin, ScreeMeshView *view, ScreeError *error) {
  *view = (ScreeMeshView){0};
  Core core;
  ScreeWorldOptions options = {.threads = 1};
  Status status = core_create(&core, &options);
  if (status != SCREE_OK) return core_report(&core, status, error);
  Mesh mesh = {0};
  status = mesh_load(&core, path, &mesh);
  if (status == SCREE_OK) status = mesh_file_view(&core, &mesh, origin, view);
  mesh_destroy(&core, &mesh);
  status = core_report(&core, status, error);
  core_destroy(&core);
  return status;
}

void mesh_file_free(ScreeMeshView *mesh) {
  free((void *)mesh->vertices);
  free((void *)mesh->triangles);
  *mesh = (ScreeMeshView){0};
}
