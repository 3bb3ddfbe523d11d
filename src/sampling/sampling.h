/* Filling volumes and covering surfaces with points (Sommer and Schwanecke 2021; notes in docs/geometry.md). */
#ifndef SAMPLING_SAMPLING_H
#define SAMPLING_SAMPLING_H

#include "core/core.h"
#include "geometry/shape.h"

typedef struct Samples {
  int64_t count;
  Vec3 origin; /* points are floats relative to it */
  float *x, *y, *z;
  float *radius;   /* NULL when all are equal */
  double fraction; /* volume: solid fraction reached, of the shape's volume */
} Samples;

typedef struct SamplingPlan {
  double radius;
  double spread;    /* volume: radii within radius * (1 +- spread) */
  int distribution; /* SCREE_RADII_... */
  uint64_t seed;
  bool dense;    /* volume: relax to near settled packing */
  bool maximal;  /* until no further sample fits */
  Vec3 position; /* pose of the shape */
  Quat rotation;
  /* Places that are not free: called with a world point and the radius, returns true when it must not be used. May be
   * NULL. Used to keep fills out of walls and bodies. */
  bool (*blocked)(void *context, Vec3 point, double radius);
  void *blocked_context;
} SamplingPlan;

/* Spheres wholly inside the shape, no two closer than the sum of their radii (1 - 1e-5); deterministic for a seed,
 * whatever the number of threads. */
Status sample_volume(Core *core, const Shape *shape, const SamplingPlan *plan, Samples *samples);
/* Points on the surface, no two closer than `spacing` (straight-line), no hole larger than the spacing. plan->radius is
 * ignored. */
Status sample_surface(Core *core, const Shape *shape, double spacing, const SamplingPlan *plan, Samples *samples);
/* Centres of a lattice of spacing 2 radius inside the shape, each off its place by at most jitter radii along each
 * axis. Boxes get whole numbers of layers, fitted to their sides; other shapes a lattice cut off at their surface. */
Status sample_lattice(Core *core, const Shape *shape, const SamplingPlan *plan, double jitter, Samples *samples);
void samples_destroy(Core *core, Samples *samples);

#endif
