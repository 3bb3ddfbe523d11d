/* Tests of one point, or of eight small cubes, against a list of spheres. Lists are padded with far-away spheres to a
 * multiple of the lanes; see sphere_list_push. */
#ifndef SAMPLING_SAMPLING_KERNELS_H
#define SAMPLING_SAMPLING_KERNELS_H

#include "geometry/triangle_kernels.h"

#define SPHERE_FAR 1e18f

typedef struct SphereList {
  int64_t count;
  float *x, *y, *z, *r;
} SphereList;

static inline void sphere_list_clear(SphereList *list) {
  list->count = 0;
  for (int k = 0; k < LANES; k++) list->x[k] = list->y[k] = list->z[k] = SPHERE_FAR, list->r[k] = 0;
}
/* Room for LANES more than the count is needed. */
static inline void sphere_list_push(SphereList *list, float x, float y, float z, float r) {
  int64_t k = list->count++;
  list->x[k] = x, list->y[k] = y, list->z[k] = z, list->r[k] = r;
  if (list->count % LANES != 0) return;
  for (int64_t j = list->count; j < list->count + LANES; j++)
    list->x[j] = list->y[j] = list->z[j] = SPHERE_FAR, list->r[j] = 0;
}

/* Whether a sphere would cut one of the list. */
KERNEL_DECLARE(bool, spheres_conflict, (const SphereList *list, const float point[3], float radius));
/* Copies those whose distance from the point is below reach + their radius. */
KERNEL_DECLARE(void, spheres_near, (const SphereList *list, const float point[3], float reach, SphereList *near_ones));
/* The eight cubes of half side `half` around centre +- half: bit k is set when no single sphere of the list excludes a
 * centre of that radius from all of cube k (bit 0: +x, bit 1: +y, bit 2: +z). */
KERNEL_DECLARE(unsigned, cubes_open, (const SphereList *list, const float centre[3], float half, float radius));

/* Points on a surface with the normals there. Two points belong to opposite sides of a sheet, and have nothing to do
 * with each other, when their normals are more than 120 degrees apart and they do not lie in one plane. */
typedef struct SurfaceList {
  int64_t count;
  float *x, *y, *z, *nx, *ny, *nz;
} SurfaceList;

/* Whether one point of the list on the same side is nearer than `spacing` to every one of the corners, one or three (a
 * triangle is inside a ball when its corners are). */
KERNEL_DECLARE(bool, surface_covered,
               (const SurfaceList *list, const float (*corners)[3], int count, const float normal[3], float spacing));

/* Copies the points nearer than `reach` to a point, and pads. */
KERNEL_DECLARE(void, surface_near,
               (const SurfaceList *list, const float point[3], float reach, SurfaceList *near_ones));

static inline void surface_list_pad(SurfaceList *list) {
  for (int64_t k = list->count; k < list->count + LANES; k++) {
    list->x[k] = list->y[k] = list->z[k] = SPHERE_FAR;
    list->nx[k] = list->ny[k] = list->nz[k] = 0;
  }
}

#endif
