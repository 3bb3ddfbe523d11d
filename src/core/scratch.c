#include "core/scratch.h"

#include <assert.h>

void scratch_create(Scratch *scratch) { *scratch = (Scratch){0}; }

void scratch_destroy(Core *core, Scratch *scratch) {
  scratch_release(core, scratch, 0);
  memory_drop(core, &scratch->slab);
  scratch->size = 0;
}

static int64_t round_up(int64_t bytes) {
  bytes = (bytes + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
  return bytes > 0 ? bytes : MEMORY_ALIGNMENT;
}

Status scratch_take_(Core *core, Scratch *scratch, void **pointer, int64_t count, int64_t size, const char *name) {
  assert(scratch->depth < SCRATCH_DEPTH);
  *pointer = NULL;
  if (count < 0 || count > (INT64_MAX / 2) / size)
    return fail(core, SCREE_NO_MEMORY, "scratch '%s': %lld elements", name, (long long)count);
  int64_t bytes = round_up(count * size);
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

void scratch_shrink_(Scratch *scratch, const void *pointer, int64_t bytes) {
  assert(scratch->depth > 0);
  int latest = scratch->depth - 1;
  if (scratch->entries[latest].block) return; /* its own allocation: it is in nobody's way */
  assert(pointer == (const void *)(scratch->slab + scratch->top - scratch->entries[latest].bytes));
  int64_t rest = scratch->entries[latest].bytes - round_up(bytes);
  assert(rest >= 0);
  scratch->entries[latest].bytes -= rest;
  scratch->top -= rest;
}

void scratch_release(Core *core, Scratch *scratch, int mark) {
  assert(mark >= 0 && mark <= scratch->depth);
  while (scratch->depth > mark) {
    scratch->depth--;
    scratch->top -= scratch->entries[scratch->depth].bytes;
    memory_free(&core->memory, scratch->entries[scratch->depth].block);
  }
}
