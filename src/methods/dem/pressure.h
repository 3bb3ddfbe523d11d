#ifndef METHODS_DEM_PRESSURE_H
#define METHODS_DEM_PRESSURE_H

#include "methods/dem/law.h"

void dem_pressure(Core *core, const State *state, const DemLaws *laws, float *pressure);

#endif
