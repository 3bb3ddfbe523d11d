/* Beyond these nothing that was loaded is believed: what is made of larger numbers would not be finite for long. */
#ifndef STATE_STATE_BOUNDS_H
#define STATE_STATE_BOUNDS_H

#include <stdbool.h>

#define STATE_FAR_MOST 1e9   /* m */
#define STATE_SPEED_MOST 3e8 /* m/s */
#define STATE_RADIUS_MOST 1e3

/* No grain, fine or coarse, is that much larger or smaller than the nominal one, whatever the spread, splits and
 * merges. */
static inline bool state_radius_possible(double radius, double nominal) {
  double share = radius / nominal;
  return share > 1 / STATE_RADIUS_MOST && share < STATE_RADIUS_MOST;
}

#endif
