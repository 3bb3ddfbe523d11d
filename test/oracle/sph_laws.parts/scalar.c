/* The laws of sph with one lane. */
#define LANE_SCALAR
#include "laws.h"

#include "../law_compare.h"
