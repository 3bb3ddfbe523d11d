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

LANE_INLINE void grid_eight(const DistanceGrid *grid, LaneVec3 at, Real out[4]) {
  GridCells cells;
  grid_cells(grid, at, &cells);
  Trilinear here = trilinear(cells.corners, cells.at);
  Real length = real_sqrt(vec_dot(here.gradient, here.gradient));
  Mask good = cells.known & real_less(real(0), length);
  Real scale = real(1) / real_select(good, length, real(1));
  out[0] = grid_value(grid, &cells, here.value);
  out[1] = real_select(good, here.gradient.x * scale, real(0));
  out[2] = real_select(good, here.gradient.y * scale, real(0));
  out[3] = real_select(good, here.gradient.z * scale, real(1));
}

void KERNEL(grid_distance_many)(const DistanceGrid *grid, float sign, const ManyPoints *points) {
  int64_t count = points->count;
  float *const results[4] = {points->distance, points->nx, points->ny, points->nz};
  for (int64_t i = 0; i < count; i += LANES) {
    Real out[4];
    grid_eight(grid,
               vec_make(lane_load_few(points->x + i, count - i), lane_load_few(points->y + i, count - i),
                        lane_load_few(points->z + i, count - i)),
               out);
    for (int k = 0; k < 4; k++) lane_store_few(results[k] + i, real(sign) * out[k], count - i);
  }
}
