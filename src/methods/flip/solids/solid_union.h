/* Solids that touch or overlap act as one.
 *
 * Outside of all, the distance to the union is the least of theirs. Inside it is not: the surfaces at which two solids
 * touch are no surfaces of the union, but each solid has them, and near them the least distance is about zero, as if
 * sand could be there. So where the nearest surface lies in another solid, the union's own surface is looked for round
 * the point. */
#ifndef METHODS_FLIP_SOLIDS_SOLID_UNION_H
#define METHODS_FLIP_SOLIDS_SOLID_UNION_H

#include "methods/flip/work.h"

#define FAR 1.8f /* cells: farther than a corner of a cut cell can be */
/* Solids that are nearer to each other touch, in cells. */
#define TOUCHING 0.01f
/* How deep a point in the union is followed, in cells: particles are put back by half of that at most. */
#define DEPTH_MOST 1.0f

/* The surface of a solid near a point, as a plane. */
typedef struct NearSurface {
  float d;         /* cells; FAR: none is near */
  float normal[3]; /* in the world */
  int32_t solid;   /* whose it is; -1: none */
} NearSurface;

/* A point as a solid sees it. */
typedef struct PlacedSolid {
  const Solid *solid;
  int32_t index;
  Vec3 at;   /* the point in the solid's frame */
  Mat3 turn; /* from that frame to the world */
} PlacedSolid;

/* The solids that are so near to a point that they may hide each other's surfaces from it; room for all. */
typedef struct PlacedSolids {
  PlacedSolid *items;
  int32_t count;
} PlacedSolids;

/* Adds a solid when it is so near; `at` is the point in its frame. */
void placed_add(PlacedSolids *placed, double cell, const Solid *solid, int32_t index, Vec3 at, const Mat3 *turn);
/* Whether the nearest point of a surface lies in another solid, or touches it. */
bool surface_is_covered(const Core *core, double cell, const PlacedSolids *placed, const NearSurface *surface);
/* The surface of the union that a point is below, where that of the solid that it is deepest in is covered. It is
 * followed so deep, in cells, at most DEPTH_MOST. */
NearSurface union_surface(const Core *core, double cell, const PlacedSolids *placed, const NearSurface *deepest,
                          float depth);

#endif
