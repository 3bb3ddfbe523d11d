/* Particles as structures of arrays, made from the field list. */
#ifndef STATE_PARTICLES_H
#define STATE_PARTICLES_H

#include "core/archive.h"
#include "core/core.h"
#include "core/scratch.h"
#include "neighbors/neighbors.h"
#include "state/fields.h"

enum { PARTICLE_SPARES = 4 };

typedef struct Particles {
  int64_t count, capacity;
#define PARTICLE_MEMBER(type, name, hashed, floats, meaning) type *name;
  PARTICLE_FIELDS(PARTICLE_MEMBER)
#undef PARTICLE_MEMBER
  Field fields[FIELDS_MAX];
  int32_t field_count;
  uint32_t *spare[PARTICLE_SPARES]; /* sorted fields go there; what they were then is the next ones' spare */
  uint32_t next_id;
} Particles;

Status particles_create(Core *core, Particles *particles);
void particles_destroy(Core *core, Particles *particles);

/* A field of a method's own, zero for all particles, kept by sort, growth, removal, checkpoint and (if hashed) hash.
 * `data` must stay where it is: it is told the array's address again whenever that changes. */
Status particles_add_field(Core *core, Particles *particles, const char *name, int32_t size, bool hashed, void **data);
/* The same, of so many floats for each particle, all finite between frames: a checkpoint that says otherwise is
 * refused. What else a field must be its owner looks at. */
Status particles_add_floats(Core *core, Particles *particles, const char *name, int32_t floats, bool hashed,
                            void **data);

/* Whether such a field, which is there, is hashed from now on. */
void particles_hash_field(Particles *particles, const char *name, bool hashed);

/* Such a field has a copy on a device, where the particles are on one. */
void particles_mirror_field(Particles *particles, const char *name);

/* Where the address of such a field's array is kept; NULL: there is no such field. */
void **particles_field(const Particles *particles, const char *name);

Status particles_reserve(Core *core, Particles *particles, int64_t capacity);
/* Appends zeroed particles, with fresh ids, at [old count, new count). */
Status particles_append(Core *core, Particles *particles, int64_t count);
/* New particle k is old particle order[k]; `count` of them, so leaving some out removes them. Fields change places. */
Status particles_permute(Core *core, Particles *particles, Scratch *scratch, const int32_t *order, int64_t count);
/* The same of those fields alone that are here; the others stay as they are. */
Status particles_permute_some(Core *core, Particles *particles, Scratch *scratch, const int32_t *order, int64_t count,
                              const bool *here);
/* Takes particles out, `dead` in ascending order; those at the end come into their places. */
void particles_remove(Particles *particles, const int32_t *dead, int64_t count);
/* The same, gap by gap: who comes from where into whose place. When there are no more, `last` is how many stay. */
typedef struct ParticleGaps {
  const int32_t *dead;
  int64_t at, end, last;
} ParticleGaps;
static inline ParticleGaps particles_gaps(const Particles *particles, const int32_t *dead, int64_t count) {
  return (ParticleGaps){.dead = dead, .end = count, .last = particles->count};
}
bool particles_next_gap(ParticleGaps *gaps, int32_t *to, int32_t *from);
Status particles_archive(Core *core, Archive *archive, Particles *particles);
/* What was loaded: ids, and floats of all fields. */
Status particles_check(Core *core, const Archive *archive, const Particles *particles);
/* By id, independent of storage order and threads. */
uint64_t particles_hash(Core *core, const Particles *particles);
/* Largest speed, m/s; 0 when there is none. */
double particles_fastest(const Particles *particles);

static inline Points particles_points(const Particles *p) { return (Points){p->count, p->x, p->y, p->z, p->id}; }

#endif
