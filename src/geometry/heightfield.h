/* A heightfield: the solid below a triangulated surface over a rectangle.
 *
 * Column (i, j) has its vertex in the middle of its square, at ((i + 1/2) cell, (j + 1/2) cell, height); between the
 * outermost vertices and the border the surface goes on level. Squares between four vertices are cut from their lowest
 * corner to the highest, so that the volume below the surface is the sum of cell^2 times height over the columns (but
 * for a twelfth of a corner column). The solid reaches down without end and has upright sides. */
#ifndef GEOMETRY_HEIGHTFIELD_H
#define GEOMETRY_HEIGHTFIELD_H

#include "core/core.h"
#include "core/vec.h"

typedef struct Heightfield {
  int32_t nx, ny;  /* columns */
  double cell;     /* m */
  double *heights; /* nx ny of them, x fastest; in the shape's frame, whose origin is a corner */
  double highest;  /* no height is above it */
} Heightfield;

Status heightfield_create(Core *core, int32_t nx, int32_t ny, double cell, Heightfield **field);
void heightfield_destroy(Core *core, Heightfield *field);
/* After heights were lowered: makes `highest` tight again. Whoever raises one keeps it up to date. */
void heightfield_bound(Heightfield *field);

static inline double heightfield_size_x(const Heightfield *field) { return field->nx * field->cell; }
static inline double heightfield_size_y(const Heightfield *field) { return field->ny * field->cell; }
/* Height of the surface over a point; points outside take the border's. */
double heightfield_height(const Heightfield *field, double x, double y);
/* Signed distance (negative below the surface) and its gradient. Exact up to `reach` and HEIGHTFIELD_SEARCH cells
 * (heightfield_shared.h); beyond, a value of the right sign that is never farther from zero than the distance. */
void heightfield_distance(const Heightfield *field, Vec3 point, double reach, double *distance, Vec3 *normal);
/* First crossing of the surface from above. */
bool heightfield_ray(const Heightfield *field, Vec3 origin, Vec3 direction, double reach, double *distance,
                     Vec3 *normal);

#endif
