/* Solids as the host hands them to kernels: shape, pose, and where the distances and faces of their meshes begin. */
#ifndef STATE_SOLIDS_THERE_SHARED_H
#define STATE_SOLIDS_THERE_SHARED_H

#include "geometry/mesh_faces_shared.h"
#include "geometry/touch_shared.h"

enum { SOLID_PLANE, SOLID_SPHERE, SOLID_CAPSULE, SOLID_BOX, SOLID_CYLINDER, SOLID_MESH, SOLID_HEIGHTS, SOLID_ASKED };

typedef struct SolidThere {
  Vec3 position; /* of the shape's frame, world */
  Quat rotation;
  Vec3 center;                       /* of mass, world */
  Vec3 low, high;                    /* as Shape has them */
  Vec3 bounds_low, bounds_high;      /* of its surface */
  double a[3], b[3], radius, height; /* as ShapeNumbers */
  GridAxes grid;                     /* of a mesh */
  Vec3 middle;                       /* of a mesh: origin of its triangles */
  double cell;                       /* m; of a heightfield too */
  int form, inside, turned, sampled; /* sampled: nobody meets its shape */
  int meets;                         /* several faces of it may be touched at once */
  float band;                        /* distances of its mesh are known so far */
  int table, values, block, begin;   /* where those of its mesh begin: numbers, floats, numbers, numbers */
  int columns_x, columns_y;          /* of a heightfield */
  int heights, unused;               /* where they begin: doubles, counted from the first triangle of all */
} SolidThere;

#endif
