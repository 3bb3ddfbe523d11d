#ifndef METHODS_DEM_PRESSURE_H
#define METHODS_DEM_PRESSURE_H

#include "methods/dem/contact_constants.h"

void dem_pressure(Core *core, const State *state, const DemConstantsTable *constants, float *pressure);

#endif
