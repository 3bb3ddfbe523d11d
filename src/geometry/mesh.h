/* Triangle meshes: loading, checking, mass properties. */
#ifndef GEOMETRY_MESH_H
#define GEOMETRY_MESH_H

#include "core/core.h"
#include "core/vec.h"

typedef struct Mesh {
  int64_t vertex_count, triangle_count;
  Vec3 *vertices;
  int32_t (*triangles)[3]; /* counter-clockwise seen from outside */
} Mesh;

/* What mesh_check found and mended. Edges are counted as they were found, by position, before anything was turned. */
typedef struct MeshFindings {
  int64_t degenerate;    /* triangles of no area, dropped */
  int64_t open_edges;    /* edges of an odd number of triangles */
  int64_t flipped_edges; /* edges whose triangles disagree on outside */
  int64_t turned;        /* triangles turned to agree with their neighbours */
  bool inside_out;       /* volume was negative: all triangles were turned */
  bool closed;           /* every edge has its opposite now: inside is well defined everywhere */
} MeshFindings;

/* Reads OBJ, STL (binary or ASCII) or PLY by content and extension; glTF and others through Assimp where built in.
 * `path` has already been allowed. Errors name the file and the line or byte. */
Status mesh_load(Core *core, const char *path, Mesh *mesh);
/* The same from memory; name is for messages, its extension chooses the format. */
Status mesh_parse(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh);
/* Copies triangles that a program brought, with the same checks. */
Status mesh_copy(Core *core, const double *vertices, int64_t vertex_count, const int64_t *triangles,
                 int64_t triangle_count, Mesh *mesh);
void mesh_destroy(Core *core, Mesh *mesh);

Status mesh_transform(Core *core, Mesh *mesh, double scale, Quat rotation, Vec3 position);
/* Counts oddities; drops triangles of no area; turns single triangles to agree with their neighbours and an inside-out
 * closed mesh as a whole. Fails when no triangle is left. */
Status mesh_check(Core *core, Mesh *mesh, MeshFindings *findings);
/* Which triangles meet where. A half is a side of a triangle: 3 triangle + the corner at which it starts. Its partner
 * is the half of the one triangle on the other side of that edge; where there is none, or more, MESH_NO_PARTNER. The
 * caller drops the array. */
#define MESH_NO_PARTNER UINT32_MAX
Status mesh_partners(Core *core, const Mesh *mesh, uint32_t **partner);
void mesh_bounds(const Mesh *mesh, Vec3 *low, Vec3 *high);

/* Of a solid of unit density. inertia is about the centre of mass. */
typedef struct MassProperties {
  double volume;
  Vec3 center;
  Mat3 inertia;
} MassProperties;
/* Exact integrals over the enclosed volume (divergence theorem). Parts that overlap count as often as they do; the
 * result for an open mesh has no meaning. */
MassProperties mesh_mass_properties(const Mesh *mesh);

/* Surfaces of plain shapes, for drawing and sampling. `detail` is the number of segments round a circle. */
Status mesh_make_box(Core *core, Vec3 low, Vec3 high, Mesh *mesh);
Status mesh_make_sphere(Core *core, Vec3 center, double radius, int detail, Mesh *mesh);
Status mesh_make_cylinder(Core *core, Vec3 base, double radius, double height, int detail, Mesh *mesh);
Status mesh_make_capsule(Core *core, Vec3 base, double radius, double height, int detail, Mesh *mesh);
Status mesh_make_torus(Core *core, double major, double minor, int detail, Mesh *mesh);

#endif
