/* p2: Parallel Particles after Holz 2014. */
#ifndef METHODS_P2_H
#define METHODS_P2_H

#include "methods/method.h"

extern const Method METHOD_P2;

#endif
