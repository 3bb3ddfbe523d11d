#ifndef METHODS_PBD_H
#define METHODS_PBD_H

#include "methods/method.h"

extern const Method METHOD_PBD;

#endif
