/* What the host hands to the kernels of the position-based family (position.cl): one text for both. */
#ifndef METHODS_COMMON_POSITION_SHARED_H
#define METHODS_COMMON_POSITION_SHARED_H

#include "methods/common/position_boundary_law.h"
#include "methods/common/position_law.h"
#include "methods/common/position_match_shared.h"
#include "methods/common/position_ride_shared.h"
#include "neighbors/bins_shared.h"

enum { BOUNDARY_PUSHES = 16, WRENCH_PARTS = 6 }; /* contacts that a work item sums up; and of what */
enum { POSITION_GROUP = 64, POSITION_ABREAST = 8 /* grains of a slice: contact_memory.h says why */ };
/* Batches of contacts: those of pairs, and behind them the one of contacts with solids. */
enum { POSITION_PAIR_BATCHES = 4, POSITION_BOUNDARY_BATCH = POSITION_PAIR_BATCHES, POSITION_BATCHES };
#define POSITION_PINNED_MOST 1000.0f /* see position.h */
#define POSITION_FAR 1e30f           /* a gap that nothing closes; the radius of a solid's surface */

/* A step. */
typedef struct PositionShared {
  int count, slices;                /* grains; POSITION_ABREAST of them */
  int boundary_row, boundary_count; /* contacts with solids: as partners they are numbered from this on */
  int materials;
  int faces;                                     /* keys of a solid */
  int memory, turning, bonds, kinds, renumbered; /* whether */
  int pins;                                      /* bodies may press grains against what stands still */
  int soft;                                      /* contacts may bear overlap */
  int averaging;
  unsigned places; /* of the memory that may be read */
  int substeps;
  float h, fall[3], recovered, slop, carried, margin, history_scale;
  float relaxation, relaxation_pairs, relaxation_boundary, shift_part;
  float per_radius;        /* 1 / nominal radius */
  float printed_limit;     /* see position_printed */
  int own_rows, wall_rows; /* how far apart rows stand that lie in one piece: see OWN_PUSH, WALL_NOW */
} PositionShared;

/* Rows that a pass reads and writes of each grain for itself, and rows of contacts with solids, in one piece each:
 * every argument makes a launch longer, by 0.2 us on an H200. */
enum { OWN_PUSH, OWN_TOTAL, OWN_LEFT, OWN_BEFORE, OWN_TORQUE, OWN_ROWS };
enum { WALL_NOW, WALL_LAST, WALL_RIM, WALL_ROWS };

/* What inverse masses are made of; and how much of a step's counters is cleared when it begins. */
typedef struct BeginShared {
  double up[3];  /* against gravity */
  float scaling; /* 1/m; 0: masses are what they are */
  int count;
  int bins, solids, samples;
  int unused;
} BeginShared;

/* What finds contacts with solids. */
typedef struct BoundarySearch {
  double origin[3];
  int solids, words; /* words of 32 bits that say which solids are near a grain */
  int springs, fill; /* see PositionSettings; contacts are written, not only counted */
  int samples;       /* of solids */
  int asks;          /* the host has answered about some solids */
  float sample_radius;
  double scale; /* of the bins */
} BoundarySearch;

/* How a solid goes in the step, without the grains. */
typedef struct BoundaryBody {
  Vec3 center, way; /* of its centre: at the step's start, and its displacement */
  Vec3 spin;        /* 1/s */
  Mat3 turn;
  double mobility[6][6];  /* of one that grains can move: Solid.inverse_inertia */
  double mass;            /* of a free one; 0: it is none */
  double linear, angular; /* inverse mass of a contact with it, at most: by its centre, and by the square of its arm */
  Quat turned;            /* as turn */
  Vec3 middle;            /* of a matched one: see PositionBody */
  Quat pose;              /* of one that grains can move; and about its centre, in its shape's frame */
  Mat3 inertia;
  int turns, movable, still, sampled, matched, free;
} BoundaryBody;

/* What pushes the bodies that grains can move as a whole: which of the contacts with solids these are, in their order,
 * and what each pushes with; then sums for each body. */
enum { PUSH_PARTS = 8, PUSH_RESISTANCE = 6 }; /* push, its moment, resistance to rolling */
/* Of matched bodies behind them what pushes their samples, 64 bits each: see boundary_match. */
enum {
  BODY_MOVED = 0,
  BODY_PUSH = 6,
  BODY_RESISTANCE = 12,
  BODY_CONTACTS = 13,
  BODY_MATCH = 14,
  BODY_SUMS = BODY_MATCH + MATCH_SUMS,
  BODY_LANES = 8
};

/* What becomes of the bodies by these sums: before the first substep or between iterations, or after a substep. */
typedef struct RideShared {
  int solids, row; /* of the substep; how many rows a substep has */
  int ends, goes_on,
      memory; /* whether: the substep is over, another follows, which begins with what pushed in this one */
  int unused;
} RideShared;

/* A contact with a solid: of the grain's the `rank`-th. */
typedef struct BoundaryShared {
  int grain, rank, solid;
  unsigned key;
  float normal[3], gap;
  float arm[3];
  unsigned any_key; /* of a mesh that it meets in one place: the highest of the keys of its faces, any of which may be
                       what it is remembered by; 0: its own key alone */
} BoundaryShared;

/* A grain near a solid that the host is asked about. */
typedef struct AskedGrain {
  float at[3], low[3], way[3], radius;
  int grain, unused;
} AskedGrain;

/* A solid in a substep: how it moves there, and how it moved in the one before; doubles, three and nine at a time. */
enum {
  RIDE_SHIFT = 0,
  RIDE_SPIN = 3,
  RIDE_TURN = 6,
  RIDE_LAST_SHIFT = 15,
  RIDE_LAST_TURN = 18,
  RIDE_TOTAL = 27,
  RIDE_STILL = 30,
  RIDE_ALONE = 31,    /* where sums begin: without what pushes it */
  RIDE_ROTATION = 37, /* since the step's start */
  RIDE_DOUBLES = 46
};

#endif
