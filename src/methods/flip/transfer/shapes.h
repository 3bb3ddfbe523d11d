/* Ellipsoids: particles are stretched by the flow, split when too long and merged when too thin (Section 3.1). */
#ifndef METHODS_FLIP_TRANSFER_SHAPES_H
#define METHODS_FLIP_TRANSFER_SHAPES_H

#include "methods/flip/transfer/shapes_kernels.h"
#include "methods/flip/work.h"

/* A of (x - x_i)^T A^-1 (x - x_i) <= 1, in squares of the nominal radius: xx yy zz xy yz xz, as of the stress. All
 * zero: a sphere of that radius. */
typedef struct Shape6 {
  float a[STRESSES];
} Shape6;

/* Of the particles of a strip: those that may have to be merged, or split. */
typedef struct ShapeCounts {
  int32_t thin, too_long;
} ShapeCounts;

typedef struct FlipShapes {
  float *a[STRESSES]; /* fields of the particles */
  Shape6 *pending;    /* of those that wait to be born, in the order of their keys */
  int64_t pending_count;
  int64_t splits, merges;
  float *flow[3][3]; /* how particles were stretched in the frame, less the identity; NULL: not wanted */
} FlipShapes;

Mat3 shape_matrix(const Shape6 *shape);
Shape6 shape_of_matrix(const Mat3 *matrix);
/* Semi-axes within [1/sqrt2, sqrt2] of the radius; `longest` and `shortest` get the squares. */
bool shape_is_valid(const Shape6 *shape, double *shortest, double *longest);
/* Halves along the longest axis: the children's shape and their offset from the centre (radii). False when they would
 * not be valid. */
bool shape_split(const Shape6 *shape, Shape6 *child, Vec3 *offset);
/* Eq. 29, offsets in radii; false when the result is not valid. */
bool shape_merge(const Shape6 *a, double mass_a, const Shape6 *b, double mass_b, Vec3 apart, Shape6 *merged);

Status shapes_create(Core *core, State *state, FlipShapes *shapes);
/* Gives those just born their shapes. */
void shapes_born(FlipShapes *shapes, State *state);
/* Whether the flow is wanted, in this step. */
void shapes_find_flow(FlipShapes *shapes, State *state);
/* Stretches the shapes of the particles of a strip by the gradients at them; the arrays of `with` hold all of them.
 * Their kinds go to work->advection.kind, and how many are thin or long to work->advection.odd. */
void shapes_stretch(const FlipShapes *shapes, const FlipWork *work, int64_t strip, const Stretch *with);
/* After the particles' displacements and kinds are known: queues what splits and merges. */
Status shapes_advance(FlipShapes *shapes, FlipWork *work);
Status shapes_check(Core *core, const Archive *archive, const State *state, const FlipShapes *shapes);
Status shapes_archive(Core *core, Archive *archive, FlipShapes *shapes);
void shapes_destroy(Core *core, FlipShapes *shapes);

#endif
