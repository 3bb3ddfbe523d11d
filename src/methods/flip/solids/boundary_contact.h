/* Particles beside solids: what the grid is too coarse to see of them. */
#ifndef METHODS_FLIP_SOLIDS_BOUNDARY_CONTACT_H
#define METHODS_FLIP_SOLIDS_BOUNDARY_CONTACT_H

#include "methods/flip/solids/solid_union.h"

/* A particle on the grid, perhaps beside a solid. */
typedef struct BoundaryContact {
  const FlipWork *work;
  int64_t strip;
  int32_t place[3]; /* of the strip */
  float at[3];      /* from the strip's lower corner, in cells */
  int32_t index;    /* of the particle */
  Solid *solid;     /* the nearest; NULL: none */
  float solid_velocity[3];
  PlacedSolid *room; /* for all solids */
} BoundaryContact;

/* Distance (cells) and its gradient at a point of a strip, in cells from its lower corner. */
float strip_distance_at(const StripSolids *solids, float x, float y, float z, float gradient[3]);
/* Particle k in the order of cells; its nearest solid is found only when `solid` is set. */
BoundaryContact contact_of(const FlipWork *work, int64_t strip, const int32_t place[3], int32_t k, bool solid);
/* How far the solid that particles of a cell see moves in half a step, in cells, at most. */
float contact_solid_motion(const FlipWork *work, int64_t strip, int lane);
/* What walls stopped at the faces round a strip: rows y, z, then x from the last lane of the strip before. */
typedef struct StopWindow {
  float stop[3][9][STRIP + 2];
} StopWindow;
void strip_stops(const FlipWork *work, int32_t strip, StopWindow *window);
/* Lanes from which a displacement of half a cell may end in a solid. */
uint32_t strip_walls(const StripSolids *solids);
/* Closed faces stop sand whether or not there is enough of it to bear a pressure; friction goes with it. */
void contact_friction(const BoundaryContact *contact, const StopWindow *window, const float norm[3], float v[3],
                      float displacement[3]);
/* A particle stays out of solids: what the grid is too coarse to stop is put back onto the surface, and the speed into
 * it is taken away. */
void contact_keep_out(const BoundaryContact *contact, float displacement[3], float v[3]);
/* No displacement of up to half a cell leads through a seam between solids (seams.h). */
void contact_stop_at_seams(const BoundaryContact *contact, float displacement[3], float v[3]);
/* Both for a displacement longer than half a cell, piece by piece. It ends in the first dense cell that it comes
 * to. */
void contact_trace(const BoundaryContact *contact, float displacement[3], float v[3]);

#endif
