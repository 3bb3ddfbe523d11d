/* sph: sand as an incompressible granular fluid after Neder 2023. See docs/methods/sph.md. */
#ifndef METHODS_SPH_H
#define METHODS_SPH_H

#include "methods/method.h"

extern const Method METHOD_SPH;

/* For benches and tests: what the solver did. */
typedef struct SphStatistics {
  int64_t steps, iterations, all_iterations; /* iterations: of the last step */
  int64_t pairs;                             /* of the last step, both directions, padding included */
  int64_t visits;                            /* of pairs, in the passes of the iteration */
  double compression, expansion, shear;      /* means that the last step ended with */
  double compression_before;                 /* mean that it found */
} SphStatistics;
const SphStatistics *sph_statistics(const void *data);

#endif
