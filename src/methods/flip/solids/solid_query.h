/* Where a strip asks for the distance to solids, and what one solid answers. */
#ifndef METHODS_FLIP_SOLIDS_SOLID_QUERY_H
#define METHODS_FLIP_SOLIDS_SOLID_QUERY_H

#include "methods/flip/solids/solid_union.h"

/* Where distances are found for a strip, in cells: lane by lane the middles of octants and of the quarters of the lower
 * faces, then the corners of cells, column by column along x; and the middles of its cells. */
enum {
  ASK_QUARTERS = 8,
  ASK_LANE = ASK_QUARTERS + 3 * 4,
  ASK_CORNERS = STRIP * ASK_LANE,
  ASK = ASK_CORNERS + CORNERS,
  ASK_MIDDLES = ASK,
  ASK_ALL = ASK_MIDDLES + STRIP
};

/* Where point k lies, from the corner of the strip, in cells. */
Vec3 query_point(int k);

/* A solid as strips query it, in its own frame. */
typedef struct SolidQuery {
  const Solid *solid;
  Vec3 position; /* where it will be in the middle of the step */
  int32_t index;
  Mat3 turn, back;
  double reach[3];               /* of a strip's box, with FAR, along the solid's axes */
  double from_strip[3][ASK_ALL]; /* from a strip's lower corner to the points of the query, along the same axes */
} SolidQuery;

/* Distances (cells) and normals at the points of the lanes that the solid may touch, one behind the other; then those
 * at the corners of the lanes that it is near. */
typedef struct QueryResult {
  uint32_t lanes, shared; /* near; and so near that it may take a share: a bit each */
  float d[ASK], normal[3][ASK];
} QueryResult;

static inline uint32_t columns_of(uint32_t lanes) { return lanes | lanes << 1; }

/* The lower corner of a strip in the solid's frame. */
static inline Vec3 solid_query_from(const SolidQuery *query, Vec3 origin) {
  return mat3_apply(&query->back, vec3_sub(origin, query->position));
}

void solid_query_of(const FlipWork *work, int32_t index, SolidQuery *to);
/* Whether it is certainly far from the strip that begins there. */
bool solid_query_far(const FlipWork *work, const SolidQuery *query, Vec3 origin);
/* False: it is near no cell of the strip that begins there. */
bool solid_query_strip(const FlipWork *work, const SolidQuery *query, Vec3 origin, QueryResult *to);

#endif
