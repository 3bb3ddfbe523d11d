/* One step's contacts: every pair of grains once, every contact with a solid once.
 *
 * A pair is computed once, and belongs to its first grain, the one that is stored before the other. Half the work of a
 * loop over full lists, and still no two threads write the same place, so the sums do not depend on threads.
 *
 * Grains are worked off in slabs of fixed length. What a slab's contacts exert is summed in a buffer of the thread's
 * own that stays in its cache, contact after contact, and the slab's grains are kicked by it there and then. Pairs
 * whose second grain lies in a later slab stand apart and come first: what they exert goes to the outbox, where both
 * slabs find it.
 *
 * What a contact reads of a grain stands together, in a row. Positions in rows are integers, in units of a share of the
 * reach of a contact, modulo 2^32: differences of neighbours are exact wherever the grains are. */
#ifndef METHODS_DEM_CONTACTS_H
#define METHODS_DEM_CONTACTS_H

#include "core/parallel.h"
#include "core/simd.h"
#include "methods/dem/contact_constants.h"

enum {
  DEM_ROW = 3,      /* quads of a row: x y z radius, v x y z 1/mass, w x y z column of the constants */
  DEM_GHOST = 16,   /* of a solid: point x y z, normal x y z, v x y z, w x y z, radius, 1/radius, 1/mass, column */
  DEM_SUM = 12,     /* floats: force, lever, moment of the rolling spring, each with one to spare; a row's length */
  DEM_CHUNK = 1024, /* grains, in loops without contacts */
  DEM_FLOCK = LANES /* grains that follow each other and whose ways are told together */
};

/* Contacts in the order of their grain; each slab's are padded to whole groups of LANES. Springs stand in groups too:
 * LANES of one component, then of the next. */
typedef struct DemContacts {
  int64_t count;
  int32_t *start;        /* per grain, grains + 1 */
  int32_t *first;        /* row of the grain, in quads */
  int32_t *partner;      /* pairs: row of the second grain, in quads; solids: a key of what is touched */
  float *springs;        /* shear force x y z, then, with rolling resistance, its moment x y z */
  float (*ghost)[LANES]; /* solids: DEM_GHOST of these per group */
} DemContacts;

/* The contacts that are nearly there: made when the lists change, and when a grain may have gone farther than it was
 * given. Lists reach far so as to live long; but a pair that cannot touch yet should cost nothing. */
typedef struct DemTopology {
  int64_t builds, grains;           /* of the lists it was made from; -1: none */
  float *margin;                    /* per flock: how far its grains may go before they may touch others, m */
  float *gone;                      /* per flock: farthest that one can have gone since, m */
  int32_t spring_size;              /* floats per contact */
  double quantum;                   /* m, unit of the rows' positions: a power of two */
  DemContacts pairs, outer, solids; /* outer: pairs of grains of different slabs */
  int64_t slab, slabs;              /* grains of one, number */
  int64_t slab_solids;              /* of the fullest slab */
  int32_t *inbox_start;             /* per slab and one more: in the inbox */
  int32_t *inbox;                   /* outer pairs whose second grain is the slab's */
  bool any_moves;                   /* whether a ghost must be refreshed in each step */
} DemTopology;

typedef struct DemSettings {
  bool verlet, rotation, rolling, cap_total;
} DemSettings;

/* Particle fields of dem's own. Accelerations are those of the contacts alone. */
typedef struct DemFields {
  float *spin[3], *acceleration[3], *angular_acceleration[3];
  int32_t *row; /* where the grain stood when the topology was made, plus one; 0: it was not there */
} DemFields;

typedef struct DemStep {
  Step *step;
  const DemSettings *settings;
  DemTopology *topology;
  const DemConstantsTable *constants;
  const DemFields *fields;
  float dt;
  float (*rows)[4];
  int64_t grains;
  float *ways;              /* per flock: farthest way of the step, m */
  float (*sums)[DEM_SUM];   /* per thread: of a slab's grains; results with solids */
  int64_t sums_size;        /* rows per thread */
  float (*outbox)[DEM_SUM]; /* per outer pair: what it exerts on its first grain */
  float *stiffest;          /* per slab */
} DemStep;

static inline int64_t dem_flocks(int64_t grains) { return (grains + DEM_FLOCK - 1) / DEM_FLOCK; }
static inline int64_t dem_padded(int64_t count) { return (count + LANES - 1) / LANES * LANES; }
static inline float *dem_spring(const DemTopology *t, const DemContacts *contacts, int64_t at, int component) {
  return contacts->springs + (at / LANES * t->spring_size + component) * LANES + at % LANES;
}
/* Grains of a slab. Their sums should stay in a core's second cache; where there are many grains, slabs may be longer
 * without leaving a thread idle, and fewer pairs reach from one to the next. */
static inline int64_t dem_slab_for(int64_t grains) { return grains > 65536 ? 8192 : 2048; }
static inline int64_t dem_slab_end(const DemTopology *t, int64_t slab) {
  return (slab + 1) * t->slab < t->grains ? (slab + 1) * t->slab : t->grains;
}

/* Rows of all grains by `body`, which fills those of a chunk and notes their flocks' ways. */
void dem_contacts_fill(DemStep *work, ParallelBody body);
/* The contacts that are nearly there. Rows were filled before the neighbours were asked for. */
Status dem_contacts_begin(DemStep *work);
/* Forces of all contacts, their sums, the kick by them, reactions on solids; answers the largest squared frequency. */
Status dem_contacts_forces(DemStep *work, double *stiffest);

#endif
