/* Checkpoint reader: whatever the bytes say, a world refuses them or stays usable. The header is made right, so that
 * the archive behind it is what is tried. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/hash.h"
#include "scree/scree.h"

enum { HEADER = 64, SIZE_AT = 48, HASH_AT = 56 };

static ScreeWorld *world;
static char path[64], header[HEADER];

static void make_world(void) {
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeGrainsDef grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.1, -0.1, 0}, (ScreeVec3){0.1, 0.1, 0.2}));
  ScreeBoundaryDef floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  ScreeProbeDef creep = scree_probe_default("creep", SCREE_PROBE_CREEP);
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "fuzz";
  scene.method = scree_method_default("pbd");
  scene.materials = &sand;
  scene.material_count = 1;
  scene.grains = &grains;
  scene.grains_count = 1;
  scene.boundaries = &floor;
  scene.boundary_count = 1;
  scene.probes = &creep;
  scene.probe_count = 1;
  ScreeWorldOptions options = {.threads = 1, .memory_limit = 1 << 28};
  ScreeError error;
  if (scree_world_create(&scene, &options, &world, &error) != SCREE_OK) abort();
  snprintf(path, sizeof path, "/dev/shm/scree_fuzz_%ld", (long)getpid());
  if (scree_world_save(world, path, &error) != SCREE_OK) abort();
  FILE *file = fopen(path, "rb");
  if (!file || fread(header, 1, HEADER, file) != HEADER) abort();
  fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!world) make_world();
  int64_t payload = (int64_t)size;
  uint64_t sum = hash_bytes(data, size, 0);
  memcpy(header + SIZE_AT, &payload, sizeof payload);
  memcpy(header + HASH_AT, &sum, sizeof sum);
  FILE *file = fopen(path, "wb");
  if (!file) abort();
  fwrite(header, 1, HEADER, file);
  if (size) fwrite(data, 1, size, file);
  fclose(file);
  ScreeError error;
  if (scree_world_load(world, path, &error) == SCREE_OK) scree_world_frame(world, &error);
  return 0;
}
