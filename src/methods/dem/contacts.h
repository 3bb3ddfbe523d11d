/* One step's contacts: every pair of grains once, every contact with a solid once.
 *
 * A pair is computed by its owner, the grain of the smaller id, and its result stands in a place of its own; each
 * grain then gathers the results of its pairs, owned and not. Half the work of a loop over full lists, and still no
 * two threads write the same place, so the sums do not depend on threads. Only the owner's history is kept: the id
 * decides, so it is the same entry whatever the storage order.
 *
 * What a contact reads of a grain stands in one cache line, a row; contacts with solids have ghost rows behind those
 * of the grains, at the touched point. */
#ifndef METHODS_DEM_CONTACTS_H
#define METHODS_DEM_CONTACTS_H

#include "core/simd.h"
#include "methods/dem/law.h"

enum {
  DEM_ROW = 16,     /* floats: x y z radius, e x y z 1/mass, v x y z 1/radius, w x y z column of the laws */
  DEM_HISTORY = 6,  /* floats: spring force in the tangent plane, moment of the rolling spring */
  DEM_RESULT = 9,   /* floats: force on the first, (n x force) dist / (sum of radii), moment on the first */
  DEM_CHUNK = 1024, /* grains */
  DEM_SPARE = 32,   /* refs that may be looked at beyond the last */
  DEM_GHOSTS = SHAPE_CONTACTS_MAX, /* per entry of the list of solids */
  DEM_SOLID_HISTORY = DEM_GHOSTS * DEM_HISTORY
};

/* Pairs in ascending order of their first grain, padded to whole groups of LANES. Rows are counted in quads of floats:
 * 4 i is grain i's. */
typedef struct DemPairs {
  int64_t count;
  int32_t *first, *second; /* quads */
  int32_t *unit;           /* of history: DEM_HISTORY floats each */
  float *history;
  float *result;
} DemPairs;

/* The pairs of the lists that are nearly in touch: made when the lists change, and when something may have moved half
 * of what "nearly" is. Lists reach far so as to live long; but a pair that cannot touch yet should cost nothing. */
typedef struct DemTopology {
  int64_t builds, grains; /* of the lists it was made from */
  double moved;           /* m, farthest that any grain can have gone since */
  uint8_t *near;          /* per entry of the list */
  int64_t *owned;         /* per grain: its first pair; grains + 1 */
  int64_t *others;        /* per grain: its first ref; grains + 1 */
  int32_t *refs;          /* pairs that a grain is second in; some spare ones behind */
  int32_t *first, *second, *unit;
} DemTopology;

typedef struct DemSettings {
  bool verlet, rotation, cap_total;
} DemSettings;

/* A particle field of dem's own. Accelerations are those of the contacts alone. */
typedef struct DemFields {
  float *spin[3], *acceleration[3], *turning[3];
} DemFields;

typedef struct DemStep {
  Step *step;
  const DemSettings *settings;
  DemTopology *topology;
  const DemLaws *laws;
  const DemFields *fields;
  float dt;
  float (*rows)[4];
  int64_t row_count, pad; /* pad: a row that touches nothing */
  DemPairs pairs, solids, samples;
  float *farthest; /* per chunk of grains: largest squared displacement */
} DemStep;

void dem_topology_destroy(Core *core, DemTopology *topology);
/* Rows, near pairs, ghosts, and room for results. Scratch is taken: the caller releases it. */
Status dem_contacts_begin(DemStep *work);
/* Forces of all contacts; answers the largest squared frequency. */
Status dem_contacts_forces(DemStep *work, double *stiffest);
/* Accelerations and the second half kick. */
void dem_contacts_gather(DemStep *work);
/* Reactions on solids. */
void dem_contacts_push_solids(DemStep *work);

#endif
