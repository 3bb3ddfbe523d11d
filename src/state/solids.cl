/* What grains touch, for kernels: a solid's distance and its contacts, by the texts of the CPU. */
#ifndef STATE_SOLIDS_CL
#define STATE_SOLIDS_CL

#include "geometry/grid_spot_shared.h"
#include "geometry/grid_corners.cl"
#include "geometry/triangle_law.h"
#include "state/solids_there_shared.h"

typedef struct PlainNumbers {
  double a[3], b[3], radius, height;
} PlainNumbers;
#define PLAIN_REAL double
#define PLAIN_SHAPE PlainNumbers
#define PLAIN(name) plain_##name
#define PLAIN_SQRT sqrt
#include "geometry/shape_plain.h"

/* Buffers of solids_mirror.h. */
typedef struct SolidsThere {
  global const SolidThere *solid;
  global const int *numbers;
  global const float *values;
  global const FaceTriangle *triangle;
} SolidsThere;
#define SOLIDS_THERE                                                                                                   \
  global const SolidThere *solid, global const int *numbers, global const float *values,                               \
      global const FaceTriangle *triangle
static SolidsThere solids_there(SOLIDS_THERE) {
  SolidsThere there = {solid, numbers, values, triangle};
  return there;
}

/* Triangles listed for a block of a mesh. */
typedef struct NearMesh {
  global const int *list;
  global const FaceTriangle *triangle;
  int count;
} NearMesh;
static int near_count(NearMesh mesh) { return mesh.count; }
static int near_face(NearMesh mesh, int k) { return mesh.triangle[mesh.list[k]].face; }
static BvhTriangle near_triangle(NearMesh mesh, int k) {
  global const FaceTriangle *from = mesh.triangle + mesh.list[k];
  BvhTriangle triangle = {from->corner[0], from->sides[0], from->sides[1]};
  return triangle;
}
static Vec3 near_corner(NearMesh mesh, int k, int corner) { return mesh.triangle[mesh.list[k]].corner[corner]; }
#include "geometry/mesh_touch_shared.h"

typedef struct Heightfield {
  int nx, ny;
  double cell;
  global const double *heights;
} Heightfield;
#include "geometry/heightfield_shared.h"

/* A point of the world in the solid's frame. */
static Vec3 solid_local(global const SolidThere *solid, Vec3 world) {
  const Vec3 from = vec3_sub(world, solid->position);
  return solid->turned ? quat_rotate(quat_conjugate(solid->rotation), from) : from;
}
static Vec3 solid_direction(global const SolidThere *solid, Vec3 local_direction) {
  return solid->turned ? quat_rotate(solid->rotation, local_direction) : local_direction;
}

static ShapePoint plain_point(global const SolidThere *solid, Vec3 p) {
  PlainNumbers numbers;
  plain_Point at;
  for (int k = 0; k < 3; k++) numbers.a[k] = solid->a[k], numbers.b[k] = solid->b[k];
  numbers.radius = solid->radius;
  numbers.height = solid->height;
  switch (solid->form) {
  case SOLID_PLANE: at = plain_plane_point(p.x, p.y, p.z, &numbers); break;
  case SOLID_SPHERE: at = plain_sphere_point(p.x, p.y, p.z, &numbers); break;
  case SOLID_CAPSULE: at = plain_capsule_point(p.x, p.y, p.z, &numbers); break;
  case SOLID_BOX: at = plain_box_point(p.x, p.y, p.z, &numbers); break;
  default: at = plain_cylinder_point(p.x, p.y, p.z, &numbers); break;
  }
  ShapePoint point = {at.distance, vec3(at.x, at.y, at.z), 0};
  return point;
}

static int grid_entry(SolidsThere there, global const SolidThere *solid, GridSpot spot) {
  return spot.block < 0 ? GRID_OUTSIDE : there.numbers[solid->table + spot.block];
}

static ShapePoint mesh_point(SolidsThere there, global const SolidThere *solid, GridSpot spot) {
  const int entry = grid_entry(there, solid, spot);
  if (entry < 0) return grid_spot_beyond(entry == GRID_INSIDE, solid->band);
  global const float *lowest = there.values + (uint)solid->values + (uint)(entry + spot.corner);
  const Corners corners = grid_corners_from(lowest);
  return grid_spot_point(corners, spot);
}

static Heightfield heights_there(SolidsThere there, global const SolidThere *solid) {
  Heightfield field = {solid->columns_x, solid->columns_y, solid->cell,
                       (global const double *)there.triangle + solid->heights};
  return field;
}

/* Signed distance and normal in the solid's frame; those of a mesh have no more than a sign beyond its band, and those of
 * a heightfield need not be exact beyond `reach`. */
static ShapePoint solid_point(SolidsThere there, global const SolidThere *solid, Vec3 p, double reach) {
  ShapePoint point;
#ifndef SOLIDS_WITHOUT_HEIGHTS
  if (solid->form == SOLID_HEIGHTS) return heights_point(heights_there(there, solid), p, reach);
#endif
  if (solid->form == SOLID_MESH) {
    const GridAxes axes = solid->grid;
    point = mesh_point(there, solid, grid_spot(&axes, p));
  } else point = plain_point(solid, p);
  if (solid->inside) {
    point.distance = -point.distance;
    point.normal = vec3_scale(point.normal, -1);
  }
  return point;
}

static int mesh_touches(SolidsThere there, global const SolidThere *solid, Vec3 p, double reach,
                        ShapePoint touch[SHAPE_CONTACTS_MAX]) {
  const GridAxes axes = solid->grid;
  const int entry = grid_entry(there, solid, grid_spot(&axes, p));
  if (entry < 0) return 1;
  const int block = there.numbers[solid->block + entry / GRID_NODES];
  if (block >= GRID_BLOCK_FACELESS) {
    touch[0].face = block >= 0 ? block : 0;
    return 1;
  }
  global const int *begin = there.numbers + solid->begin + grid_block_list(block);
  const NearMesh mesh = {there.numbers + begin[0], there.triangle, begin[1] - begin[0]};
  return mesh_faces_touched(mesh, vec3_sub(p, solid->middle), reach, solid->cell, touch);
}

/* As shape_contacts: faces near a point, in the solid's frame; a mesh has its nearest point. */
static int contacts_there(SolidsThere there, global const SolidThere *solid, Vec3 p, double reach,
                         ShapePoint touch[SHAPE_CONTACTS_MAX]) {
  if (solid->form == SOLID_PLANE) return plane_faces_near(solid->low, solid->high, p, reach, touch);
  if (solid->form == SOLID_BOX && solid->inside) return box_faces_near(solid->low, solid->high, p, reach, touch);
  if (solid->form == SOLID_CYLINDER && solid->inside)
    return cylinder_faces_near(solid->low, solid->radius, solid->height, p, reach, touch);
  const ShapePoint point = solid_point(there, solid, p, reach);
  return shape_keep_contact(touch, 0, reach, point.distance, point.normal);
}

/* As shape_touches: contacts of a sphere centre, in the solid's frame. */
static int touches_there(SolidsThere there, global const SolidThere *solid, Vec3 p, double reach,
                         ShapePoint touch[SHAPE_CONTACTS_MAX]) {
  const int count = contacts_there(there, solid, p, reach, touch);
  return count > 0 && solid->meets ? mesh_touches(there, solid, p, reach, touch) : count;
}

/* As solid_face: of a contact whose normal is that of the world. */
static int face_there(global const SolidThere *solid, Vec3 normal, int face) {
  if (solid->form == SOLID_MESH) return face % MESH_FACE_NUMBERS;
  if (!solid->inside || (solid->form != SOLID_BOX && solid->form != SOLID_CYLINDER)) return 0;
  const Vec3 n = solid->turned ? quat_rotate(quat_conjugate(solid->rotation), normal) : normal;
  return container_face(solid->form == SOLID_CYLINDER, n);
}

#endif
