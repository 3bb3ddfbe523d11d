#ifndef METHODS_NONE_H
#define METHODS_NONE_H

#include "methods/method.h"

extern const Method METHOD_NONE;

#endif
