/* Shapes: planes, boxes, spheres, capsules, cylinders, meshes and the heightfield behind one interface. All in the
 * shape's own frame.
 *
 * The signed distance is negative inside the solid. `inside` shapes are containers: grains live within, the solid is
 * everything else, and the sign is turned. */
#ifndef GEOMETRY_SHAPE_H
#define GEOMETRY_SHAPE_H

#include "geometry/bvh.h"
#include "geometry/heightfield.h"
#include "geometry/mesh.h"
#include "geometry/mesh_faces.h"
#include "geometry/touch_shared.h"
#include "scree/definitions.h"

typedef struct DistanceGrid DistanceGrid;

/* What the signed distance of a plain shape is computed from. box: a = centre, b = half size; plane: a = point, b =
 * unit normal; others: a = centre or base. */
typedef struct ShapeNumbers {
  double a[3], b[3], radius, height;
} ShapeNumbers;

typedef struct Shape {
  ScreeShapeKind kind;
  bool inside;
  /* Plain shapes. box: low, high. sphere: low = centre. cylinder, capsule: low = base. plane: low = point, high = unit
   * normal. */
  Vec3 low, high;
  double radius, height;
  ShapeNumbers numbers;
  /* Meshes. The surface of plain shapes (not planes) is made on demand for drawing and sampling. */
  Mesh mesh;
  Bvh *bvh;
  DistanceGrid *grid;
  MeshFaces faces;              /* of a mesh: see shape_find_faces */
  Heightfield *heights;         /* of a heightfield; owned. Its bounds follow it: shape_bound_heights */
  Vec3 bounds_low, bounds_high; /* of the solid surface; planes: infinite */
  MassProperties mass;          /* unit density; zero volume for planes and containers, not above zero for a mesh that
                                 * encloses nothing */
  double volume;                /* of the shape itself, of containers too; 0: none */
  MeshFindings findings;
} Shape;

/* From a definition. Sizes, scale are applied; position and rotation are NOT (they are the pose of whoever owns the
 * shape). `file` is the resolved path of a mesh file (already allowed), `scene` and the source are for messages. */
Status shape_create(Core *core, const ScreeShapeDef *definition, bool inside, const char *file, const char *scene,
                    Shape *shape);
void shape_destroy(Core *core, Shape *shape);
/* Makes shape->mesh for a plain shape, so that it can be drawn and surface-sampled. Planes give a square of `extent`.
 */
Status shape_make_surface(Core *core, Shape *shape, double extent);

/* A mesh of a plain shape with `detail` segments round its circles; *curved: the shape itself is rounder. */
Status shape_fine_surface(Core *core, const Shape *shape, int detail, Mesh *mesh, bool *curved);
/* Points that a free body of a plain shape touches others with: centres of balls of *radius. Returns their number. */
enum { SHAPE_CORNERS_MAX = 32 };
int shape_corners(const Shape *shape, Vec3 points[SHAPE_CORNERS_MAX], double *radius);

/* A heightfield takes its field over. */
void shape_take_heights(Shape *shape, Heightfield *heights);
void shape_bound_heights(Shape *shape);

/* Exact. Where the nearest point is farther than `reach`, the result may be any value of the right sign beyond it. */
ShapePoint shape_distance(const Shape *shape, Vec3 point, double reach);
/* The same by the mesh itself, where it is known whether the point is in the solid: what is dear to find out. */
ShapePoint shape_distance_sided(const Shape *shape, Vec3 point, double reach, bool contained);
/* Every face of the solid within `reach` of the point that a sphere could touch, nearest first: a container box gives
 * up to four, others one. Returns their number. */
int shape_contacts(const Shape *shape, Vec3 point, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]);
/* The same for grains, which meet a mesh at each of its faces too, once shape_find_faces has found these. */
int shape_touches(const Shape *shape, Vec3 point, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]);
Status shape_find_faces(Core *core, Shape *shape);
/* Which faces spheres of a reach up to `reach` may touch, block by block of the distance grid: those then need no tree.
 * Where there are too many triangles to list, the tree is asked as before. */
Status shape_cache_faces(Core *core, Shape *shape, double reach);
bool shape_ray(const Shape *shape, Vec3 origin, Vec3 direction, double reach, double *distance, Vec3 *normal);
/* Whether a point is in the solid (for containers: outside them). */
bool shape_contains(const Shape *shape, Vec3 point);

/* The same for many points at once, in single precision and in the shape's frame: plain shapes and cached meshes eight
 * at a time, others one by one. The first runs in parallel; the second on the calling thread, for use within a
 * parallel_for. The results do not depend on threads or on how the points are cut into ranges. */
void shape_distance_many(Core *core, const Shape *shape, int64_t count, const float *x, const float *y, const float *z,
                         double reach, float *distance, float *nx, float *ny, float *nz);
void shape_distance_range(const Core *core, const Shape *shape, int64_t count, const float *x, const float *y,
                          const float *z, double reach, float *distance, float *nx, float *ny, float *nz);

/* The same without normals, which is cheaper where distances are cached. */
void shape_distance_only(const Core *core, const Shape *shape, int64_t count, const float *x, const float *y,
                         const float *z, double reach, float *distance);

/* Results of shape_distance_range that are larger than this say only that the point is at least so far away. */
double shape_distance_known(const Shape *shape, double reach);

/* Meshes: caches the distance in a sparse grid of the given cell, valid within `band` of the surface, after which
 * shape_distance and shape_contacts interpolate it (error O(cell^2) away from edges) and ask the mesh itself only when
 * `reach` is beyond the band. The cell is made smaller, down to a quarter, where walls are thinner than two of it;
 * where it is not, the band is at least `wide`. Open meshes and plain shapes stay exact. */
Status shape_cache_distance(Core *core, Shape *shape, double cell, double band, double wide);
/* Gives a shape the cached distance of another one of the same mesh, where that has one; returns whether. */
Status shape_copy_distance(Core *core, const Shape *from, Shape *shape, bool *copied);

#endif
