#ifndef METHODS_DEM_DEM_H
#define METHODS_DEM_DEM_H

#include "methods/method.h"

extern const Method METHOD_DEM;

#endif
