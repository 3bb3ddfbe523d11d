/* A mesh file as a view for drawing. */
#ifndef RENDER_MESH_FILE_H
#define RENDER_MESH_FILE_H

#include "scree/world.h"

/* Vertices and triangles belong to the caller: mesh_file_free. Coordinates are given relative to `origin`. */
ScreeStatus mesh_file_read(const char *path, ScreeVec3 origin, ScreeMeshView *mesh, ScreeError *error);
void mesh_file_free(ScreeMeshView *mesh);

#endif
