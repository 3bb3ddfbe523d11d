#ifndef METHODS_COMMON_POSITION_PRESSURE_H
#define METHODS_COMMON_POSITION_PRESSURE_H

#include "methods/common/pressure.h"
#include "methods/method.h"

/* For methods whose contacts remember their multipliers (PositionSettings.memory). */
void position_pressure(Core *core, const State *state, double last_dt, float *pressure);

#endif
