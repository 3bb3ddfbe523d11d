/* The triangles near a place, in single precision relative to it, and distances to all of them at once. Lists are
 * padded with far-away triangles to a multiple of the lanes; see triangle_list_end. */
#ifndef GEOMETRY_TRIANGLE_KERNELS_H
#define GEOMETRY_TRIANGLE_KERNELS_H

#include "core/simd.h"
#include "core/vec.h"

/* Rows of numbers: corners (9), the unit normal, its offset, the inward normals of the edges within the plane (9) and
 * one over the square of their lengths (3). */
enum { TRIANGLE_ROWS = 25, TRIANGLES_MAX = 256, TRIANGLE_ROOM = TRIANGLES_MAX + LANES };
typedef struct TriangleList {
  int64_t count;
  float row[TRIANGLE_ROWS][TRIANGLE_ROOM];
} TriangleList;

/* Corners relative to the list's place; at most TRIANGLES_MAX. */
void triangle_list_push(TriangleList *list, const Vec3 corners[3]);
void triangle_list_end(TriangleList *list);

/* Distance to the nearest triangle, no more than `most`. */
KERNEL_DECLARE(float, triangles_distance, (const TriangleList *list, const float point[3], float most));
/* The same for the points x[k], y, z, k < LANES, all with one y and z. */
KERNEL_DECLARE(void, triangles_distance_row,
               (const TriangleList *list, const float x[LANES], float y, float z, float most, float distance[LANES]));
/* Squares of the distances of all triangles from LANES points, and the least for each point. */
KERNEL_DECLARE(void, triangles_squares,
               (const TriangleList *list, const float x[LANES], const float y[LANES], const float z[LANES],
                float (*squares)[LANES], float least[LANES]));
/* Which of some triangles of a list is nearest to each of LANES points; the first of those that are equally near. */
KERNEL_DECLARE(void, triangles_nearest,
               (const TriangleList *list, const int32_t *some, int64_t count, const float x[LANES],
                const float y[LANES], const float z[LANES], int32_t nearest[LANES]));

#endif
