/* Bounding volume hierarchy over a mesh: closest point, generalised winding number, ray casts. */
#ifndef GEOMETRY_BVH_H
#define GEOMETRY_BVH_H

#include "geometry/mesh.h"

typedef struct Bvh Bvh;

/* Shares the arrays of the mesh, which must outlive it. */
Status bvh_build(Core *core, const Mesh *mesh, Bvh **bvh);
void bvh_destroy(Core *core, Bvh *bvh);

typedef struct BvhHit {
  double distance;  /* unsigned for bvh_closest; along the direction for bvh_ray */
  int64_t triangle; /* -1: none */
  Vec3 point;
  Vec3 normal; /* of the triangle */
} BvhHit;

/* Closest point on the surface no farther than `reach`. */
BvhHit bvh_closest(const Bvh *bvh, Vec3 point, double reach);
/* First crossing within [0, reach]. direction has unit length. */
BvhHit bvh_ray(const Bvh *bvh, Vec3 origin, Vec3 direction, double reach);
/* 1 inside, 0 outside of a closed mesh; in between near holes of an open one (Jacobson 2013, fast form Barill 2018). */
double bvh_winding(const Bvh *bvh, Vec3 point);

#endif
