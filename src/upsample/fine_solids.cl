/* Solids as fine grains see them, for kernels: their distances, in floats. */
#ifndef UPSAMPLE_FINE_SOLIDS_CL
#define UPSAMPLE_FINE_SOLIDS_CL

#include "geometry/grid_corners.cl"
#include "upsample/fine_shared.h"

typedef struct PlainShape {
  float a[3], b[3], radius, height;
} PlainShape;
#undef PLAIN_REAL
#undef PLAIN_SHAPE
#undef PLAIN
#undef PLAIN_SQRT
#define PLAIN_REAL float
#define PLAIN_SHAPE PlainShape
#define PLAIN(name) plainf_##name
#define PLAIN_SQRT sqrt
#include "geometry/shape_plain.h"

typedef struct FinePoint {
  float distance;
  LaneVec3 normal;
} FinePoint;

static FinePoint fine_plain_point(global const SolidShared *solid, LaneVec3 at) {
  PlainShape shape = {
      {solid->a[0], solid->a[1], solid->a[2]}, {solid->b[0], solid->b[1], solid->b[2]}, solid->radius, solid->height};
  plainf_Point p;
  switch (solid->form) {
  case FORM_PLANE: p = plainf_plane_point(at.x, at.y, at.z, &shape); break;
  case FORM_SPHERE: p = plainf_sphere_point(at.x, at.y, at.z, &shape); break;
  case FORM_CAPSULE: p = plainf_capsule_point(at.x, at.y, at.z, &shape); break;
  case FORM_BOX: p = plainf_box_point(at.x, at.y, at.z, &shape); break;
  default: p = plainf_cylinder_point(at.x, at.y, at.z, &shape); break;
  }
  FinePoint point = {solid->sign * p.distance, vec_make(solid->sign * p.x, solid->sign * p.y, solid->sign * p.z)};
  return point;
}

static FinePoint fine_grid_point(global const SolidShared *solid, global const int *table, global const float *values,
                                 LaneVec3 at) {
  GridFrame frame = solid->grid;
  GridPlace place = grid_locate(frame, at);
  int entry = table[solid->table + place.block];
  Mask known = grid_known(place, entry), inside_far = grid_inside_far(place, entry);
  global const float *lowest = values + (uint)solid->values + (uint)int_mask(known, entry + place.corner);
  const Corners corners = grid_corners_from(lowest);
  GridPoint here = grid_point(frame, corners, place.at, known, inside_far);
  FinePoint point = {solid->sign * here.distance, vec_mul(here.normal, solid->sign)};
  return point;
}

static FinePoint fine_point(global const SolidShared *solid, global const int *table, global const float *values,
                            LaneVec3 at) {
  return solid->form == FORM_GRID ? fine_grid_point(solid, table, values, at) : fine_plain_point(solid, at);
}

static LaneVec3 solid_displacement(global const SolidShared *solid, LaneVec3 within) {
  if (!solid->moves) return vec_zero();
  LaneVec3 drift = vec_make(solid->drift[0], solid->drift[1], solid->drift[2]);
  return axes_displacement(solid->axes[0], solid->axes[1], drift, within);
}

/* A grain in the frame. */
typedef struct Grain {
  LaneVec3 at, end, velocity;
  float radius, loose, gap, clear;
  LaneVec3 normal;
} Grain;

/* The end of a grain's path in the solid's frame, and what is nearest there. */
typedef struct FineContact {
  LaneVec3 within;
  FinePoint point;
} FineContact;

static FineContact fine_contact(global const SolidShared *solid, global const int *table, global const float *values,
                                LaneVec3 end) {
  FineContact contact;
  contact.within = axes_to_local(solid->axes[1], end);
  contact.point = fine_point(solid, table, values, contact.within);
  return contact;
}

/* What comes of a closer look at a solid: nothing, the grain's end was moved, or others must look. */
typedef enum Closer { CLOSER_NOTHING, CLOSER_MOVED, CLOSER_LEAVES } Closer;

#endif
