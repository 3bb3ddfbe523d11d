#include "scene/arena.h"

#include <string.h>

#include "core/hash.h"

struct ArenaBlock {
  ArenaBlock *next;
  int64_t size, used; /* bytes behind this header */
};

enum { SMALLEST_BLOCK = 8 << 10, LARGEST_BLOCK = 1 << 20, ALIGNMENT = 16 };

Status arena_new_(Core *core, Arena *arena, void **pointer, int64_t count, int64_t size) {
  *pointer = NULL;
  if (count < 0 || count > INT64_MAX / 4 / size) return fail(core, SCREE_NO_MEMORY, "out of memory: scene");
  int64_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  ArenaBlock *block = arena->newest;
  if (!block || block->size - block->used < bytes) {
    int64_t room = block ? block->size * 2 : SMALLEST_BLOCK;
    if (room > LARGEST_BLOCK) room = LARGEST_BLOCK;
    if (room < bytes) room = bytes;
    char *memory = NULL;
    TRY(memory_new(core, &memory, room + (int64_t)sizeof *block + ALIGNMENT, "scene"));
    block = (ArenaBlock *)(void *)memory;
    *block = (ArenaBlock){.next = arena->newest, .size = room};
    arena->newest = block;
  }
  char *start = (char *)block + (sizeof *block + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  *pointer = start + block->used;
  block->used += bytes;
  return SCREE_OK;
}

Status arena_text(Core *core, Arena *arena, const char *text, int64_t length, const char **copy) {
  char *block;
  *copy = NULL;
  TRY(arena_new(core, arena, &block, length + 1));
  memcpy(block, text, (size_t)length);
  *copy = block;
  return SCREE_OK;
}

void arena_destroy(Memory *memory, Arena *arena) {
  /* The arena itself may live in one of its blocks. */
  ArenaBlock *block = arena->newest;
  arena->newest = NULL;
  while (block) {
    ArenaBlock *next = block->next;
    memory_free(memory, block);
    block = next;
  }
}

static const char **slot_of(const char **slots, int64_t capacity, const char *name) {
  uint64_t at = hash_bytes(name, strlen(name), 0) & (uint64_t)(capacity - 1);
  while (slots[at] && strcmp(slots[at], name) != 0) at = (at + 1) & (uint64_t)(capacity - 1);
  return &slots[at];
}

Status names_add(Core *core, Arena *arena, NameSet *set, const char *name, bool *fresh) {
  if (set->count * 2 >= set->capacity) {
    int64_t capacity = set->capacity ? set->capacity * 2 : 8;
    const char **slots;
    TRY(arena_new(core, arena, &slots, capacity));
    for (int64_t k = 0; k < set->capacity; k++)
      if (set->slots[k]) *slot_of(slots, capacity, set->slots[k]) = set->slots[k];
    set->slots = slots;
    set->capacity = capacity;
  }
  const char **slot = slot_of(set->slots, set->capacity, name);
  *fresh = !*slot;
  if (*fresh) {
    *slot = name;
    set->count++;
  }
  return SCREE_OK;
}
