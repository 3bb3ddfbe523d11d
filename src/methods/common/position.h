/* The position-based family: what pbd and p2 share.
 *
 * The unknown of a step is the displacement of every grain; positions are never subtracted from each other after the
 * step's start. A step is: predict, find the contacts once, shift old penetration apart without making speed of it,
 * then solve the contacts in substeps of one iteration each.
 *
 * Why substeps. An iteration carries a load on by about one contact, so a column of n grains wants n^2 iterations. With
 * multipliers that are remembered, iterations of one step and of many steps do the same work, but between two steps
 * inertia acts: what an iteration leaves of the load falls by g h^2 of a substep instead of g dt^2 of the step. n
 * substeps of one iteration leave an n-th of the penetration of n iterations in one step, at the same cost
 * (docs/methods/pbd.md has the table).
 *
 * Why batches. Jacobi must split a grain's mass among all of its contacts to converge, so that each iteration corrects
 * an n-th. Contacts are dealt to four batches that are solved one after the other, each by Jacobi: a grain has about
 * two contacts in a batch, and nearly the whole correction is taken. Both sides of a contact see the same rows, so
 * kernels gather, momentum is exact and the result does not depend on threads. The batch of a pair follows from where
 * the two are (position_law.h). Contacts with solids are a batch of their own: bodies move once a substep.
 *
 * Slots are laid out eight grains abreast (sliced ELLPACK): the k-th contact of batch b of the grain in lane l of slice
 * s stands in slot row begin[s * POSITION_BATCHES + b] + k, so that the eight lanes run in step and only the partners'
 * displacements are fetched from elsewhere. Inside a window of grains lanes are filled in the order of the numbers of
 * contacts in the batches: grains abreast then have about equally many in each, and few slots stand empty.
 *
 * Walls and bodies are partners like any other: a contact with one has a row of its own behind the grains' rows of
 * displacements. One loop serves all.
 *
 * A contact's normal is that of the substep's start: gap + n . (d_i - d_j) is the distance between the two. That is
 * exact along the normal; sideways the plane lies outside the sphere, so it errs towards distance. */
#ifndef METHODS_COMMON_POSITION_H
#define METHODS_COMMON_POSITION_H

#include <math.h>

#include "core/parallel.h"
#include "core/simd.h"
#include "methods/common/contact_memory.h"
#include "methods/common/position_search.h"
#include "methods/common/position_shared.h"
#include "methods/method.h"

/* Loops go over the same windows, or halves of them where lanes do not matter, so that a thread that has the first of
 * them in one loop has them in the next too. Passes take half a window of slices at a time. */
enum { SLICE = LANES, POSITION_WINDOW = 512, POSITION_CHUNK = POSITION_WINDOW / SLICE / 2 };
/* A pair gets a slot when its predicted gap is below what the corrections of the step may close: g dt^2, where one of
 * two grains that fall alike is held up, and POSITION_MARGIN nominal radii for what jostles; POSITION_MARGIN_MOST at
 * most, and where contacts pull, since what a prediction opens they may close. (0.06 radii for all were tried: up to an
 * eighth more slots at rest and the same overlaps, in flows too.) Solids are listed POSITION_SKIN farther. */
#define POSITION_MARGIN 0.01f
#define POSITION_MARGIN_MOST 0.06f
#define POSITION_SKIN 0.6f
/* Every shift of the stabilization, however small, takes a heap a little out of its balance, and the balance that it
 * then finds lies a little lower: taking away the last bit of penetration makes a heap creep for minutes. So
 * penetration is left alone that is smaller than what gravity stirs anyway: this many g dt h, and this share of two
 * radii at most.
 */
#define POSITION_SLOP_FALL 0.5f
#define POSITION_SLOP_MOST 0.01f
/* Radii of it that a contact under load carries at most: position_carried. */
#define POSITION_CARRIED_MOST 0.5f
/* Of the overlap that a stabilising pass takes away. Lifting grains costs no work there, so an overlap that the
 * iterations leave and the shift takes away at once feeds the swinging of a stack; slower than the swing it does not.
 */
#define POSITION_SHIFT_SHARE 0.25f
/* Over-relaxation has a limit where a grain, or a body, is held between things that do not give way: floor and plate,
 * say. Let r be what a pass leaves of the displacement D that such contacts forbid; with relaxation R it is 1 - R. The
 * next substep begins with 2 D less the displacement of the one before, so that D follows x^2 - 2 r x + r = 0, which
 * has a root beyond -1 as soon as r < -1/3: the grain is thrown back and forth, each time harder. R = 4/3 is the limit;
 * among grains, which do give way, more does no harm. */
#define POSITION_RELAXATION_BOUNDARY 1.2f
/* Grains between a body and something fixed: for how many of their kind they count at most, and how far, in radii, they
 * may be thrown in a step by remembered forces alone (POSITION_PINNED_MOST is in position_shared.h). */
#define POSITION_THROWN 0.1f
/* How long steps are while a heavy body runs into grains: its way in radii; the speed of waves through grains that
 * need not be exceeded, in m/s for a body of their own mass; it grows up to bodies of so many grain masses. */
#define POSITION_IMPACT_WAY 0.05
#define POSITION_IMPACT_WAVE 4.7
#define POSITION_IMPACT_RATIO 100.0

/* What `auto` means for method.cfl. What is hit moves on within the step and meets others without a slot, so that the
 * overlap of a flow that falls onto a pile grows with how far a step goes: docs/methods/pbd.md has it. */
#define POSITION_CFL 0.5

/* Contacts as the passes see them: arrays over the slots. Those of the multipliers (kg m) and the partners are places
 * of the contact memory and are remembered across steps, rows of grains being their keys; the others live for the step.
 * Force = multiplier / dt^2, displacement = inverse mass times multiplier. That of friction is the contact's anchor: it
 * grows with every bit of sliding until it holds the load, and the sliding then is zero whatever the number of
 * iterations. (An anchor in metres on top of it integrates the sliding twice and shakes the pile.) */
typedef struct PositionSlots {
  int64_t slices, rows;
  int64_t batch_rows;     /* of a slice in a batch, at most */
  int64_t *begin;         /* first slot row of each batch of each slice; POSITION_BATCHES per slice, and the end */
  int32_t *grain;         /* of each lane, SLICE per slice; count or more: nobody */
  int32_t *lane;          /* of each grain: the other way round */
  int32_t *partner;       /* row of displacements; the grain itself in unused lanes */
  float *ln;              /* multiplier along the normal, summed over the step */
  float *ltx, *lty, *ltz; /* of friction */
  float *nx, *ny, *nz;    /* unit normal towards the grain, at the step's start */
  float *gap;             /* along it; POSITION_FAR in unused lanes. Both are brought on by the substeps */
  int32_t *kind; /* where in PositionLayout.mu; NULL: pairs have the first there, contacts with solids the second */
  float *soft;   /* overlap that a spring of the method's bears and that is not shifted apart; NULL: none */
} PositionSlots;

/* A contact with a solid and its row of displacements. */
typedef struct BoundaryContact {
  int32_t solid, grain;
  uint32_t key; /* that it is remembered by: its sample, or solid and face */
  int32_t slot;
  int32_t sum;          /* where its multipliers are summed up over the substeps: PositionRows.boundary_sum */
  float normal[3], gap; /* as a slot's */
  float arm[3];         /* grain (or sample) from the solid's centre of mass, at the step's start */
  float lever[3];       /* the same at the substep's start; solids that do not move have it as it was found */
  bool sampled;
} BoundaryContact;

/* A window of grains: groups of its slots, and its contacts with solids, which follow each other, grain by grain. */
typedef struct PositionWindow {
  int32_t rows;          /* of slots */
  int32_t batch_rows;    /* of these the ones that a slice has in a batch, at most */
  int32_t boundary_rows; /* of these the ones of contacts with solids */
  int32_t boundary, boundary_count;
  int32_t riding_count;           /* with bodies that grains can move */
  int32_t pushed, pushed_count;   /* of these the ones of bodies that are pushed as a whole: where they are listed */
  int32_t border[3], crossing[3]; /* second rows and slots that lead to others': where they begin, second half, end */
} PositionWindow;

/* A solid in the solve. */
typedef struct PositionBody {
  bool movable, matched;    /* matched: its samples are pushed one by one, then brought back into shape */
  bool still, upright;      /* it does not move in the step; it is not turned */
  int32_t faces;            /* that a grain touches at a time, at most */
  PositionTwist free;       /* displacement over the step without the grains */
  Mat3 free_turn;           /* its rotation */
  Quat free_turned;         /* the same */
  bool turns;               /* there is one */
  _Atomic int64_t boundary; /* contacts with grains, of one that they can move */
  union {                   /* in the substeps */
    struct {
      POSITION_RIDE
    };
    PositionRide ride;
  };
  Vec3 middle;                       /* matched: centre of its samples, from that of its mass */
  Mat3 spread, covariance;           /* of the samples; of where they are and where pushes bring them */
  _Atomic int64_t match[MATCH_SUMS]; /* matched: of what pushes its samples */
} PositionBody;

typedef struct PositionSettings {
  int iterations, stabilization; /* each iteration has a substep of its own, unless averaging */
  float relaxation;
  bool averaging;     /* the papers' 1 / n and iterations within the step; otherwise mass splitting and substeps */
  bool memory;        /* begin with the multipliers of the last substep */
  float shift_share;  /* of the penetration that a stabilising pass takes away; 0: all */
  bool sticky;        /* adhesive contacts may pull */
  bool adhesion;      /* the method reads adhesion, which wins over cohesion */
  bool springs;       /* contacts may bear penetration: they push until it is gone, also in a step that opens them */
  bool slop;          /* a little penetration is left: see POSITION_SLOP_FALL */
  float mass_scaling; /* k of m* = m exp(-k h), 1/m */
  bool second_rows;   /* nobody but the passes looks at rows or partners before the last iteration is over */
  bool printed_limit; /* friction limited by 2 r as printed, not by the penetration (averaging only) */
  double time_step;   /* the scene's */
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
  int32_t *batch_key;                     /* per grain: see position_batch */
  uint16_t (*contacts)[POSITION_BATCHES]; /* how many per grain and batch */
  BoundaryContact *boundary;              /* window by window, which of them first depends on the threads */
  int64_t boundary_count, boundary_room;
  int64_t boundary_row;    /* where their rows begin: behind those of the grains and the second ones */
  int32_t *boundary_begin; /* per slice: rows of boundary slots before it */
  int32_t boundary_rows;   /* of them in all */
  float *mu;               /* kinds of friction, static and kinetic; see position_friction */
  float *tension;          /* of bonds times h^2, at the same places as the kinds; NULL: nobody is cohesive */
  float *rolling;          /* mu_r R / r of the grain, likewise; NULL: nobody turns */
  int32_t materials;
  bool lanes_known;                           /* slots.grain holds the lanes of the last step */
  atomic_bool renumbered;                     /* some grains do not stand where the memory knows them */
  _Alignas(64) _Atomic int64_t boundary_used; /* or wanted. Not on a line that all read */
} PositionLayout;

/* Where grains are at the step's start. Filled by position_start_pass for the normals and gaps of the slots; it lies in
 * rows.next and rows.last and holds until position_begin loads those. */
typedef struct PositionStart {
  float (*at)[4];  /* x and radius */
  float (*low)[4]; /* what x could not hold */
} PositionStart;

/* What the grains of a slice have of their own, by lanes: no other reads it. */
typedef struct PositionLanes {
  float *total[3], *radius;       /* as their rows */
  float *push[3];                 /* of the remembered multipliers of all contacts, kg m */
  float *left[3];                 /* of the fall, by rounding: see position_next_substep */
  float *w;                       /* inverse mass */
  float *falls;                   /* part of g that it feels: 1, less where it is pinned */
  float *split[POSITION_BATCHES]; /* inverse mass times the number that it is split among */
} PositionLanes;

/* Normals of a row of slots. */
typedef struct PositionNormals {
  _Alignas(32) float x[SLICE], y[SLICE], z[SLICE];
} PositionNormals;

/* Displacements, which partners read. Taken by position_lay_out, loaded at the end of position_begin; hold until the
 * step is over. A pass reads `now` and writes `next`, and the two are swapped; the last pass of a substep writes
 * `last_next` too, which then is `last`. */
typedef struct PositionRows {
  int64_t count;               /* of grains, second ones and of boundary contacts */
  float (*now)[4], (*next)[4]; /* of the substep so far; inverse mass times among how many contacts of the next batch it
                                  is split */
  /* Of the substep before, in the first one the stabilising shift; the radius, or, while the shift is found, the split
   * mass. */
  float (*last)[4], (*last_next)[4];
  float (*total)[4]; /* of the step, when its substeps are over */
  PositionLanes lanes;
  PositionNormals *normals; /* that a pass keeps of the slices it solves next: normals_room for each thread */
  int64_t normals_room;
  float *w;               /* inverse mass per grain, padded with zeros */
  float lowest;           /* height of the lowest grain, for mass scaling */
  float *boundary_sum[3]; /* n ln + lt of boundary slots, summed over the substeps */
  float (*placed)[4]; /* x and radius when the step is over, to measure penetrations: in `next`, once no pass comes */
} PositionRows;

/* Turns of grains, where they turn: see position_law.h. Taken and loaded as the rows are. */
typedef struct PositionTurns {
  float (*now)[4], (*next)[4]; /* rows as those of displacements: way of the rim in the substep; yields */
  float *before[3];            /* by lanes: of the substep before */
  float *torque[3], *resistance;
  float *turns;   /* by lanes: 1 where a grain turns, 0 where it does not */
  float *spin[3]; /* fields of the particles, 1/s */
} PositionTurns;

/* Solids in the solve. position_take_bodies fills `items` before the contacts are looked for, position_take_riding
 * takes the lists, position_list_pushed and position_ride fill them. Hold until the step is over. */
typedef struct PositionBodies {
  PositionBody *items; /* per solid */
  int32_t *riding; /* boundary contacts of bodies that grains can move, by chunks of the passes: see position_ride */
  int32_t *riding_start; /* per chunk; NULL: nobody has any */
  int32_t *pushed;       /* of these the ones of bodies that are pushed as a whole, in the order of the grains */
  int64_t riding_count, pushed_count;
  bool match; /* grains touch matched ones */
} PositionBodies;

/* Shares of the threads and second rows where they meet: see position_borders.h. Taken by position_take_borders, filled
 * by position_keep_borders while contacts are recalled; hold until position_clear_crossings in the last pass. */
typedef struct PositionBorders {
  const ParallelShares *shares; /* NULL: there is one thread, or they are not known yet */
  uint16_t *of;                 /* per grain: which of its window's borders it is, from 1; 0: none. NULL: no borders */
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
  int substeps;
  float h;         /* dt / substeps */
  float fall[3];   /* g h^2 */
  float recovered; /* of penetration, in a substep: see position_gap */
  float slop;      /* m: penetration that the stabilisation leaves */
  float carried;   /* m: the most that it leaves to contacts under load */
  float margin;    /* m: a pair gets a slot when its predicted gap is below */
  bool cohesive;   /* some grains are */
  bool turning;    /* some grains turn: see PositionSpin */
  PositionCandidates candidates;
  PositionLayout layout;
  PositionStart start;
  PositionRows rows;
  PositionTurns turns;
  PositionBodies bodies;
  PositionBorders borders;
  ParallelBody pass;  /* of a batch, or of the papers' iterations */
  int substep, batch; /* in progress */
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

/* What a table has for the kind of a slot: tension of its bond times h^2, or rolling friction; 0 without a table. */
static inline float position_of_kind(const PositionStep *work, const float *table, int64_t slot) {
  const PositionSlots *slots = &work->layout.slots;
  if (!table) return 0;
  return table[slots->kind ? slots->kind[slot] : 2 * (slots->partner[slot] >= work->layout.boundary_row)];
}

/* Whether a slot of grain i is in use. */
static inline bool position_slot_used(const PositionSlots *slots, int64_t i, int64_t slot) {
  return slots->partner[slot] != i;
}

/* Slot rows of a slice: of one batch and of all. */
static inline int64_t position_rows_begin(const PositionSlots *slots, int64_t slice, int batch) {
  return slots->begin[slice * POSITION_BATCHES + batch];
}
static inline int64_t position_slice_begin(const PositionSlots *slots, int64_t slice) {
  return slots->begin[slice * POSITION_BATCHES];
}

/* Where the rows end that are solved with a batch: with the last one of pairs those of solids are. */
static inline int64_t position_solved_end(const PositionSlots *slots, int64_t slice, int batch) {
  return position_rows_begin(slots, slice, batch < POSITION_PAIR_BATCHES - 1 ? batch + 1 : POSITION_BATCHES);
}

/* The slots of grain i are first, first + SLICE, ... below end. */
static inline int64_t position_slots_of(const PositionSlots *slots, int64_t i, int64_t *end) {
  int64_t slice = slots->lane[i] / SLICE;
  *end = position_slice_begin(slots, slice + 1) * SLICE;
  return position_slice_begin(slots, slice) * SLICE + slots->lane[i] % SLICE;
}

/* Over-relaxation of a batch: see POSITION_RELAXATION_BOUNDARY. */
static inline float position_relaxation(const PositionStep *work, int batch) {
  const float relaxation = work->settings->relaxation;
  const bool held = batch == POSITION_BOUNDARY_BATCH || work->cohesive; /* bonds do not give way either */
  return held ? fminf(relaxation, POSITION_RELAXATION_BOUNDARY) : relaxation;
}

/* Substeps of a step, and their length. A step that is cut so that nothing runs past what it has no slot for has as
 * many of them as keep their length: the stiffness is that of the uncut step. */
static inline int position_substeps(const PositionSettings *settings, const Step *step) {
  if (settings->averaging || settings->iterations < 1) return 1;
  if (!(step->dt < step->uncut)) return settings->iterations;
  return (int)fmax(ceil(settings->iterations * (step->dt / step->uncut) - 1e-6), 1);
}
static inline double position_substep(const PositionSettings *settings, const Step *step) {
  return step->dt / position_substeps(settings, step);
}

/* Of a method's table. How far the family looks; displacement without contacts, v dt + g dt^2 (Sommer's Algorithm 1,
 * lines 2 and 3; Holz Eq. 2). */
MethodNeeds position_needs(const void *data);
Status position_predict(void *data, Step *step);

/* Spins, fields of the particles; not with averaging. Whether grains turn: those of a material do that has a rolling
 * friction, given or from its angle; in the papers they do not. A material may get one while the world runs. */
typedef struct PositionSpin {
  float *of[3];
  bool turning; /* some grains turn: spins are hashed */
} PositionSpin;
static inline bool position_turns(const Material *material) {
  return !scree_is_auto(material->definition.rolling_friction);
}
Status position_add_spin(Core *core, State *state, const PositionSettings *settings, PositionSpin *spin);

/* Tension of the bonds of a material, Pa: common/cohesion.h. Whether any has bonds. */
double position_material_tension(const PositionSettings *settings, const ScreeMaterialDef *material);
bool position_cohesive(const PositionSettings *settings, const Materials *materials);

/* The longest step while heavy bodies run into grains: position_impact.c. Others are limited by the CFL rule alone. */
double position_impact_step(const PositionSettings *settings, const State *state);
/* Whether it looks at grains: a body is fast enough to ask for shorter steps. */
bool position_impact_looks(const PositionSettings *settings, const State *state);

/* What a step works with, before anything is looked for. */
void position_set_up(Step *step, const PositionSettings *settings, PositionSearch *search, ContactMemory *memory,
                     PositionSpin *spin, float history_scale, PositionStep *work);
/* Finds the contacts of the step and lays out the slots. Scratch is taken: the caller releases it. */
Status position_begin(Step *step, const PositionSettings *settings, PositionSearch *search, ContactMemory *memory,
                      PositionSpin *spin, float history_scale, PositionStep *work);
/* Stabilisation: moves overlapping grains apart without giving them speed. */
Status position_stabilize(PositionStep *work);
/* The substeps, with the family's own pass over a batch. */
Status position_solve(PositionStep *work);
/* The same with a pass of the method's: over slices, reads rows.now and writes rows.next. */
Status position_iterate(PositionStep *work, ParallelBody pass);
/* Iterations of the papers: no substeps, no batches, with a pass over all contacts. */
Status position_iterate_averaged(PositionStep *work, ParallelBody pass);
/* Velocities, displacements, memory, wrenches on solids. */
Status position_end(PositionStep *work);

#endif
