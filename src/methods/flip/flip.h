#ifndef METHODS_FLIP_H
#define METHODS_FLIP_H

#include "methods/method.h"

extern const Method METHOD_FLIP;

#endif
