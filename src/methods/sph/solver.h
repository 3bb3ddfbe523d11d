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

/* The beginning: in the first steps, passes of each, and how far a parcel goes in one (of the spacing; together less
 * than half the skin). Sand is loose when its mean compression is below this share of the tolerance. */
enum { LOOSEN_STEPS = 24, LOOSEN_PASSES = 4 };
#define LOOSEN_MOST 0.012f
#define LOOSE 0.2

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
/* Volumes of the samples of solids. */
Status sph_weigh_samples(Core *core, const State *state, Sph *sph);
/* After the iteration, whose results the statistics have: counts the step and what was not met. Returns what share of
 * the stress is kept for the next step; `dense`: the sand was being loosened. */
float sph_account(Sph *sph, const SphWork *work, bool dense);

#endif
