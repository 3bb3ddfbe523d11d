/* A named stack of scratch memory: taken and given back in LIFO order, empty at the end of a step.
 *
 * Blocks that a step needs again and again come from one slab that grows to the largest step seen, so that a settled
 * run allocates nothing. A block that does not fit the slab gets its own allocation; the slab grows when empty. */
#ifndef CORE_SCRATCH_H
#define CORE_SCRATCH_H

#include "core/core.h"

enum { SCRATCH_DEPTH = 128 };

typedef struct Scratch {
  char *slab;
  int64_t size, top, peak;
  int depth;
  struct {
    const char *name;
    void *block; /* own allocation, or NULL when in the slab */
    int64_t bytes;
  } entries[SCRATCH_DEPTH];
} Scratch;

void scratch_create(Scratch *scratch);
void scratch_destroy(Core *core, Scratch *scratch);

/* count elements, 64-byte aligned, contents undefined. */
#define scratch_take(core, scratch, pointer, count, name)                                                              \
  scratch_take_((core), (scratch), (void **)(pointer), (count), (int64_t)sizeof **(pointer), (name))
Status scratch_take_(Core *core, Scratch *scratch, void **pointer, int64_t count, int64_t size, const char *name);

/* The latest block needs no more than `count` elements after all: the rest is there for the next ones. */
#define scratch_shrink(scratch, pointer, count)                                                                        \
  scratch_shrink_((scratch), (pointer), (count) * (int64_t)sizeof *(pointer))
void scratch_shrink_(Scratch *scratch, const void *pointer, int64_t bytes);

/* A place on the stack; everything taken since is given back by scratch_release. */
static inline int scratch_mark(const Scratch *scratch) { return scratch->depth; }
void scratch_release(Core *core, Scratch *scratch, int mark);

#endif
