/* The signed distance of one solid at the points of a strip. */
#include "methods/flip/solids/solid_query.h"

#include <math.h>

#include "methods/flip/solids/solids.h"

Vec3 query_point(int k) {
  if (k >= ASK_MIDDLES) return vec3(k - ASK_MIDDLES + 0.5, 0.5, 0.5);
  if (k >= ASK_CORNERS) {
    k -= ASK_CORNERS;
    return vec3(k / 4, k & 1, k >> 1 & 1);
  }
  int lane = k / ASK_LANE;
  k %= ASK_LANE;
  if (k < ASK_QUARTERS) return vec3(lane + (k & 1 ? 0.75 : 0.25), k & 2 ? 0.75 : 0.25, k & 4 ? 0.75 : 0.25);
  k -= ASK_QUARTERS;
  double u = k & 1 ? 0.75 : 0.25, v = k & 2 ? 0.75 : 0.25;
  return k / 4 == 0 ? vec3(lane, u, v) : k / 4 == 1 ? vec3(lane + u, 0, v) : vec3(lane + u, v, 0);
}

/* How far from the middle of a cell a solid may be, in cells, that matters to it: no point of the cell is farther from
 * the middle than 0.87. What is cached of meshes (step.c) goes so far. */
#define LANE_REACH 1.85f

/* Octants and faces that are farther than half a cell are free, and the solid is not the nearest to them: lanes whose
 * middle is farther than this need distances at their corners alone. */
#define SHARES_REACH 1.4f

void solid_query_of(const FlipWork *work, int32_t index, SolidQuery *to) {
  SolidQuery query = {.solid = &work->state->solids.items[index], .index = index};
  /* Halfway through the step: with its pose at the beginning, sand would feel it too late, and a ball would come deeper
   * into the sand the longer the step is. */
  SolidPose pose = solid_pose_after(query.solid, 0.5 * work->dt - solid_pose_time(query.solid, work->dt));
  query.position = pose.position;
  query.turn = mat3_from_quat(pose.rotation);
  query.back = mat3_transpose(query.turn);
  for (int a = 0; a < 3; a++) {
    const double *row = query.back.m[a];
    query.reach[a] =
        work->grid->cell * ((double)FAR + 0.5 * (STRIP * fabs(row[0]) + fabs(row[1]) + fabs(row[2])) + 1e-3);
  }
  for (int k = 0; k < ASK_ALL; k++) {
    Vec3 at = mat3_apply(&query.back, vec3_scale(query_point(k), work->grid->cell));
    for (int a = 0; a < 3; a++) query.from_strip[a][k] = vec3_get(at, a);
  }
  *to = query;
}

bool solid_query_far(const FlipWork *work, const SolidQuery *query, Vec3 origin) {
  const Shape *shape = &query->solid->shape;
  double cell = work->grid->cell;
  Vec3 half = vec3(0.5 * STRIP * cell, 0.5 * cell, 0.5 * cell);
  Vec3 middle = vec3_add(solid_query_from(query, origin), mat3_apply(&query->back, half));
  if (shape->inside || shape->kind == SCREE_SHAPE_PLANE)
    return solid_out_of_reach(query->solid, middle, (0.52 * STRIP + (double)FAR) * work->grid->cell);
  const double *r = query->reach;
  return middle.x < shape->bounds_low.x - r[0] || middle.x > shape->bounds_high.x + r[0] ||
         middle.y < shape->bounds_low.y - r[1] || middle.y > shape->bounds_high.y + r[1] ||
         middle.z < shape->bounds_low.z - r[2] || middle.z > shape->bounds_high.z + r[2];
}

/* Points k to k + count of a query, in the solid's frame; `from` is the strip's lower corner
 * there. */
static inline void points_at(const SolidQuery *query, Vec3 from, int k, int count, float *x, float *y, float *z) {
  for (int p = 0; p < count; p++) {
    x[p] = (float)(from.x + query->from_strip[0][k + p]);
    y[p] = (float)(from.y + query->from_strip[1][k + p]);
    z[p] = (float)(from.z + query->from_strip[2][k + p]);
  }
}

static void find_lanes(const FlipWork *work, const SolidQuery *query, Vec3 from, QueryResult *to) {
  float x[STRIP], y[STRIP], z[STRIP], d[STRIP], normal[3][STRIP];
  double cell = work->grid->cell;
  points_at(query, from, ASK_MIDDLES, STRIP, x, y, z);
  shape_distance_range(work->core, &query->solid->shape, STRIP, x, y, z, (double)FAR * cell, d, normal[0], normal[1],
                       normal[2]);
  to->lanes = to->shared = 0;
  for (int lane = 0; lane < STRIP; lane++) {
    to->lanes |= (d[lane] <= LANE_REACH * (float)cell ? 1u : 0u) << lane;
    to->shared |= (d[lane] <= SHARES_REACH * (float)cell ? 1u : 0u) << lane;
  }
}

bool solid_query_strip(const FlipWork *work, const SolidQuery *query, Vec3 origin, QueryResult *to) {
  double cell = work->grid->cell;
  Vec3 from = solid_query_from(query, origin);
  if (solid_query_far(work, query, origin)) return false;
  find_lanes(work, query, from, to);
  if (to->lanes == 0) return false;
  float x[ASK], y[ASK], z[ASK];
  int count = 0;
  for (int lane = 0; lane < STRIP; lane++) {
    if (!(to->shared >> lane & 1)) continue;
    points_at(query, from, lane * ASK_LANE, ASK_LANE, x + count, y + count, z + count);
    count += ASK_LANE;
  }
  for (int column = 0; column <= STRIP; column++) {
    if (!(columns_of(to->lanes) >> column & 1)) continue;
    points_at(query, from, ASK_CORNERS + column * 4, 4, x + count, y + count, z + count);
    count += 4;
  }
  shape_distance_range(work->core, &query->solid->shape, count, x, y, z, (double)FAR * cell, to->d, to->normal[0],
                       to->normal[1], to->normal[2]);
  for (int k = 0; k < count; k++) {
    float at = to->d[k] / (float)cell;
    to->d[k] = at > FAR ? FAR : at < -FAR ? -FAR : at;
  }
  return true;
}
