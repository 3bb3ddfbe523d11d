#ifndef METHODS_FLIP_H
#define METHODS_FLIP_H

#include "methods/method.h"

extern const Method METHOD_FLIP;

/* What the solves of one kind did. */
typedef struct FlipSolves {
  int64_t solves, steps;
  int64_t unfinished; /* solves that ended before they reached the tolerance */
  double residual;    /* largest length of a projected gradient over that of what there was to do, or could be told */
  /* Largest over the solves. Pressure and density: mean of |1 - phi| after the step where there is pressure, weighted
   * with it: the complementarity of Eq. 9. */
  double complementarity;
  /* Largest over the solves. Pressure and density: what a cell would hold beyond its free volume after the step, in
   * cells. Friction: by how much of it a stress exceeds what the pressure that was used allows. */
  double violation;
} FlipSolves;

/* Of the run so far. */
typedef struct FlipReport {
  FlipSolves pressure, density, friction;
  double densest; /* of the last step: largest density of a cell that bears or is overfull over that of sand at rest,
                    before it was corrected */
} FlipReport;

const FlipReport *flip_report(const void *data);

#endif
