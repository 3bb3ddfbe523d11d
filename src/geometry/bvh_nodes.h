/* The inside of a Bvh: what building and asking share. Coordinates are relative to `origin`, the middle of the mesh, so
 * that single precision boxes are tight wherever the mesh lies. */
#ifndef GEOMETRY_BVH_NODES_H
#define GEOMETRY_BVH_NODES_H

#include "geometry/bvh.h"

/* count > 0: a leaf with triangles first .. first + count; else children first and first + 1. Boxes are rounded
 * outwards. 32 bytes: a pair of children fills one cache line. */
typedef struct BvhNode {
  float low[3], high[3];
  int32_t first, count;
} BvhNode;

/* Corner a and the sides from it. */
typedef struct BvhTriangle {
  Vec3 a, ab, ac;
} BvhTriangle;

/* What a node looks like from afar: the first two terms of the winding number's expansion about `center`. */
typedef struct BvhMoment {
  float center[3];
  float radius;    /* no triangle reaches farther from the centre */
  float normal[3]; /* sum of area times normal */
  float slope[6];  /* symmetric part of the sum of (position - centre) normal^T area: xx yy zz xy yz zx */
  float pad[3];
} BvhMoment;

struct Bvh {
  const Mesh *mesh;
  Vec3 origin;
  BvhNode *nodes;
  BvhMoment *moments;
  BvhTriangle *triangles; /* in the order of the leaves */
  int32_t *order;         /* their numbers in the mesh */
  int64_t node_count;
};

/* A tree is never deeper: see bvh_build. */
enum { BVH_DEPTH_MAX = 96, BVH_LEAF_MAX = 4 };

#endif
