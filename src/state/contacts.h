/* Neighbour lists of the particles and the data that belongs to a contact.
 *
 * Three lists, one form: particle to particle (full: i has j and j has i), particle to sample of a solid, particle to
 * solid (by distance). Each entry may carry `history_size` floats of a method's own (shear springs, friction
 * anchors); a rebuild finds them again by the pair of ids. Both sides of a pair hold a copy: kernels gather. */
#ifndef STATE_CONTACTS_H
#define STATE_CONTACTS_H

#include "core/archive.h"
#include "neighbors/neighbors.h"
#include "state/particles.h"
#include "state/solids.h"

typedef struct ContactList {
  NeighborList list;     /* index: particle, sample or solid */
  uint32_t *partner;     /* stable id of the partner, per entry; made only when there is history */
  float *history;        /* history_size floats per entry */
  int32_t history_size;
} ContactList;

/* Points on or in solids, relative to the state's origin. Sample ids are index + 1. */
typedef struct SolidSamples {
  int64_t count;
  float *x, *y, *z;       /* now */
  float *vx, *vy, *vz;    /* velocity of the point */
  float *local_x, *local_y, *local_z; /* in the shape's frame */
  float *mass;            /* share of the body's mass; 0 for walls */
  uint32_t *id;
  int32_t *solid;         /* owner */
  float radius;
} SolidSamples;

typedef struct Contacts {
  ContactList particles, samples, solids;
  ContactList spare[3];   /* where the next build of each goes when history must be carried over; memory only */
  float reach;            /* of the last build: factor on the sum of radii */
  float skin;             /* m */
  int64_t builds;
} Contacts;

/* Carries history over from `old` (rows in old particle order) to `fresh` (rows in new order): row k of fresh was row
 * order[k] of old (order NULL: the same). What has none gets zeros. */
Status contact_list_carry(Core *core, const ContactList *old, const int32_t *order, ContactList *fresh);
/* Drops the rows of particles that are gone: row k was row order[k], ascending. */
void contacts_keep_rows(Contacts *contacts, const int32_t *order, int64_t count);
void contact_list_destroy(Core *core, ContactList *list);
Status contact_list_archive(Core *core, Archive *archive, ContactList *list, int64_t rows);
void solid_samples_destroy(Core *core, SolidSamples *samples);

#endif
