/* What a parcel sees of the solids round it, along rays in fixed directions: the first surface of each ray. wall_law.h
 * says what that adds to the density. */
#ifndef METHODS_SPH_VIEW_H
#define METHODS_SPH_VIEW_H

#include "core/simd.h"
#include "methods/sph/sph_shared.h"
#include "state/solids.h"

/* Unit directions, spread evenly. */
typedef struct SphRays {
  float x[VIEW_RAYS], y[VIEW_RAYS], z[VIEW_RAYS];
} SphRays;
void sph_rays_make(SphRays *rays);

typedef struct SphView {
  float t[VIEW_RAYS];                       /* of the first surface, in spacings; WALL_SUPPORT: none */
  float normal[3][VIEW_RAYS];               /* there, out of the solid */
  int32_t solid[VIEW_RAYS];                 /* whose it is; -1: none */
  float share[VIEW_RAYS], slope[VIEW_RAYS]; /* of the density: sph_view_sum */
} SphView;

void sph_view_begin(SphView *view);

/* view_kernels.c. A half space at a distance (in spacings). */
KERNEL_DECLARE(void, sph_view_face,
               (const SphRays *rays, SphView *view, int32_t solid, const float normal[3], float distance));
/* Shares and slopes of all rays. They are scaled so that a flat wall at the nearest face is exact: the error of the
 * rays is left only in what differs from that wall. */
KERNEL_DECLARE(void, sph_view_sum, (const SphRays *rays, SphView *view, const float normal[3], float distance));

/* view.c. Where no more than half spaces at right angles are seen (square_shared.h), scales the sums of rays to theirs:
 * the error of the rays is gone. */
void sph_view_square(const SphRays *rays, SphView *view);

/* A solid of any form, seen from a point outside of it; `nearest` is its distance from there. */
void sph_view_solid(const Core *core, const SphRays *rays, SphView *view, const Solid *solid, int32_t index, Vec3 at,
                    double nearest, double spacing);
/* Whether a solid looks like a half space from a point (in its frame) whose nearest surface point is given: nothing
 * within `reach` differs from that. */
bool sph_view_is_flat(const Shape *shape, Vec3 local, const ShapePoint *point, double reach);

/* Straight lines that go on until they meet a solid: in its frame, in m. */
enum { BEAMS_MOST = VIEW_RAYS };
typedef struct SphBeams {
  int count;
  int32_t who[BEAMS_MOST];
  float from[3][BEAMS_MOST], along[3][BEAMS_MOST];
  float t[BEAMS_MOST], end[BEAMS_MOST];
} SphBeams;
/* Where one met a surface; called for beams that do. */
typedef void SphMeet(void *context, int32_t who, float t, const float normal[3]);
/* Uses the beams up. `spacing`: of the parcels; surfaces are found within a two-hundredth of it. */
void sph_trace(const Core *core, const Shape *shape, SphBeams *beams, double spacing, SphMeet *meet, void *context);
/* Solids whose distance is quick enough to be traced. */
bool sph_can_trace(const Shape *shape);

#endif
