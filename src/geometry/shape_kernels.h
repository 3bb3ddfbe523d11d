/* Signed distances of many points at once, in single precision. */
#ifndef GEOMETRY_SHAPE_KERNELS_H
#define GEOMETRY_SHAPE_KERNELS_H

#include "core/simd.h"
#include "geometry/distance_grid.h"

/* Points in, distances and normals out, all of the same length. */
typedef struct ManyPoints {
  int64_t count;
  const float *x, *y, *z;
  float *distance, *nx, *ny, *nz;
} ManyPoints;

/* A plain shape in single precision: ShapeNumbers says what a and b are. sign is -1 for containers. */
typedef struct PlainShape {
  ScreeShapeKind kind;
  float a[3], b[3];
  float radius, height, sign;
} PlainShape;

/* Of a shape that is neither mesh nor heightfield. */
PlainShape shape_plain(const Shape *shape);

KERNEL_DECLARE(void, plain_distance_many, (const PlainShape *shape, const ManyPoints *points));
/* Points beyond the grid's band get the band with the right sign. */
KERNEL_DECLARE(void, grid_distance_many, (const DistanceGrid *grid, float sign, const ManyPoints *points));
/* The distances alone, of points [from, count). With sixteen lanes only as many as fill them. Returns where it stopped.
 */
KERNEL16_DECLARE(int64_t, grid_value_many,
                 (const DistanceGrid *grid, float sign, int64_t from, int64_t count, const float *x, const float *y,
                  const float *z, float *distance));

#endif
