/* Neighbour lists of the particles.
 *
 * Three lists, one form: particle to particle (full: i has j and j has i), particle to sample of a solid, particle to
 * solid (by distance). What contacts remember is the methods' (methods/common/contact_memory.h). */
#ifndef STATE_CONTACTS_H
#define STATE_CONTACTS_H

#include "neighbors/neighbors.h"
#include "state/particles.h"
#include "state/solids.h"

typedef struct ContactList {
  NeighborList list; /* index: particle, sample or solid */
} ContactList;

/* Points on or in solids, relative to the state's origin. Sample ids are index + 1. */
typedef struct SolidSamples {
  int64_t count;
  float *x, *y, *z;                   /* now */
  float *vx, *vy, *vz;                /* velocity of the point */
  float *local_x, *local_y, *local_z; /* in the shape's frame */
  float *mass;                        /* share of the body's mass; 0 for walls */
  uint32_t *id;
  int32_t *solid; /* owner */
  float radius;
} SolidSamples;

enum { SOLIDS_PER_WORD = 64 };

typedef struct Contacts {
  ContactList particles, samples, solids;
  const uint64_t *near; /* solids that are near a particle by distance: near_words of bits each. For methods that
                           search themselves they are not listed */
  int64_t near_words;
  float reach; /* of the last build: factor on the sum of radii */
  float skin;  /* m */
  int64_t builds;
  bool elsewhere; /* the lists are on a device (State.mirror), and these are not up to date */
  double overlap; /* at the end of the last frame, where the method has no lists: see world_overlap */
} Contacts;

void contacts_destroy(Core *core, Contacts *contacts);
void solid_samples_destroy(Core *core, SolidSamples *samples);

#endif
