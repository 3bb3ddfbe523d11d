/* Memory that is taken piece by piece and given back all at once. */
#ifndef SCENE_ARENA_H
#define SCENE_ARENA_H

#include "core/core.h"

typedef struct ArenaBlock ArenaBlock;
typedef struct Arena {
  ArenaBlock *newest;
} Arena;

/* Zero-filled; the failure is described. */
#define arena_new(core, arena, pointer, count)                                                                         \
  arena_new_((core), (arena), (void **)(pointer), (count), (int64_t)sizeof **(pointer))
Status arena_new_(Core *core, Arena *arena, void **pointer, int64_t count, int64_t size);
Status arena_text(Core *core, Arena *arena, const char *text, int64_t length, const char **copy);
void arena_destroy(Memory *memory, Arena *arena);

/* A set of strings that live elsewhere, kept in an arena. */
typedef struct NameSet {
  const char **slots;
  int64_t capacity, count;
} NameSet;

/* *fresh: whether the name was not there before. */
Status names_add(Core *core, Arena *arena, NameSet *set, const char *name, bool *fresh);

#endif
