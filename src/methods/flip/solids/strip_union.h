/* All solids near a strip as one: what of its octants and faces they leave free, and how deep its corners are in them.
 */
#ifndef METHODS_FLIP_SOLIDS_STRIP_UNION_H
#define METHODS_FLIP_SOLIDS_STRIP_UNION_H

#include "methods/flip/solids/solid_query.h"

/* At the points that strips ask at: lane * ASK_LANE + k, then ASK_CORNERS + column * 4 + k. */
typedef struct StripUnion {
  NearSurface nearest[ASK], second[ASK]; /* of one solid, and of another */
  NearSurface closing[ASK_CORNERS];      /* that leaves least free of the octant or quarter */
  float share[ASK_CORNERS];              /* what it leaves free */
  const SolidQuery **solids;             /* near the strip; room for all */
  PlacedSolids placed;                   /* the same, as a point sees them */
  int32_t count;
} StripUnion;

/* Room for all solids in both lists. */
void strip_union_begin(StripUnion *all, const SolidQuery **solids, PlacedSolid *placed);
/* Takes in what the solid answers, if it is near. */
bool strip_union_add(const FlipWork *work, const SolidQuery *query, Vec3 origin, StripUnion *all);
/* Finds what the solids leave free together. */
void strip_union_end(const FlipWork *work, Vec3 origin, StripUnion *all, StripSolids *to);
void strip_is_free(StripSolids *to);

#endif
