/* The position-based family: what pbd and p2 share.
 *
 * The unknown of a step is the displacement d_i of every grain; positions are never subtracted from each other after
 * the step's start. A step is: predict d, shift old overlap apart without making speed of it, iterate over the
 * contacts, each grain gathering the corrections of its own (Jacobi), then velocity = d / dt.
 *
 * Contacts are decided once a step: every listed pair whose gap could close gets a slot. Slots are laid out eight
 * grains abreast (sliced ELLPACK): lane l of slice s is grain 8 s + l, its k-th contact stands in group begin[s] + k,
 * so that the eight lanes run in step and only the partners' displacements are fetched from elsewhere.
 *
 * Walls and bodies are partners like any other: a contact with one has a ghost row behind the grains' rows of
 * displacements, and is marked flat (its normal does not turn when the grain slides). One loop serves all. */
#ifndef METHODS_COMMON_POSITION_H
#define METHODS_COMMON_POSITION_H

#include "core/parallel.h"
#include "core/simd.h"
#include "methods/method.h"

enum { SLICE = LANES };

/* Per slot. Multipliers are in kg m: force = multiplier / dt^2, displacement = inverse mass times multiplier. */
#define POSITION_SLOT_FIELDS(X)                                                                                        \
  X(int32_t, partner) /* row of displacements; the grain itself in unused lanes */                                     \
  X(int32_t, flat)    /* -1 for walls and bodies, 0 for grains and samples */                                          \
  X(float, ox)        /* x_i - x_j at the step's start, the stabilising shift included */                              \
  X(float, oy)                                                                                                         \
  X(float, oz)                                                                                                         \
  X(float, distance)  /* the pair may not come closer than this */                                                     \
  X(float, mu_static)                                                                                                  \
  X(float, mu_kinetic)                                                                                                 \
  X(float, ln)        /* multiplier along the normal, summed over the step */                                          \
  X(float, ltx)       /* and that of friction */                                                                       \
  X(float, lty)                                                                                                        \
  X(float, ltz)

/* What of a slot lives across steps, in ContactList.history: ln and lt. The friction multiplier is the contact's
 * anchor: it grows with every bit of sliding until it holds the load, and the sliding then is zero whatever the number
 * of iterations. (An anchor in metres on top of it integrates the sliding twice and shakes the pile.) */
enum { POSITION_HISTORY = 4 };

typedef struct PositionSlots {
  int64_t slices, groups;
  int64_t *begin; /* slices + 1 */
  int64_t *entry; /* per slot: its place in the list of pairs; -1: a ghost's or an unused lane */
#define POSITION_SLOT_MEMBER(type, name) type *name;
  POSITION_SLOT_FIELDS(POSITION_SLOT_MEMBER)
#undef POSITION_SLOT_MEMBER
} PositionSlots;

typedef enum PositionList { POSITION_PAIRS, POSITION_SAMPLES, POSITION_SOLIDS } PositionList;

/* A contact with a solid and its row of displacements. Every entry of the lists of solids has room for
 * SHAPE_CONTACTS_MAX of them, every entry of the list of samples for one; unused ones have solid -1. */
typedef struct PositionGhost {
  int32_t solid, grain;
  int64_t entry;          /* in the contact list, for its history; -1: none of its own */
  int64_t slot;
  PositionList list;
  float offset[3];        /* as a slot's ox, oy, oz */
  float distance;
  float arm[3];           /* contact point from the solid's centre of mass */
} PositionGhost;

/* A solid in the solve: its displacement over the step, as centre and rotation vector. */
typedef struct PositionBody {
  bool movable;
  double start[6]; /* without the grains */
  double moved[6]; /* with what they have pushed so far */
  _Atomic int64_t ghosts; /* contacts with grains */
} PositionBody;

typedef struct PositionSettings {
  int iterations, stabilization;
  float relaxation;
  bool averaging;      /* the papers' 1 / n; otherwise mass splitting */
  bool memory;         /* begin with the multipliers of the last step */
  float mass_scaling;  /* k of m* = m exp(-k h), 1/m */
  float printed_limit; /* 1: friction limited by 2 r as printed; 0: by the penetration depth (averaging only) */
} PositionSettings;

/* One step's data, all in scratch. Rows hold dx, dy, dz and w n: inverse mass times number of contacts. */
typedef struct PositionStep {
  Step *step;
  const PositionSettings *settings;
  int64_t count, padded, ghost_count, rows; /* grains; rounded up to slices; ghosts; padded + ghosts */
  float dt, history_scale;
  float lowest;                /* height of the lowest grain, for mass scaling */
  float (*d4)[4], (*next)[4];  /* read and written by a pass, then swapped */
  float (*shift)[4];           /* of the stabilisation; w n in the fourth */
  float *w, *wn;               /* per grain, padded with zeros */
  PositionSlots slots;
  PositionGhost *ghosts;
  PositionBody *bodies;        /* per solid */
  void *law;                   /* of a method's own pass */
} PositionStep;

/* Displacement without contacts: v dt + g dt^2 (Sommer's Algorithm 1, lines 2 and 3; Holz Eq. 2). */
Status position_predict(Step *step);
/* Finds the contacts of the step and lays out the slots. Scratch is taken: the caller releases it. */
Status position_begin(Step *step, const PositionSettings *settings, float history_scale, PositionStep *work);
/* Stabilisation: moves overlapping grains apart without giving them speed. */
Status position_stabilize(PositionStep *work);
/* The iterations, with the family's own passes. */
Status position_solve(PositionStep *work);
/* The same with a pass of the method's: over slices, reads d4 and writes next. */
Status position_iterate(PositionStep *work, ParallelBody pass);
/* Velocities, displacements, history, wrenches on solids. */
Status position_end(PositionStep *work);

#endif
