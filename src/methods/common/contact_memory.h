/* What contacts remember from one step to the next (forces, springs), for methods that keep it.
 *
 * A grain's contacts stand in one row: a key of the partner and `width` floats each. Where the row is and how many it
 * holds are fields of the grain, so that sorting, births and deaths carry them along without touching the rows, and a
 * rebuild of the neighbour lists does not know of them. A method reads the rows in a step and writes them all anew at
 * its end: rows of different grains must not meet, gaps between them do no harm. */
#ifndef METHODS_COMMON_CONTACT_MEMORY_H
#define METHODS_COMMON_CONTACT_MEMORY_H

#include "core/archive.h"
#include "state/particles.h"

typedef struct ContactMemory {
  int32_t width;  /* floats per contact */
  int64_t places; /* that may be read; place 0 is nobody's and zero */
  uint32_t *key;  /* of the partner, never 0; behind the last is room to be read eight at a time */
  float *kept;    /* width per place */
  uint32_t *row;  /* fields of the particles: first place, and how many */
  uint32_t *held;
} ContactMemory;

Status contact_memory_create(Core *core, ContactMemory *memory, int32_t width, Particles *particles);
/* Room for so many places, the zero one included; what was there is forgotten. The caller then writes rows, row[] and
 * held[], and sets `places`. */
Status contact_memory_reserve(Core *core, ContactMemory *memory, int64_t places);
Status contact_memory_archive(Core *core, Archive *archive, ContactMemory *memory);
void contact_memory_destroy(Core *core, ContactMemory *memory);

/* A key for the k-th of what is no grain: they count down from the top, where ids of grains are never seen. */
static inline uint32_t contact_key_from_top(int32_t k) { return ~(uint32_t)k; }

/* Places of grain i: [first, first + answer). A damaged checkpoint may lie about them. */
static inline int64_t contact_memory_row(const ContactMemory *memory, int64_t i, int64_t *first) {
  *first = memory->row[i];
  return *first + memory->held[i] <= memory->places ? memory->held[i] : 0;
}
/* Where grain i's contact with a partner is; 0, where all is zero, when it is not remembered. */
static inline int64_t contact_memory_find(const ContactMemory *memory, int64_t i, uint32_t key) {
  int64_t first, held = contact_memory_row(memory, i, &first);
  for (int64_t k = first; k < first + held; k++)
    if (memory->key[k] == key) return k;
  return 0;
}

#endif
