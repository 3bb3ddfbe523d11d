/* The inside of a Bvh: what building and asking share. Coordinates are relative to `origin`, the middle of the mesh, so
 * that single precision boxes are tight wherever the mesh lies. */
#ifndef GEOMETRY_BVH_NODES_H
#define GEOMETRY_BVH_NODES_H

#include "core/simd.h"
#include "geometry/bvh.h"
#include "geometry/mesh_nearest_shared.h"

/* count > 0: a leaf with triangles first .. first + count; else children first and first + 1. Boxes are rounded
 * outwards. 32 bytes: a pair of children fills one cache line. */
typedef struct BvhNode {
  float low[3], high[3];
  int32_t first, count;
} BvhNode;

/* Up to eight children side by side, for one pass of eight lanes: the binary tree with its levels folded. count > 0: a
 * leaf; 0: the wide node `first`. Unused lanes are at the end. */
typedef struct BvhWide {
  float low[3][LANES], high[3][LANES];
  int32_t first[LANES], count[LANES];
  uint32_t used;       /* lanes, as bits */
  int32_t pack[LANES]; /* of a leaf: its place in `packs` */
} BvhWide;

/* What the triangles of those children look like from afar, by the first two terms of the winding number's expansion
 * about `center`: no triangle reaches farther from it than `radius`; `normal` is the sum of area times normal; `slope`
 * the symmetric part of the sum of (position - centre) normal^T area, as xx yy zz xy yz zx. Unused lanes are far and
 * nothing. */
typedef struct BvhMoments {
  float center[3][LANES], radius[LANES], normal[3][LANES], slope[6][LANES];
} BvhMoments;

/* The triangles of a leaf in single precision: corner, sides, and the radius about their middle. */
typedef struct BvhPack {
  float a[3][LANES], ab[3][LANES], ac[3][LANES], radius[LANES];
} BvhPack;

struct Bvh {
  Mesh mesh; /* a copy that shares the arrays: whoever owns the mesh may move */
  Vec3 origin;
  double extent; /* largest coordinate */
  double scale;  /* a power of two that brings it near 1: wide nodes, moments and packs are in units of 1 / scale, so
                  * that squares and cubes of single precision neither vanish nor overflow */
  bool wide_kernels; /* which build of the kernels runs */
  BvhNode *nodes;    /* binary, for rays */
  int64_t node_count;
  BvhWide *wide;       /* for distances and winding numbers; node 0 is the root */
  BvhMoments *moments; /* of the children of each wide node */
  int64_t wide_count;
  BvhPack *packs;
  int64_t pack_count;
  BvhTriangle *triangles; /* in the order of the leaves */
  int32_t *order;         /* their numbers in the mesh */
};

/* A tree is never deeper: see bvh_build. */
enum { BVH_DEPTH_MAX = 96, BVH_LEAF_MAX = LANES };

/* Farther than this many extents from the middle the kernels are not used. */
#define BVH_FAR 1e6

/* Looks for a triangle that is nearer. p is relative to the origin. */
KERNEL_DECLARE(void, bvh_closest_kernel, (const Bvh *bvh, Vec3 p, NearestPoint *nearest));
/* As bvh_near with p relative to the origin. */
KERNEL_DECLARE(int64_t, bvh_near_kernel, (const Bvh *bvh, Vec3 p, double reach, int64_t capacity, int32_t *places));
KERNEL_DECLARE(double, bvh_winding_kernel, (const Bvh *bvh, Vec3 p));

/* Places in the leaves of the triangles within `reach` of a point, and perhaps of some a little farther, at most
 * `capacity`. Returns how many there are: more than `capacity` when there are too many to list. */
int64_t bvh_near(const Bvh *bvh, Vec3 point, double reach, int64_t capacity, int32_t *places);

#endif
