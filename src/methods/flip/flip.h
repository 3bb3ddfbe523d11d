#ifndef METHODS_FLIP_H
#define METHODS_FLIP_H

#include "methods/method.h"

extern const Method METHOD_FLIP;

/* What the solves of one kind did. */
typedef struct FlipSolves {
  int64_t solves, steps;
  int64_t unfinished; /* solves that ended before they reached the tolerance */
  double residual;    /* largest length of a projected gradient over that of what there was to do */
} FlipSolves;

/* Of the run so far. */
typedef struct FlipReport {
  FlipSolves pressure, density, friction;
} FlipReport;

const FlipReport *flip_report(const void *data);

#endif
