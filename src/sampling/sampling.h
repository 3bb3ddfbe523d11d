/* Filling volumes and covering surfaces with points (Sommer and Schwanecke 2021; notes in docs/geometry.md). */
#ifndef SAMPLING_SAMPLING_H
#define SAMPLING_SAMPLING_H

#include "core/core.h"
#include "geometry/shape.h"

/* Spheres of a fill that were not collected: its blocks in their order. Those wholly inside hold what their part of a
 * tile (tile.h) holds; the spheres of the others are with the samples. */
typedef struct SampleBlocks {
  int64_t count, own; /* blocks; spheres that are with the samples */
  double side;        /* of a block, m */
  struct Tile *tile;  /* NULL: no block has any of it */
  int32_t (*coordinate)[3];
  int32_t *before;  /* spheres before each, and behind the last */
  int32_t *samples; /* where those of a block begin; -1: it has those of the tile */
} SampleBlocks;

typedef struct Samples {
  int64_t count;
  Vec3 origin; /* points are floats relative to it */
  float *x, *y, *z;
  float *radius;        /* NULL when all are equal */
  SampleBlocks *blocks; /* NULL: all are here */
  double fraction;      /* volume: solid fraction reached, of the shape's volume */
} Samples;

typedef struct SamplingPlan {
  double radius;
  double spread;    /* volume: radii within radius * (1 +- spread) */
  int distribution; /* SCREE_RADII_... */
  uint64_t seed;
  bool dense; /* volume: relax to near settled packing */
  /* Dense volume: the share of it, less what obstacles take up, that the spheres shall fill. Spheres then belong to the
   * shape by their centres and may stand out of it. 0: they lie wholly inside, as many as come to lie there. */
  double fraction;
  bool maximal;        /* until no further sample fits */
  struct Tiles *tiles; /* volume: kept for other fills; NULL: none is kept */
  bool in_blocks;      /* volume: what lies in whole blocks of a tile need not be collected */
  Vec3 position;       /* pose of the shape */
  Quat rotation;
  /* The nearest thing that is in the way of a sphere at a world point: its distance, below zero inside it, and the
   * normal out of it. Beyond reach as in shape_distance. May be NULL. Used to keep fills out of walls and bodies. */
  ShapePoint (*obstacle)(void *context, Vec3 point, double radius, double reach);
  void *obstacle_context;
} SamplingPlan;

/* Spheres inside the shape, no two closer than the sum of their radii (1 - 1e-5); deterministic for a seed, whatever
 * the number of threads. */
Status sample_volume(Core *core, const Shape *shape, const SamplingPlan *plan, Samples *samples);
/* Points on the surface, no two closer than `spacing` (straight-line), no hole larger than the spacing. plan->radius is
 * ignored. */
Status sample_surface(Core *core, const Shape *shape, double spacing, const SamplingPlan *plan, Samples *samples);
/* Centres of a lattice of spacing 2 radius inside the shape, each off its place by at most jitter radii along each
 * axis. Boxes get whole numbers of layers, fitted to their sides; other shapes a lattice cut off at their surface.
 * Where that is off the volume by more than a hundredth, a last layer is thinned, or the deepest points are taken. */
Status sample_lattice(Core *core, const Shape *shape, const SamplingPlan *plan, double jitter, Samples *samples);
/* Room for so many, of which there are none yet; radii: of different sizes. */
Status samples_new(Core *core, int64_t count, bool radii, Samples *samples);
void samples_destroy(Core *core, Samples *samples);

/* Solid volume of all; `radius` where all are equal. */
double samples_volume(const Samples *samples, double radius);
/* Takes out so many at random, whatever their size, that about `volume` is left. */
void samples_thin(Samples *samples, double radius, double volume, uint64_t seed);

#endif
