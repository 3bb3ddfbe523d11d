/* The position-based family: what pbd and p2 share.
 *
 * The unknown of a step is the displacement d_i of every grain; positions are never subtracted from each other after
 * the step's start. A step is: predict d, shift old penetration apart without making speed of it, iterate over the
 * contacts, each grain gathering the corrections of its own (Jacobi), then velocity = d / dt.
 *
 * Contacts are decided once a step: every pair whose gap could close gets a slot. Slots are laid out eight
 * grains abreast (sliced ELLPACK): the k-th contact of the grain in lane l of slice s stands in group begin[s] + k, so
 * that the eight lanes run in step and only the partners' displacements are fetched from elsewhere. Inside a window of
 * grains the lanes are filled by falling number of contacts: grains abreast then have about equally many, and a third
 * fewer slots stand empty than in the grains' own order.
 *
 * Walls and bodies are partners like any other: a contact with one has a row of its own behind the grains' rows of
 * displacements. One loop serves all.
 *
 * A contact's normal is that of the step's start and stays: gap + n . (d_i - d_j) is the room between the two. That is
 * exact along the normal; sideways the plane lies outside the sphere, so it errs towards room. The force then acts
 * along the line of the centres of the positions that it turns, which keeps angular momentum exact, and the problem of
 * the step is a linear one. (A normal that turns with the grains was tried: same piles, twice the time, more
 * dependence on the number of iterations.) */
#ifndef METHODS_COMMON_POSITION_H
#define METHODS_COMMON_POSITION_H

#include "core/parallel.h"
#include "core/simd.h"
#include "methods/common/contact_memory.h"
#include "methods/common/position_search.h"
#include "methods/method.h"

/* Loops go over the same windows, or halves of them where lanes do not matter, so that a thread that has the first of
 * them in one loop has them in the next too. Passes take half a window of slices at a time. */
enum { SLICE = LANES, POSITION_WINDOW = 128, POSITION_CHUNK = POSITION_WINDOW / SLICE / 2 };
/* A pair gets a slot when its predicted gap is below what the corrections of the step may close: g dt^2, where one of
 * two grains that fall alike is held up, and POSITION_MARGIN nominal radii for what jostles; POSITION_MARGIN_MOST at
 * most, and where contacts pull, since what a prediction opens they may close. (0.06 radii for all were tried: up to an
 * eighth more slots at rest and the same overlaps, in flows too.) Solids are listed POSITION_SKIN farther. */
#define POSITION_MARGIN 0.01f
#define POSITION_MARGIN_MOST 0.06f
#define POSITION_SKIN 0.6f
#define POSITION_FAR 1e30f /* a gap that nothing closes */
/* Every shift of the stabilisation, however small, takes a heap a little out of its balance, and the balance that it
 * then finds lies a little lower: taking away the last bit of penetration makes a heap creep for minutes. So
 * penetration is left alone that is smaller than what gravity stirs in a step anyway: this many g dt^2, and this share
 * of two radii at most. */
#define POSITION_SLOP_FALL 0.5f
#define POSITION_SLOP_MOST 0.01f
/* Grains between a body and something fixed: for how many of their kind they count at most, and how far, in radii, they
 * may be thrown by remembered forces alone. */
#define POSITION_PINNED_MOST 1000.0f
#define POSITION_THROWN 0.1f
/* Of the penetration that a stabilising pass takes away. Lifting grains costs no work there, so an penetration that the
 * iterations leave and the shift takes away at once feeds the swinging of a stack; slower than the swing it does not.
 */
#define POSITION_SHIFT_SHARE 0.25f

/* Contacts as the passes see them: arrays over the slots. Those of the multipliers (kg m) and the partners are places
 * of the contact memory and are remembered across steps, rows of grains being their keys; the others live for the step.
 * Force = multiplier / dt^2, displacement = inverse mass times multiplier. That of friction is the contact's anchor: it
 * grows with every bit of sliding until it holds the load, and the sliding then is zero whatever the number of
 * iterations. (An anchor in metres on top of it integrates the sliding twice and shakes the pile.) */
typedef struct PositionSlots {
  int64_t slices, groups;
  int64_t *begin;         /* slices + 1 */
  int32_t *grain;         /* of each lane, SLICE per slice; count or more: nobody */
  int32_t *lane;          /* of each grain: the inverse of `grain` */
  int32_t *partner;       /* row of displacements; the grain itself in unused lanes */
  float *ln;              /* multiplier along the normal, summed over the step */
  float *ltx, *lty, *ltz; /* of friction */
  float *nx, *ny, *nz;    /* unit normal towards the grain, at the step's start */
  float *gap;             /* along it then, the stabilising shift included; POSITION_FAR in unused lanes */
  int32_t *kind; /* where in PositionLayout.mu; NULL: pairs have the first there, contacts with solids the second */
  float *soft;   /* penetration that a spring of the method's bears and that is not shifted apart; NULL: none */
} PositionSlots;

enum { POSITION_FACES = 8 }; /* of a solid, at most: they tell apart the contacts of one grain with it */

/* A contact with a solid and its row of displacements. */
typedef struct BoundaryContact {
  int32_t solid, grain;
  uint32_t key; /* that it is remembered by: its sample, or solid and face */
  int32_t slot;
  float normal[3], gap; /* as a slot's */
  float arm[3];         /* grain (or sample) from the solid's centre of mass, at the step's start */
} BoundaryContact;

/* A window of grains: groups of its slots, and its contacts with solids, which follow each other, grain by grain. */
typedef struct PositionWindow {
  int32_t groups;
  int32_t boundary, boundary_count;
  int32_t riding_count;           /* with bodies that grains can move */
  int32_t pushed, pushed_count;   /* of these the ones of bodies that are pushed as a whole: where they are listed */
  int32_t border[3], crossing[3]; /* second rows and slots that lead to others': where they begin, second half, end */
} PositionWindow;

/* A solid in the solve: its displacement over the step, as centre and rotation vector. */
typedef struct PositionBody {
  bool movable, matched;    /* matched: its samples are pushed one by one, then brought back into shape */
  bool still, upright;      /* it does not move in the step; it is not turned */
  int32_t faces;            /* that a grain touches at a time, at most */
  double start[6];          /* without the grains */
  double moved[6];          /* with what they have pushed so far */
  _Atomic int64_t boundary; /* contacts with grains, of one that they can move */
  bool turns;
  Quat turned;               /* rotation over the step, as moved says */
  Mat3 turn;                 /* the same */
  Vec3 middle;               /* matched: centre of its samples, from that of its mass */
  Mat3 unpushed, covariance; /* of where samples are to go and where they are, without the grains and with them */
} PositionBody;

/* What some contacts in a row push a matched body with. */
typedef struct PositionPush {
  _Alignas(64) int32_t solid;
  Vec3 push;    /* kg m */
  Mat3 moments; /* of the pushes about the samples' centre: sum of p a^T */
} PositionPush;

typedef struct PositionSettings {
  int iterations, stabilization;
  float relaxation;
  bool averaging;     /* the papers' 1 / n; otherwise mass splitting */
  bool memory;        /* begin with the multipliers of the last step */
  float shift_share;  /* of the penetration that a stabilising pass takes away; 0: all */
  bool sticky;        /* contacts may pull */
  bool slop;          /* it leaves a little penetration: see POSITION_SLOP_FALL */
  float mass_scaling; /* k of m* = m exp(-k h), 1/m */
  bool second_rows;   /* nobody but the passes looks at rows or partners before the last iteration is over */
  bool printed_limit; /* friction limited by 2 r as printed, not by the penetration depth (averaging only) */
} PositionSettings;

/* ---- a step, stage by stage: what each fills is read by those behind it ---- */

/* Who may touch whom. Filled by position_search_pairs and position_search_samples; holds until position_lay_out
 * returns, which has put all that touch into slots. */
typedef struct PositionCandidates {
  SearchFinds pairs;   /* see position_found */
  int32_t *pair_count; /* per grain */
  SampleTouches samples;
} PositionCandidates;

/* Contacts and where they stand. Filled by position_lay_out; holds until the step is over, but that position_end makes
 * keys of the partners of boundary contacts. */
typedef struct PositionLayout {
  PositionSlots slots;
  PositionWindow *windows;
  int32_t *contacts;         /* how many per grain, with grains and solids */
  BoundaryContact *boundary; /* window by window, which of them first depends on the threads */
  int64_t boundary_count, boundary_room;
  int64_t boundary_row; /* where their rows begin: behind those of the grains and the second ones */
  float *mu;            /* kinds of friction, static and kinetic; see position_friction */
  int32_t materials;
  bool lanes_known;                           /* slots.grain holds the lanes of the last step */
  atomic_bool renumbered;                     /* some grains do not stand where the memory knows them */
  _Alignas(64) _Atomic int64_t boundary_used; /* or wanted. Not on a line that all read */
} PositionLayout;

/* Where grains are at the step's start. Filled by position_start_pass for the normals and gaps of the slots; it lies in
 * rows.next and rows.shift and holds until position_begin loads those. */
typedef struct PositionStart {
  float (*at)[4];  /* x and radius */
  float (*low)[4]; /* what x could not hold */
} PositionStart;

/* Displacements: dx, dy, dz and w n, inverse mass times number of contacts. Taken by position_lay_out, loaded at the
 * end of position_begin; every pass then reads `now` and writes `next`, and the two are swapped. Hold until the step is
 * over. */
typedef struct PositionRows {
  int64_t count;               /* of grains, second ones and of boundary contacts */
  float (*now)[4], (*next)[4]; /* read and written by a pass */
  float (*shift)[4];           /* of the stabilisation */
  bool stabilized;             /* there was one: gaps do not have it in them yet */
  float *w;                    /* inverse mass per grain, padded with zeros */
  float lowest;                /* height of the lowest grain, for mass scaling */
  float (*placed)[4]; /* x and radius when the step is over, to measure penetrations: in `next`, once no pass comes */
} PositionRows;

/* Solids in the solve. position_take_bodies fills `items` before the contacts are looked for, position_take_riding
 * takes the lists, position_list_pushed and position_ride fill them. Pushes are those of the last pass. Hold until the
 * step is over. */
typedef struct PositionBodies {
  PositionBody *items; /* per solid */
  int32_t *riding; /* boundary contacts of bodies that grains can move, by chunks of the passes: see position_ride */
  int32_t *riding_start; /* per chunk; NULL: nobody has any */
  int32_t *pushed;       /* of these the ones of bodies that are pushed as a whole, in the order of the grains */
  int64_t riding_count, pushed_count;
  PositionPush *pushes; /* on matched bodies: those of a chunk stand from its riding_start on */
  int32_t *push_count;  /* per chunk */
} PositionBodies;

/* Shares of the threads and second rows where they meet: see position_borders.h. Taken by position_take_borders, filled
 * by position_keep_borders while contacts are recalled; hold until position_clear_crossings in the last iteration. */
typedef struct PositionBorders {
  const ParallelShares *shares; /* NULL: there is one thread, or they are not known yet */
  uint8_t *of;                  /* per grain: which of its window's borders it is, from 1; 0: none. NULL: no borders */
  int32_t *grain;               /* of each second row */
  int32_t *crossings;           /* slots whose partners are other threads' */
  struct PositionRooms *rooms;  /* per thread */
  int64_t room, crossing_room;
  _Alignas(64) _Atomic int64_t used; /* or wanted. Not on a line that all read */
  _Atomic int64_t crossings_used;
} PositionBorders;

/* One step's data, in scratch but for the slots. */
struct PositionStep {
  Step *step;
  const PositionSettings *settings;
  PositionSearch *search;
  ContactMemory *memory; /* holds the slots; what it remembers counts where the settings say so */
  int64_t count, padded; /* grains; rounded up to slices */
  float dt, history_scale;
  float slop;   /* m: penetration that the stabilisation leaves */
  float margin; /* m: a pair gets a slot when its predicted gap is below */
  PositionCandidates candidates;
  PositionLayout layout;
  PositionStart start;
  PositionRows rows;
  PositionBodies bodies;
  PositionBorders borders;
  ParallelBody pass; /* of the iterations */
  bool last_pass;
  void *method_contacts; /* what a method's own pass knows of them */
};

static inline PositionWindow *position_window(const PositionStep *work, int64_t grain) {
  return &work->layout.windows[grain / POSITION_WINDOW];
}

/* Static and kinetic coefficient of a slot. */
static inline const float *position_friction(const PositionStep *work, int64_t slot) {
  const PositionSlots *slots = &work->layout.slots;
  return work->layout.mu + (slots->kind ? slots->kind[slot] : 2 * (slots->partner[slot] >= work->layout.boundary_row));
}

/* Whether a slot of grain i is in use. */
static inline bool position_slot_used(const PositionSlots *slots, int64_t i, int64_t slot) {
  return slots->partner[slot] != i;
}

/* The slots of grain i are first, first + SLICE, ... below end. */
static inline int64_t position_slots_of(const PositionSlots *slots, int64_t i, int64_t *end) {
  int64_t slice = slots->lane[i] / SLICE;
  *end = slots->begin[slice + 1] * SLICE;
  return slots->begin[slice] * SLICE + slots->lane[i] % SLICE;
}

/* Among how many contacts the mass of a grain with n of them is split. Over-relaxation is a mass split less often; a
 * grain with one contact is exact after one iteration. */
static inline float position_split(const PositionSettings *settings, float contacts) {
  float split = contacts / settings->relaxation;
  return split > 1 ? split : 1;
}

/* Of a method's table. How far the family looks; steps are limited by the CFL rule alone; displacement without
 * contacts, v dt + g dt^2 (Sommer's Algorithm 1, lines 2 and 3; Holz Eq. 2). */
MethodNeeds position_needs(const void *data);
double position_largest_step(const void *data, const State *state);
Status position_predict(void *data, Step *step);

/* Finds the contacts of the step and lays out the slots. Scratch is taken: the caller releases it. */
Status position_begin(Step *step, const PositionSettings *settings, PositionSearch *search, ContactMemory *memory,
                      float history_scale, PositionStep *work);
/* Stabilisation: moves penetrating grains apart without giving them speed. */
Status position_stabilize(PositionStep *work);
/* The iterations, with the family's own passes. */
Status position_solve(PositionStep *work);
/* The same with a pass of the method's: over slices, reads rows.now and writes rows.next. */
Status position_iterate(PositionStep *work, ParallelBody pass);
/* Velocities, displacements, memory, wrenches on solids. */
Status position_end(PositionStep *work);

#endif
