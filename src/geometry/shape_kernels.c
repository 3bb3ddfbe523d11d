#include "geometry/shape_kernels.h"

#include "geometry/grid_lanes.h"

#define PLAIN_REAL float
#define PLAIN_SHAPE PlainShape
#define PLAIN(name) plainf_##name
#define PLAIN_SQRT __builtin_sqrtf
#include "geometry/shape_plain.h"

/* One loop for each shape, so that the choice is made outside of it. */
#define PLAIN_LOOP(call)                                                                                               \
  for (int64_t i = 0; i < points->count; i++) {                                                                        \
    const float x = px[i], y = py[i], z = pz[i];                                                                       \
    plainf_Point p = call;                                                                                             \
    distance[i] = sign * p.distance;                                                                                   \
    nx[i] = sign * p.x;                                                                                                \
    ny[i] = sign * p.y;                                                                                                \
    nz[i] = sign * p.z;                                                                                                \
  }

void KERNEL(plain_distance_many)(const PlainShape *shape, const ManyPoints *points) {
  const float *restrict px = points->x, *restrict py = points->y, *restrict pz = points->z;
  float *restrict distance = points->distance;
  float *restrict nx = points->nx, *restrict ny = points->ny, *restrict nz = points->nz;
  const PlainShape s = *shape;
  const float sign = s.sign;
#define PLAIN_CASE(id, word, ...)                                                                                      \
  case SCREE_SHAPE_##id: PLAIN_LOOP(plainf_##word##_point(x, y, z, &s)) break;
  switch (s.kind) {
    SCREE_SOLID_SHAPES(PLAIN_CASE)
  default: break;
  }
}

void KERNEL(grid_distance_many)(const DistanceGrid *grid, float sign, const ManyPoints *points) {
  int64_t count = points->count;
  const GridFrame frame = grid_frame(grid);
  for (int64_t i = 0; i < count; i += LANES) {
    GridCells cells;
    LaneVec3 at = vec_make(lane_load_few(points->x + i, count - i), lane_load_few(points->y + i, count - i),
                           lane_load_few(points->z + i, count - i));
    grid_cells(grid, frame, at, &cells);
    GridPoint here = grid_point(frame, cells.corners, cells.at, cells.known, cells.inside_far);
    LaneVec3 normal = vec_mul(here.normal, real(sign));
    lane_store_few(points->distance + i, real(sign) * here.distance, count - i);
    lane_store_few(points->nx + i, normal.x, count - i);
    lane_store_few(points->ny + i, normal.y, count - i);
    lane_store_few(points->nz + i, normal.z, count - i);
  }
}
