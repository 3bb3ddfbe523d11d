/* Starts kept in memory, and many worlds side by side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "world/world.h"

struct ScreeStart {
  Memory memory; /* a start outlives the world that it was taken from */
  int64_t size;
  char *data;
};

void scree_start_free(ScreeStart *start) {
  if (!start) return;
  memory_free(&start->memory, start->data);
  free(start);
}

int64_t scree_start_bytes(const ScreeStart *start) { return start ? start->size : 0; }

static Status keep(ScreeWorld *world, ScreeStart **result) {
  Core *core = &world->core;
  Archive archive;
  ScreeStart *start = NULL;
  TRY(world_needs_grains(world));
  Status status = world_archive_begin(world, &archive);
  if (status == SCREE_OK) status = world_archive(world, &archive);
  if (status == SCREE_OK) {
    start = calloc(1, sizeof *start);
    if (start) {
      memory_create(&start->memory, 0);
      start->data = memory_get(&start->memory, archive.size, 1, "start");
    }
    if (!start || !start->data) status = fail(core, SCREE_NO_MEMORY, "no memory for a start");
  }
  if (status == SCREE_OK) {
    memcpy(start->data, archive.data, (size_t)archive.size);
    start->size = archive.size;
    *result = start;
  } else {
    scree_start_free(start);
  }
  archive_destroy(core, &archive);
  return status;
}

ScreeStatus scree_world_keep(const ScreeWorld *world, ScreeStart **start, ScreeError *error) {
  /* As saving, it changes nothing but the error and the memory ledger of the world's core. */
  ScreeWorld *writable = (ScreeWorld *)world;
  *start = NULL;
  return core_report(&writable->core, keep(writable, start), error);
}

ScreeStatus scree_world_reset(ScreeWorld *world, const ScreeStart *start, ScreeError *error) {
  Status status = world_can_load(world);
  if (status == SCREE_OK)
    status = start ? world_archive_load(world, "the kept start", start->data, start->size)
                   : fail(&world->core, SCREE_BAD_ARGUMENT, "there is no start");
  return core_report(&world->core, status, error);
}

typedef struct Batch {
  ScreeWorld *const *worlds;
  int64_t frames;
  ScreeStatus *statuses;
  ScreeError *errors;
} Batch;

static void batch_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Batch *batch = context;
  for (int64_t k = b; k < e; k++) {
    batch->statuses[k] = SCREE_OK;
    for (int64_t f = 0; f < batch->frames && batch->statuses[k] == SCREE_OK; f++)
      batch->statuses[k] = scree_world_frame(batch->worlds[k], batch->errors ? &batch->errors[k] : NULL);
  }
}

ScreeStatus scree_worlds_frame(ScreeWorld *const *worlds, int32_t count, int64_t frames, int32_t threads,
                               ScreeStatus *statuses, ScreeError *errors) {
  Core core = {0};
  const ScreeWorldOptions options = {.threads = threads};
  Status status = core_create(&core, &options);
  Batch batch = {worlds, frames, statuses, errors};
  if (status == SCREE_OK) parallel_for(&core, 0, count, 1, batch_body, &batch);
  for (int32_t k = count - 1; k >= 0; k--) {
    if (status != SCREE_OK && !core.pool) statuses[k] = status;
    else if (statuses[k] != SCREE_OK) status = statuses[k];
  }
  core_destroy(&core);
  return status;
}
