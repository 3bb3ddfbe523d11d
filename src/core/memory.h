/* Labelled, aligned allocation with a running total and a peak.
 *
 * Every block is 64-byte aligned and carries its size and label in a header of one cache line, so that a report can
 * say what the memory is for. Allocation can fail: memory_get returns NULL when the system refuses or when the total
 * would pass the limit, and callers turn that into a status with memory_new / memory_resize below. */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_ALIGNMENT = 64 };

typedef struct Memory {
  _Atomic int64_t used;
  _Atomic int64_t peak;
  int64_t limit; /* bytes */
} Memory;

typedef struct Core Core;

/* limit 0: nine tenths of what the machine has, or the container leaves. */
void memory_create(Memory *memory, int64_t limit);
/* Bytes that may still be taken before the limit. */
int64_t memory_left(const Memory *memory);

/* Zero-filled block of count * size bytes, or NULL. The label must be a string literal. */
void *memory_get(Memory *memory, int64_t count, int64_t size, const char *label);
void memory_free(Memory *memory, void *block);
int64_t memory_size(const void *block); /* usable bytes; 0 for NULL */

/* As memory_get into *pointer, with a described failure (SCREE_NO_MEMORY). */
#define memory_new(core, pointer, count, label)                                                                        \
  memory_new_((core), (void **)(pointer), (count), (int64_t)sizeof **(pointer), (label))
int memory_new_(Core *core, void **pointer, int64_t count, int64_t size, const char *label);

/* Grows *pointer to at least `count` elements (contents kept, the rest zero), by half as much again to spare. */
#define memory_grow(core, pointer, count, label)                                                                       \
  memory_grow_((core), (void **)(pointer), (count), (int64_t)sizeof **(pointer), (label))
int memory_grow_(Core *core, void **pointer, int64_t count, int64_t size, const char *label);

#define memory_drop(core, pointer)                                                                                     \
  do {                                                                                                                 \
    memory_free(&(core)->memory, (void *)*(pointer));                                                                  \
    *(pointer) = NULL;                                                                                                 \
  } while (0)

#endif
