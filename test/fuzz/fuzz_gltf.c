/* glTF, through Assimp: the first byte chooses text or binary. What comes out of it is a mesh with good indices and
 * finite vertices. Assimp itself is not instrumented, and it leaks when it refuses a file: our own memory is counted.
 */
#include <stdlib.h>
#include <string.h>

#include "geometry/mesh.h"

int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  Core core = {0};
  memory_create(&core.memory, (int64_t)1 << 28);
  char *text = malloc(size - 1 ? size - 1 : 1);
  memcpy(text, data + 1, size - 1);
  Mesh mesh;
  Status status = mesh_parse(&core, data[0] & 1 ? "fuzz.glb" : "fuzz.gltf", text, (int64_t)size - 1, &mesh);
  free(text);
  if (status == SCREE_OK) {
    for (int64_t v = 0; v < mesh.vertex_count; v++)
      if (!vec3_finite(mesh.vertices[v])) abort();
    for (int64_t t = 0; t < mesh.triangle_count; t++)
      for (int c = 0; c < 3; c++)
        if (mesh.triangles[t][c] < 0 || mesh.triangles[t][c] >= mesh.vertex_count) abort();
    mesh_destroy(&core, &mesh);
  }
  if (core.memory.used != 0) abort();
  return 0;
}
