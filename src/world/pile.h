/* The shape of a pile: angle of repose and runout, measured from the particles. */
#ifndef WORLD_PILE_H
#define WORLD_PILE_H

#include "state/state.h"

/* Slope, in degrees, of the line through the free surface between 15 and 85 % of its height, averaged over the
 * azimuth round the vertical axis through `axis`. 0 when there is no pile to speak of. */
Status pile_angle(Core *core, Scratch *scratch, const State *state, ScreeVec2 axis, double *degrees);
/* Radius round the axis that holds `fraction` of the mass. */
Status pile_runout(Core *core, Scratch *scratch, const State *state, ScreeVec2 axis, double fraction, double *radius);

#endif
