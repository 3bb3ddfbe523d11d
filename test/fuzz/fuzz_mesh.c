/* The first byte chooses the extension, the rest is the file. What the loader accepts must survive everything that is
 * done to a mesh, with finite answers, and all memory must come back. */
#include <stdlib.h>
#include <string.h>

#include "geometry/bvh.h"
#include "test/fuzz/expect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(Core *core, const Mesh *mesh) {
  Bvh *bvh = NULL;
  Vec3 low, high;
  if (bvh_build(core, mesh, &bvh) != SCREE_OK) return;
  mesh_bounds(mesh, &low, &high);
  for (int k = 0; k < 8; k++) {
    Vec3 p = vec3(k & 1 ? high.x : 0.4 * low.x + 0.6 * high.x, k & 2 ? high.y : 0.3 * low.y + 0.7 * high.y,
                  k & 4 ? high.z : 0.5 * low.z + 0.5 * high.z);
    BvhHit hit = bvh_closest(bvh, p, INFINITY);
    expect(hit.triangle >= 0 && hit.triangle < mesh->triangle_count && isfinite(hit.distance));
    expect(vec3_finite(hit.point) && fabs(vec3_length(hit.normal) - 1) < 1e-6);
    expect(isfinite(bvh_winding(bvh, p)));
    hit = bvh_ray(bvh, p, vec3(0, 0, k & 1 ? -1 : 1), INFINITY);
    expect(hit.triangle < 0 || isfinite(hit.distance));
  }
  bvh_destroy(core, bvh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"fuzz.obj", "fuzz.stl", "fuzz.ply", "fuzz"};
  if (size == 0) return 0;
  Core core = {0};
  memory_create(&core.memory, (int64_t)1 << 30);
  /* A block of exactly that size lets the sanitizer see every byte too far. */
  char *text = malloc(size - 1 ? size - 1 : 1);
  memcpy(text, data + 1, size - 1);
  Mesh mesh;
  MeshFindings findings;
  Status status = mesh_parse(&core, names[data[0] & 3], text, (int64_t)size - 1, &mesh);
  free(text);
  expect(status != SCREE_NO_MEMORY);
  expect((status == SCREE_OK) == (core.error.status == SCREE_OK));
  expect(status == SCREE_OK || core.error.file[0]);
  if (status == SCREE_OK) {
    for (int64_t v = 0; v < mesh.vertex_count; v++) expect(vec3_finite(mesh.vertices[v]));
    if (mesh_check(&core, &mesh, &findings) == SCREE_OK) {
      expect(isfinite(mesh_mass_properties(&mesh).volume));
      expect(!findings.closed || mesh_mass_properties(&mesh).volume >= 0);
      ask(&core, &mesh);
    }
    mesh_destroy(&core, &mesh);
  }
  expect(core.memory.used == 0);
  return 0;
}
