/* On which side of a closed surface the points of a small lattice lie, when their distances from it are known. */
#ifndef GEOMETRY_SIDES_H
#define GEOMETRY_SIDES_H

#include <stdbool.h>
#include <stdint.h>

enum { SIDES_MOST = 8 };

/* Whether point k, x fastest, is inside. Dear to find out. */
typedef bool (*SidesAsk)(const void *context, int k);

/* A lattice of side^3 points, side <= SIDES_MOST, `spacing` apart. Points that one can walk between without coming to
 * the surface share an answer, which is asked for where it is surest: farthest from the surface. */
void find_sides(int side, float spacing, const float *distance, SidesAsk ask, const void *context, uint8_t *inside);

#endif
