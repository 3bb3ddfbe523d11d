#ifndef METHODS_COMMON_POSITION_PRESSURE_H
#define METHODS_COMMON_POSITION_PRESSURE_H

#include "methods/common/position.h"
#include "methods/common/pressure.h"

/* For methods whose contacts remember their multipliers (PositionSettings.memory). */
void position_pressure(Core *core, const State *state, const ContactMemory *memory, double last_dt, float *pressure);

#endif
