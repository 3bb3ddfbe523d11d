/* Faces of a mesh: parts of its surface that bend by no more than MESH_FACE_BEND from triangle to triangle. A sphere
 * touches a smooth surface, made of however many triangles, in one point, and in an inner edge each of the faces that
 * meet there. */
#ifndef GEOMETRY_MESH_FACES_H
#define GEOMETRY_MESH_FACES_H

#include "geometry/mesh.h"

/* Cosine of 20 degrees: a circle of 18 segments and more is round. */
#define MESH_FACE_BEND 0.9396926207859084
/* Faces are told apart by so many numbers. */
enum { MESH_FACE_NUMBERS = 1024 };

typedef struct MeshFaces {
  int32_t *of; /* per triangle; NULL: none were looked for */
  int32_t count;
  bool meet; /* a sphere may touch several at once: not where there is one, and not where all is convex */
} MeshFaces;

/* `inside`: the sphere is on the side that the triangles turn their backs to. */
Status mesh_faces_find(Core *core, const Mesh *mesh, bool closed, bool inside, MeshFaces *faces);
void mesh_faces_destroy(Core *core, MeshFaces *faces);

#endif
