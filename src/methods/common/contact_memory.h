/* What contacts remember from one step to the next: their forces.
 *
 * It stands as the solver's slots do, eight grains abreast: the contacts of a grain are in every eighth place from its
 * first on, and a place holds a key of the partner and CONTACT_KEPT numbers. The solver works on the places of `next`,
 * which then become what is remembered, so that nothing is copied. As soon as all contacts of the step have found what
 * is remembered of them, the places of `now` are free: they hold what else a contact needs during the step. Where a
 * grain's row begins, how many it holds and by which key its partners know it are fields of the grain: sorting, births
 * and deaths carry them along without touching the places. Between two steps without any of these a grain's key is
 * where it stands among the particles, which is what the solver's slots say anyway. A solver that remembers nothing has
 * the places alone. */
#ifndef METHODS_COMMON_CONTACT_MEMORY_H
#define METHODS_COMMON_CONTACT_MEMORY_H

#include "core/archive.h"
#include "core/simd.h"
#include "state/particles.h"

enum { CONTACT_KEPT = 4 };

typedef struct ContactPlaces {
  uint32_t *key; /* of the partner */
  float *kept[CONTACT_KEPT];
} ContactPlaces;

typedef struct ContactMemory {
  int64_t places; /* that may be read; the first LANES are nobody's, all zero, and LANES behind the last can be read */
  ContactPlaces now, next;
  uint32_t *row; /* fields of the particles: first place, and how many; NULL: nothing is remembered */
  uint32_t *held;
  uint32_t *number; /* another: what the grain is known by, see contact_key */
  int32_t *order; /* how the last step put the grains abreast: a hint, so that rows find their places where they were */
  int64_t ordered;
  int32_t *sorted_rows; /* per window of grains: slot rows when its lanes were sorted */
} ContactMemory;

Status contact_memory_create(Core *core, ContactMemory *memory, Particles *particles);
/* Room in `next` for so many places, those of nobody included. */
Status contact_memory_reserve(Core *core, ContactMemory *memory, int64_t places);
/* The same in `now`, whose contents are forgotten but for those of nobody. */
Status contact_memory_free(Core *core, ContactMemory *memory, int64_t places);
/* So many places of `next` are remembered from now on. The caller has written row[] and held[]. */
void contact_memory_turn(ContactMemory *memory, int64_t places);
Status contact_memory_archive(Core *core, Archive *archive, ContactMemory *memory);
/* What was loaded: rows lie within the places. */
Status contact_memory_check(Core *core, const Archive *archive, const ContactMemory *memory, int64_t grains);
void contact_memory_destroy(Core *core, ContactMemory *memory);

/* Where grain i stood among the particles when the memory was written; CONTACT_STRANGER, if it was not there. So the
 * fields of a newborn may be zero. */
#define CONTACT_STRANGER UINT32_MAX
static inline uint32_t contact_key(const ContactMemory *memory, int64_t i) { return memory->number[i] - 1; }
static inline uint32_t contact_number(int64_t i) { return (uint32_t)i + 1; }
/* A key for the k-th of what is no grain: they count down from the top, where grains are never seen. */
static inline uint32_t contact_key_from_top(int32_t k) { return CONTACT_STRANGER - 1 - (uint32_t)k; }

/* How many contacts grain i has: in every LANES-th place from `first` on. A damaged checkpoint may lie about them. */
static inline int64_t contact_memory_row(const ContactMemory *memory, int64_t i, int64_t *first) {
  int64_t held = memory->held[i];
  *first = memory->row[i];
  return *first + (held - 1) * LANES < memory->places ? held : 0;
}
/* Where grain i's contact with a partner is; 0, where all is zero, when it is not remembered. */
static inline int64_t contact_memory_find(const ContactMemory *memory, int64_t i, uint32_t key) {
  int64_t first, held = contact_memory_row(memory, i, &first);
  for (int64_t k = 0; k < held; k++)
    if (memory->now.key[first + k * LANES] == key) return first + k * LANES;
  return 0;
}

#endif
