/* What a face of a mesh is, for the host and for kernels: see mesh_faces.h. */
#ifndef GEOMETRY_MESH_FACES_SHARED_H
#define GEOMETRY_MESH_FACES_SHARED_H

#include "core/vec_law.h"

/* Cosine of 20 degrees: a circle of 18 segments and more is round. */
#define MESH_FACE_BEND 0.9396926207859084
/* Faces are told apart by so many numbers. */
enum { MESH_FACE_NUMBERS = 1024 };

/* A triangle as touches ask for it, from the tree's origin; `sides` are those of the tree. */
typedef struct FaceTriangle {
  Vec3 corner[3], sides[2];
  int face, unused;
} FaceTriangle;

#endif
