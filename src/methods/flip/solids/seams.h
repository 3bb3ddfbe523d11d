/* Where solids that touch along a line, or nearly so, part the free space near a strip.
 *
 * Shares of cells and faces say how much is free, not whether a way leads from one side to the other: two wedges of air
 * that meet at a seam look like one that is half open. So near seams the ways are looked for on a lattice of points,
 * for a ball that is nearly as large as a particle. Each cell keeps the part of its free space that most of its points
 * belong to; what else is free in it counts as solid there, faces between cells of different parts are closed, and no
 * particle goes from one part to the other. */
#ifndef METHODS_FLIP_SOLIDS_SEAMS_H
#define METHODS_FLIP_SOLIDS_SEAMS_H

#include "methods/flip/solids/strip_union.h"

/* Changes the shares that the solids leave free. */
void seams_close(const FlipWork *work, Vec3 origin, StripUnion *all, StripSolids *to);
/* Closes the lower faces of a strip that seams in the strips below it part it from. */
void seams_close_faces(FlipWork *work, int64_t strip);
/* Whether there are seams in a strip or in one beside it. */
bool seams_near(const FlipWork *work, int32_t strip);
/* Moves a point out of a part that its cell has given up, into the next cell. It counts from the corner of a strip, in
 * cells. */
void seams_put_out(const FlipWork *work, const int32_t place[3], float point[3]);
/* Whether a seam lies between two points in cells that touch each other; they count likewise. */
bool seams_part(const FlipWork *work, const int32_t place[3], const float from[3], const float to[3]);

#endif
