/* The method's private data, and what its steps on the CPU (step.c) and on a device (sph_device.c) have in common. */
#ifndef METHODS_SPH_SOLVER_H
#define METHODS_SPH_SOLVER_H

#include "methods/sph/sph.h"
#include "methods/sph/spline.h"
#include "methods/sph/view.h"
#include "methods/sph/work.h"

enum { LEAST_ITERATIONS = 2 };
/* Iterations for which the bound of friction stays. With a bound that does not move the search for friction is convex
 * and takes fewer iterations than with one that follows the pressure at once. */
enum { BOUND_EVERY = 4 };

/* Of the tolerance, what one step may leave: compression of several steps adds up until the shift takes it back. */
#define STEP_SHARE 0.2
/* Sand that flows need not know its friction better than this share. */
#define FLOWING_SHARE 0.02

/* The beginning. In FORGET_STEPS friction is not remembered: until the pressure has built up some sand is borne and
 * some is not, and what friction does about that would stay for good. It begins each step as that of sand that rests
 * between walls under the pressure at hand. In LOOSEN_STEPS, passes of each, and how far a
 * parcel goes in one (of the spacing; together less than half the skin). Sand is loose when its mean compression is
 * below this share of the tolerance; in the first step it also fits: so is its mean misfit, and a pass leaves less. */
enum { FORGET_STEPS = 8, LOOSEN_STEPS = 24, LOOSEN_PASSES = 4, SEAT_PASSES = 10 };
#define LOOSEN_MOST 0.012f
#define LOOSE 0.2
#define SEATED 0.05
#define SEAT_SHARE 0.01

typedef struct SphDevice SphDevice; /* sph_device.h */

typedef struct Sph {
  SphSettings settings;
  SphFields fields;
  SphMaterial materials[MATERIALS_MAX];
  SphPasses passes;
  double lattice_square; /* over 1 / spacing^2 */
  SplineLayer layer;
  SphRays rays;
  float *sample_volume; /* over that of a parcel */
  int64_t sample_count;
  double least_body; /* kg */
  SphStatistics statistics;
  SphDevice *device; /* NULL: it runs on the CPU */
} Sph;

/* What a step begins with; its arrays are still to be taken. */
SphWork sph_set_up(Sph *sph, Step *step);
/* How the sand of a step is loosened: the passes at most, the mean of compression, or of misfit when it is seated,
 * above which it needs one, and what the iteration of a pass may leave. */
typedef struct SphLoosening {
  bool seat;
  float gains; /* pressure_of_seat */
  int passes;
  double above, most;
} SphLoosening;
SphLoosening sph_loosening(const SphWork *work);
/* Volumes of the samples of solids. */
Status sph_weigh_samples(Core *core, const State *state, Sph *sph);
/* After the iteration, whose results the statistics have: counts the step and what was not met, and says what shares of
 * pressure and friction are kept for the next step; `dense`: the sand was being loosened. */
void sph_account(Sph *sph, SphWork *work, bool dense);

#endif
