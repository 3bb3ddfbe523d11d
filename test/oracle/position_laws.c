/* The laws of pbd and p2 with eight lanes against the same text with one: the same bits. */
#include "position_laws.parts/laws.h"

#include "law_compare.h"
