/* A shipped scene, opened for a suite. */
#ifndef BENCH_SCENE_H
#define BENCH_SCENE_H

#include "core/core.h"
#include "scree/scree.h"

typedef struct BenchScene {
  ScreeScene *scene;
  ScreeWorld *world;
} BenchScene;

/* The scene alone; free it with scree_scene_free. `name` as in `scree run`; `sets` as in --set. */
Status bench_scene_load(Core *core, const char *name, const char *const *sets, int32_t set_count, ScreeScene **scene);
/* With its world. Without `fine` the coarse part alone. Close it whatever comes back. */
Status bench_scene_open(Core *core, const char *name, const char *const *sets, int32_t set_count, int threads,
                        bool fine, BenchScene *opened);
void bench_scene_close(BenchScene *opened);
Status bench_scene_frame(Core *core, const BenchScene *opened);

/* A block of fine grains in the air, about `wanted` of them, that nothing is near. */
typedef struct BenchBlock {
  ScreeMaterialDef sand;
  ScreeGrainsDef grains;
  ScreeUpsampleDef upsample;
  ScreeSceneDef scene; /* points into the block, which therefore stays where it is */
} BenchBlock;
void bench_block_make(BenchBlock *block, double wanted, int mode, ScreeVec3 velocity);

/* A pattern for mkstemp and mkdtemp; an empty file of its own, to be removed by the caller. */
void bench_temporary_name(char *name, size_t size);
Status bench_temporary_file(Core *core, char *name, size_t size);

#endif
