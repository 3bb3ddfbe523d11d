#include "bench/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

Status bench_scene_load(Core *core, const char *name, const char *const *sets, int32_t set_count, ScreeScene **scene) {
  char path[SCREE_FILE_MAX];
  ScreeError error;
  ScreeSceneOptions options = {.sets = sets, .set_count = set_count};
  if (scree_scene_find(name, path, sizeof path, &error) != SCREE_OK ||
      scree_scene_load(path, &options, scene, &error) != SCREE_OK)
    return fail(core, error.status, "%s", error.message);
  return SCREE_OK;
}

Status bench_scene_open(Core *core, const char *name, const char *const *sets, int32_t set_count, int threads,
                        bool fine, BenchScene *opened) {
  *opened = (BenchScene){0};
  ScreeError error;
  TRY(bench_scene_load(core, name, sets, set_count, &opened->scene));
  ScreeSceneDef definition = *scree_scene_definition(opened->scene);
  if (!fine) definition.upsample = NULL;
  ScreeWorldOptions options = {.threads = threads, .baseline_simd = core->baseline_simd};
  if (scree_world_create(&definition, &options, &opened->world, &error) != SCREE_OK)
    return fail(core, error.status, "%s", error.message);
  return SCREE_OK;
}

void bench_scene_close(BenchScene *opened) {
  scree_world_destroy(opened->world);
  scree_scene_free(opened->scene);
}

Status bench_scene_frame(Core *core, const BenchScene *opened) {
  ScreeError error;
  if (scree_world_frame(opened->world, &error) != SCREE_OK) return fail(core, error.status, "%s", error.message);
  return SCREE_OK;
}

#define BLOCK_RADIUS 0.028
#define BLOCK_FINE 0.008
#define BLOCK_PACKING 0.37 /* of its fine grains */

void bench_block_make(BenchBlock *block, double wanted, int mode, ScreeVec3 velocity) {
  double side = cbrt(wanted * 4.0 / 3 * M_PI * BLOCK_FINE * BLOCK_FINE * BLOCK_FINE / BLOCK_PACKING);
  block->sand = scree_material_default("sand");
  block->grains = scree_grains_default("sand", scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){side, side, side}));
  block->grains.velocity = velocity;
  block->upsample = scree_upsample_default(BLOCK_FINE);
  block->upsample.mode = mode;
  block->scene = scree_scene_default();
  block->scene.name = "block";
  block->scene.method = scree_method_default("none");
  block->scene.method.radius = BLOCK_RADIUS;
  block->scene.materials = &block->sand, block->scene.material_count = 1;
  block->scene.grains = &block->grains, block->scene.grains_count = 1;
  block->scene.upsample = &block->upsample;
}

void bench_temporary_name(char *name, size_t size) {
  const char *parent = getenv("TMPDIR");
  snprintf(name, size, "%s/scree_bench_XXXXXX", parent && *parent ? parent : P_tmpdir);
}

Status bench_temporary_file(Core *core, char *name, size_t size) {
  bench_temporary_name(name, size);
  int handle = mkstemp(name);
  if (handle < 0) return fail(core, SCREE_CANNOT_WRITE, "%s: cannot be made", name);
  close(handle);
  return SCREE_OK;
}
