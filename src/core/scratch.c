#include "core/scratch.h"

#include <assert.h>

void scratch_create(Scratch *scratch) { *scratch = (Scratch){0}; }

void scratch_destroy(Core *core, Scratch *scratch) {
  scratch_release(core, scratch, 0);
  memory_drop(core, &scratch->slab);
  scratch->size = 0;
}

Status scratch_take_(Core *core, Scratch *scratch, void **pointer, int64_t count, int64_t size, const char *name) {
  assert(scratch->depth < SCRATCH_DEPTH);
  *pointer = NULL;
  if (count < 0 || count > (INT64_MAX / 2) / size)
    return fail(core, SCREE_NO_MEMORY, "scratch '%s': %lld elements", name, (long long)count);
  int64_t bytes = (count * size + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
  if (bytes == 0) bytes = MEMORY_ALIGNMENT;
  if (scratch->depth == 0 && scratch->peak > scratch->size) {
    /* Empty: the moment to grow the slab to what the last steps asked for. */
    int64_t slab = scratch->peak + scratch->peak / 16; /* to spare: a growing scene would be here in every step */
    memory_drop(core, &scratch->slab);
    scratch->size = 0;
    TRY(memory_new(core, &scratch->slab, slab, "scratch"));
    scratch->size = slab;
  }
  void *block = NULL;
  if (scratch->top + bytes <= scratch->size) *pointer = scratch->slab + scratch->top;
  else {
    TRY(memory_new_(core, &block, bytes, 1, name));
    *pointer = block;
  }
  scratch->top += bytes;
  if (scratch->top > scratch->peak) scratch->peak = scratch->top;
  scratch->entries[scratch->depth].name = name;
  scratch->entries[scratch->depth].block = block;
  scratch->entries[scratch->depth].bytes = bytes;
  scratch->depth++;
  return SCREE_OK;
}

void scratch_release(Core *core, Scratch *scratch, int mark) {
  assert(mark >= 0 && mark <= scratch->depth);
  while (scratch->depth > mark) {
    scratch->depth--;
    scratch->top -= scratch->entries[scratch->depth].bytes;
    memory_free(&core->memory, scratch->entries[scratch->depth].block);
  }
}
