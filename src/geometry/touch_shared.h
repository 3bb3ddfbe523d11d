/* What a sphere touches of a shape, in double: one text for CPU and devices. */
#ifndef GEOMETRY_TOUCH_SHARED_H
#define GEOMETRY_TOUCH_SHARED_H

#include "core/vec_law.h"

typedef struct ShapePoint {
  double distance; /* signed */
  Vec3 normal;     /* unit, out of the solid: gradient of the distance */
  int face;        /* of a mesh, where shape_touches found it */
} ShapePoint;

enum { SHAPE_CONTACTS_MAX = 4 };

/* Adds a contact to the nearest, which stay in order. Returns how many there are now. */
VEC_INLINE int shape_keep_contact(ShapePoint contacts[SHAPE_CONTACTS_MAX], int count, double reach, double distance,
                                  Vec3 normal) {
  if (!(distance <= reach)) return count;
  int k = count < SHAPE_CONTACTS_MAX ? count : SHAPE_CONTACTS_MAX - 1;
  if (count == SHAPE_CONTACTS_MAX && distance >= contacts[k].distance) return count;
  for (; k > 0 && contacts[k - 1].distance > distance; k--) contacts[k] = contacts[k - 1];
  contacts[k].distance = distance;
  contacts[k].normal = normal;
  contacts[k].face = 0;
  return count < SHAPE_CONTACTS_MAX ? count + 1 : count;
}

/* ---- faces within reach: a plane has one, containers several ---- */

VEC_INLINE int plane_faces_near(Vec3 point, Vec3 normal, Vec3 p, double reach,
                                ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  return shape_keep_contact(contacts, 0, reach, vec3_dot(vec3_sub(p, point), normal), normal);
}

VEC_INLINE int box_faces_near(Vec3 low, Vec3 high, Vec3 p, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  int count = 0;
  count = shape_keep_contact(contacts, count, reach, p.z - low.z, vec3(0, 0, 1));
  count = shape_keep_contact(contacts, count, reach, high.z - p.z, vec3(0, 0, -1));
  count = shape_keep_contact(contacts, count, reach, p.x - low.x, vec3(1, 0, 0));
  count = shape_keep_contact(contacts, count, reach, high.x - p.x, vec3(-1, 0, 0));
  count = shape_keep_contact(contacts, count, reach, p.y - low.y, vec3(0, 1, 0));
  return shape_keep_contact(contacts, count, reach, high.y - p.y, vec3(0, -1, 0));
}

VEC_INLINE int cylinder_faces_near(Vec3 base, double radius, double height, Vec3 p, double reach,
                                   ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  int count = 0;
  double x = p.x - base.x, y = p.y - base.y, across = VEC_SQRT(x * x + y * y);
  Vec3 inward = across > 0 ? vec3(-x / across, -y / across, 0) : vec3(-1, 0, 0);
  count = shape_keep_contact(contacts, count, reach, p.z - base.z, vec3(0, 0, 1));
  count = shape_keep_contact(contacts, count, reach, base.z + height - p.z, vec3(0, 0, -1));
  return shape_keep_contact(contacts, count, reach, radius - across, inward);
}

/* The number of a container's face by its normal in the shape's frame: see solid_face. */
VEC_INLINE int container_face(bool cylinder, Vec3 n) {
  const double most = 0.70710678118654752440;
  if (n.z > most || n.z < -most) return n.z > 0 ? 1 : 2;
  if (cylinder) return 0;
  if (n.y > most || n.y < -most) return n.y > 0 ? 3 : 4;
  return n.x > 0 ? 5 : 6;
}

/* ---- distance grids of meshes ---- */

/* A grid's frame: its first node, and cells per metre. */
typedef struct GridAxes {
  Vec3 low;
  double per_cell;
  int blocks[3];
  int unused;
} GridAxes;

enum { GRID_BLOCK_FACELESS = -1 };            /* the nearest point alone counts, and its face has the number 0 */
enum { GRID_BLOCK_LISTED = -2147483647 - 1 }; /* while lists are made: the block gets one */
/* Others below zero are numbers of lists of triangles: see BlockLists. */
VEC_INLINE int grid_block_list(int entry) { return -2 - entry; }

#endif
