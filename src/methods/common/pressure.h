#ifndef METHODS_COMMON_PRESSURE_H
#define METHODS_COMMON_PRESSURE_H

#include "state/materials.h"

/* A third of the trace of the mean stress of a grain, sum f . r / (3 V): normal forces act at r, and the grain with its
 * share of the voids takes V = 4/3 pi r^3 / 0.6. What is left is the sum of the loads over the grain's surface, times
 * the solid fraction. */
static inline float pressure_of_load(double load, double radius) {
  return (float)(SETTLED_FRACTION * load / (12.566370614359172 * radius * radius));
}

#endif
