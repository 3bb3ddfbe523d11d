/* The contacts of a step: every pair of grains once, every boundary contact once.
 *
 * A pair belongs to its first grain, the one that is stored before the other. Computing it once is half the work of a
 * loop over full lists. No two threads write the same place, so the sums do not depend on threads.
 *
 * Threads take windows of grains. A thread sums what a window's contacts exert in a buffer of its own that stays in its
 * cache, contact after contact, and then kicks the window's grains. Pairs whose second grain is in a later window are
 * the outer ones. They are computed first, and what they exert is stored where both windows find it. */
#ifndef METHODS_DEM_CONTACTS_H
#define METHODS_DEM_CONTACTS_H

#include "core/parallel.h"
#include "core/simd.h"
#include "methods/dem/contact_constants.h"

enum {
  DEM_ROW = 3,      /* quads of a row: x y z radius, v x y z 1/mass, w x y z column of the constants */
  DEM_SUM = 12,     /* floats: force, lever, moment of ContactForces, each with one to spare; a row's length */
  DEM_CHUNK = 1024, /* grains, in loops without contacts */
  DEM_OCTET = LANES /* grains that follow each other in storage and share a margin */
};

/* Floats that a boundary contact reads of its solid: ContactSide and ContactSurface. */
enum {
  SURFACE_POINT = 0, /* in quanta, as in rows */
  SURFACE_FACE = 3,
  SURFACE_VELOCITY = 6,
  SURFACE_SPIN = 9,
  SURFACE_RADIUS = 12,
  SURFACE_CURVATURE,
  SURFACE_INVERSE_MASS,
  SURFACE_COLUMN, /* of the constants */
  DEM_SURFACE
};

/* Contacts in the order of their first grain. Those of each window are padded to whole groups of LANES. Springs and
 * surfaces are stored by groups: LANES of one component, then of the next. */
typedef struct DemContacts {
  int64_t count;
  int32_t *start;           /* per grain, grains + 1 */
  int32_t *first;           /* row of the first grain, in quads */
  int32_t *second;          /* pairs: row of the second grain, in quads */
  int32_t *key;             /* boundary contacts: solid and face, or sample; see boundary_contacts.c */
  float (*surfaces)[LANES]; /* boundary contacts: DEM_SURFACE of these per group */
  float *springs;           /* shear force x y z, then, with rolling resistance, its moment x y z */
} DemContacts;

/* The contacts that may touch soon. Neighbour lists reach far so as to live long, but a pair that cannot touch yet
 * should cost nothing. Filled by dem_topology_update when the lists change or a grain may have moved farther than its
 * margin; holds, with its springs, until it is filled again. */
typedef struct DemTopology {
  int64_t builds, grains;             /* of the lists that it was made from; -1: none */
  float *margin;                      /* per octet: how far its grains may move before they may touch others, m */
  float *travelled;                   /* per octet: the most that one of them can have moved since, m */
  int32_t spring_size;                /* floats per contact */
  double quantum;                     /* m, unit of positions in rows: a power of two */
  DemContacts pairs, outer, boundary; /* outer: pairs of grains of different windows */
  int64_t window, windows;            /* grains of one, number */
  int64_t fullest_boundary;           /* boundary contacts of the window that has most */
  int32_t *incoming_start;            /* per window and one more: in `incoming` */
  int32_t *incoming;                  /* outer pairs whose second grain is the window's */
  bool refreshes;                     /* whether surfaces change from step to step */
} DemTopology;

typedef struct DemSettings {
  bool verlet, rotation, rolling, cap_total, bonds;
} DemSettings;
/* Floats that a contact remembers. */
static inline int32_t dem_spring_size(const DemSettings *settings) { return settings->rolling ? 6 : 3; }

/* Particle fields of dem's own. Accelerations are those of the contacts alone. */
typedef struct DemFields {
  float *spin[3], *acceleration[3], *angular_acceleration[3];
  int32_t *row; /* where the grain was when the topology was made, plus one; 0: it was not there */
} DemFields;

/* What contacts read of grains. Filled by dem_prepare; filled again by dem_contacts_begin where the neighbour search
 * has changed the order of grains. Holds until the end of the step. */
typedef struct DemRows {
  int64_t grains;
  float (*quads)[4]; /* DEM_ROW per grain */
  float *longest;    /* per octet: longest displacement of the step, m */
} DemRows;

/* What contacts exert. Taken from scratch by dem_contacts_forces; holds until it returns. */
typedef struct DemForces {
  float (*sums)[DEM_SUM];     /* `window` per thread: sums of the grains of the window in work */
  float (*boundary)[DEM_SUM]; /* `fullest_boundary` per thread: what its boundary contacts exert on their grains */
  float (*outer)[DEM_SUM];    /* per outer pair: what it exerts on its first grain; complete before any window sums */
  float *stiffest;            /* per window: largest squared frequency, 1/s^2 */
} DemForces;

typedef struct DemStep {
  Step *step;
  float dt;
  const DemSettings *settings;
  const DemConstantsTable *constants;
  const DemFields *fields;
  DemRows rows;
  DemTopology *topology;
  DemForces forces;
} DemStep;

static inline int64_t dem_octets(int64_t grains) { return (grains + DEM_OCTET - 1) / DEM_OCTET; }
static inline int64_t dem_padded(int64_t count) { return (count + LANES - 1) / LANES * LANES; }
static inline float *dem_spring(const DemTopology *t, const DemContacts *contacts, int64_t at, int component) {
  return contacts->springs + (at / LANES * t->spring_size + component) * LANES + at % LANES;
}
/* Grains of a window. Their sums should stay in a core's second cache. Where there are many grains, longer windows
 * leave no thread idle, and fewer pairs are outer ones. */
static inline int64_t dem_window_for(int64_t grains) { return grains > 65536 ? 8192 : 2048; }

/* Chosen when the lists are: only then can there be larger grains. */
void dem_choose_quantum(DemStep *work);
/* Fills the rows of all grains by `body`, a row kernel. */
void dem_contacts_fill(DemStep *work, ParallelBody body);
/* Brings rows and topology up to date with the neighbour lists. */
Status dem_contacts_begin(DemStep *work);
/* Computes the forces of all contacts, kicks the grains by them and adds the reactions to the wrenches of solids.
 * `stiffest` is the largest squared frequency of a contact. */
Status dem_contacts_forces(DemStep *work, double *stiffest);

#endif
