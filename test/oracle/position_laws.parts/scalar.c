/* The laws of pbd and p2 with one lane. */
#define LANE_SCALAR
#include "laws.h"

#include "../law_compare.h"
