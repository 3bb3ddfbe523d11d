/* What the host hands to the kernels of the position-based family (position.cl): one text for both. */
#ifndef METHODS_COMMON_POSITION_SHARED_H
#define METHODS_COMMON_POSITION_SHARED_H

#include "methods/common/position_boundary_law.h"
#include "methods/common/position_law.h"
#include "neighbors/bins_shared.h"

enum { BOUNDARY_PUSHES = 16, WRENCH_PARTS = 6 }; /* contacts that a work item sums up; and of what */
enum { POSITION_GROUP = 64, POSITION_ABREAST = 8 /* grains of a slice: contact_memory.h says why */ };
/* Batches of contacts: those of pairs, and behind them the one of contacts with solids. */
enum { POSITION_PAIR_BATCHES = 4, POSITION_BOUNDARY_BATCH = POSITION_PAIR_BATCHES, POSITION_BATCHES };
#define POSITION_PINNED_MOST 1000.0f /* see position.h */
#define POSITION_FAR 1e30f           /* a gap that nothing closes; the radius of a solid's surface */

/* A step. */
typedef struct PositionShared {
  int count, slices;
  int boundary_row, boundary_count; /* contacts with solids: as partners they are numbered from this on */
  int materials;
  int faces;                                     /* keys of a solid */
  int memory, turning, bonds, kinds, renumbered; /* whether */
  int pins;                                      /* bodies may press grains against what stands still */
  int soft;                                      /* contacts may bear overlap */
  unsigned places;                               /* of the memory that may be read */
  int substeps;
  float h, fall[3], recovered, slop, carried, margin, history_scale;
  float relaxation, relaxation_pairs, relaxation_boundary, shift_part;
  float per_radius; /* 1 / nominal radius */
} PositionShared;

/* What finds contacts with solids. */
typedef struct BoundarySearch {
  double origin[3];
  int solids, words; /* words of 32 bits that say which solids are near a grain */
  int springs, fill; /* see PositionSettings; contacts are written, not only counted */
} BoundarySearch;

/* How a solid goes in the step, without the grains. */
typedef struct BoundaryBody {
  Vec3 center, way; /* of its centre: at the step's start, and its displacement */
  Vec3 spin;        /* 1/s */
  Mat3 turn;
  double mobility[6][6];  /* of one that grains can move: Solid.inverse_inertia */
  double mass;            /* of a free one; 0: it is none */
  double linear, angular; /* inverse mass of a contact with it, at most: by its centre, and by the square of its arm */
  int turns, movable, still, unused;
} BoundaryBody;

/* What pushes the bodies that grains can move as a whole: which of the contacts with solids these are, in their order,
 * and what each pushes with; then sums for each body. */
enum { PUSH_PARTS = 8, PUSH_RESISTANCE = 6 }; /* push, its moment, resistance to rolling */
enum { BODY_SUMS = 16, BODY_MOVED = 0, BODY_PUSH = 6, BODY_RESISTANCE = 12, BODY_CONTACTS = 13, BODY_LANES = 8 };

/* A contact with a solid: of the grain's the `rank`-th. */
typedef struct BoundaryShared {
  int grain, rank, solid;
  unsigned key;
  float normal[3], gap;
  float arm[3];
  unsigned any_key; /* of a mesh that it meets in one place: the highest of the keys of its faces, any of which may be
                       what it is remembered by; 0: its own key alone */
} BoundaryShared;

/* A solid in a substep: how it moves there, and how it moved in the one before; doubles, three and nine at a time. */
enum {
  RIDE_SHIFT = 0,
  RIDE_SPIN = 3,
  RIDE_TURN = 6,
  RIDE_LAST_SHIFT = 15,
  RIDE_LAST_TURN = 18,
  RIDE_TOTAL = 27,
  RIDE_STILL = 30,
  RIDE_ALONE = 31, /* where sums begin: without what pushes it */
  RIDE_DOUBLES = 40
};

#endif
