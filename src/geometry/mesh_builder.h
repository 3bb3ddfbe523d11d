/* What the loaders fill: vertices, triangles and polygons as a file gives them, made into a mesh at the end. */
#ifndef GEOMETRY_MESH_BUILDER_H
#define GEOMETRY_MESH_BUILDER_H

#include "geometry/mesh.h"

/* Vertices with equal coordinates become one: an open-addressing table of indices. */
typedef struct VertexSet {
  Vec3 *vertices;
  int64_t count, capacity;
  int32_t *slots; /* index + 1; 0: free */
  int64_t slot_count;
} VertexSet;

typedef struct MeshBuilder {
  Core *core;
  const char *name; /* of the file, for messages */
  Vec3 *vertices;   /* as the file lists them */
  int64_t vertex_count, vertex_capacity;
  int32_t (*triangles)[3];
  int64_t triangle_count, triangle_capacity;
  int32_t *polygons; /* corners, then their number, one polygon after the other */
  int64_t polygon_size;
  VertexSet set; /* when the file has no indices, corners go here at once */
} MeshBuilder;

/* Coordinates beyond this are taken for rubbish: their squares and cubes must stay far from overflow. */
#define MESH_COORDINATE_MAX 1e12

static inline bool mesh_coordinate_good(Vec3 p) {
  return fabs(p.x) <= MESH_COORDINATE_MAX && fabs(p.y) <= MESH_COORDINATE_MAX && fabs(p.z) <= MESH_COORDINATE_MAX;
}

Status vertex_set_add(Core *core, VertexSet *set, Vec3 p, int32_t *index);

Status builder_reserve(MeshBuilder *builder, int64_t vertices, int64_t triangles);
Status builder_vertex(MeshBuilder *builder, Vec3 p);
Status builder_triangle(MeshBuilder *builder, int32_t a, int32_t b, int32_t c);
/* Three or more corners whose indices are in range by the end. */
Status builder_polygon(MeshBuilder *builder, const int32_t *corners, int64_t count);

/* Triangulates, merges vertices of equal position, drops unused ones and hands over the mesh. Always frees the
 * builder. `status` other than SCREE_OK only frees. */
Status builder_finish(MeshBuilder *builder, Status status, Mesh *mesh);

/* Cuts a planar polygon, concave or not, into count - 2 triangles that keep its sense. */
Status polygon_triangulate(Core *core, const Vec3 *vertices, const int32_t *corners, int64_t count,
                           int32_t (*triangles)[3]);
/* More corners than this only as a convex polygon: cutting ears takes quadratic time, which a hostile file may ask
 * for again and again. */
enum { POLYGON_CONCAVE_MAX = 10000 };

/* The formats. */
Status mesh_parse_obj(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh);
Status mesh_parse_stl(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh);
Status mesh_parse_ply(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh);
/* Others, through Assimp; data NULL: from the file itself, so that it can read its neighbours. */
Status mesh_parse_other(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh);
bool mesh_stl_plausible(const void *data, int64_t size);

#endif
