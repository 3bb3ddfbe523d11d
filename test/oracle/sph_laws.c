/* The laws of sph with eight lanes against the same text with one: the same bits. */
#include "sph_laws.parts/laws.h"

#include "law_compare.h"
