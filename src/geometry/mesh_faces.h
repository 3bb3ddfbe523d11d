/* Faces of a mesh: parts of its surface that bend by no more than MESH_FACE_BEND from triangle to triangle. A sphere
 * touches a smooth surface, made of however many triangles, in one point, and in an inner edge each of the faces that
 * meet there. */
#ifndef GEOMETRY_MESH_FACES_H
#define GEOMETRY_MESH_FACES_H

#include "geometry/block_lists.h"
#include "geometry/mesh.h"
#include "geometry/mesh_faces_shared.h"

typedef struct MeshFaces {
  int32_t *of; /* per triangle; NULL: none were looked for */
  int32_t count;
  bool meet; /* a sphere may touch several at once: not where there is one, and not where all is convex */
  /* By the blocks of the distance grid, for spheres of a reach up to `reach` (0: not known). Instead of a list a block
   * has the one face near it. */
  double reach;
  BlockLists lists;
} MeshFaces;

/* `inside`: the sphere is on the side that the triangles turn their backs to. */
Status mesh_faces_find(Core *core, const Mesh *mesh, bool closed, bool inside, MeshFaces *faces);
void mesh_faces_destroy(Core *core, MeshFaces *faces);

#endif
