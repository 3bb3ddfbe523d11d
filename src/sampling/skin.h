/* The triangles of a closed mesh near each block of a grid. With a handful of them at hand, distances in a block cost
 * tens of nanoseconds instead of the microseconds that a search from the root of the mesh's tree takes, and signs are
 * shared by all places that one can walk between without coming to the surface. */
#ifndef SAMPLING_SKIN_H
#define SAMPLING_SKIN_H

#include "sampling/region.h"
#include "sampling/sampling_kernels.h"

typedef struct Skin {
  double margin;  /* triangles within it of a block are known */
  int64_t *start; /* by row of boundary block; NULL: no skin */
  int32_t *triangle;
} Skin;

/* Finds the row of the boundary block with these coordinates; -1: none. */
typedef int64_t (*SkinFind)(const void *context, const int32_t coordinate[3]);

Status skin_create(Core *core, const Region *region, double side, double margin, int64_t rows, SkinFind find,
                   const void *context, Skin *skin);
void skin_destroy(Core *core, Skin *skin);

/* Loads the triangles near a block round its centre; false where there are too many or no skin. */
bool skin_load(const Skin *skin, const Region *region, int64_t row, Vec3 center, TriangleList *list);

#endif
