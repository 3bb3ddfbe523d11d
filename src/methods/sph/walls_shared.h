/* How boundary contacts are made of what a parcel sees, and friction that is remembered of them: one text for CPU and
 * devices, one contact at a time (LANE_SCALAR). */
#ifndef METHODS_SPH_WALLS_SHARED_H
#define METHODS_SPH_WALLS_SHARED_H

#include "core/vec_law.h"
#include "geometry/touch_shared.h"
#include "methods/common/solid_friction_law.h"
#include "methods/sph/sph_shared.h"
#include "methods/sph/square_shared.h"

/* Sides of a solid by the direction of their normals in its frame. */
enum { SIDES = 6 };
/* In the place of a face: friction of all contacts for which there was no place of their own. */
#define GRIP_OF_OTHERS (-1)

/* A grain that slips faster than this many radii per step has kinetic friction. */
#define SLIPPING 0.02

/* Nearer to a solid than this (in spacings), or inside of it, a parcel sees from where it would be at this distance:
 * from there on walls are straight lines. */
#define VIEW_LEAST (WALL_STEEPEST - 0.5f)
enum { LIFTS_MOST = 4 };

/* ---- what is around ---- */

/* The faces within reach of all solids by distance. Those of planes and container boxes count only where they have a
 * share: nothing is behind them. */
typedef struct Around {
  int count;
  bool flat; /* all of them */
  ShapePoint nearest;
  ShapePoint faces[SQUARE_MOST]; /* the first ones */
  int solids[SQUARE_MOST];       /* whose they are */
} Around;

VEC_INLINE void around_begin(Around *around) {
  around->count = 0;
  around->flat = true;
  around->nearest.distance = (double)INFINITY;
}

VEC_INLINE void around_add(Around *around, ShapePoint face, int solid) {
  if (face.distance < around->nearest.distance) around->nearest = face;
  if (around->count < SQUARE_MOST) {
    around->faces[around->count] = face;
    around->solids[around->count] = solid;
  }
  around->count++;
}

/* Whether a box looks like a half space from a point (in its frame) at a distance from it: nothing within `reach`
 * differs from that. */
VEC_INLINE bool around_box_is_flat(Vec3 low, Vec3 high, Vec3 at, double distance, double reach) {
  const double h = distance > 0 ? distance : 0, aside = h < reach ? VEC_SQRT(reach * reach - h * h) : 0;
  const int flat = (at.x - aside >= low.x && at.x + aside <= high.x) +
                   (at.y - aside >= low.y && at.y + aside <= high.y) +
                   (at.z - aside >= low.z && at.z + aside <= high.z);
  return flat == 2;
}

/* Half spaces, mostly one. */
VEC_INLINE SphSquare around_square(const Around *around, float spacing) {
  SphSquare square;
  square.count = around->count;
  for (int f = 0; f < square.count; f++) {
    const Vec3 n = around->faces[f].normal;
    square_put(&square, f, vec_make((float)n.x, (float)n.y, (float)n.z), (float)around->faces[f].distance / spacing);
  }
  return square;
}

/* ---- contacts ---- */

/* What one side, or the samples of one solid, add up to. */
typedef struct Sum {
  double share;
  Vec3 slope; /* 1/m */
  Vec3 point;
} Sum;

VEC_INLINE Sum sum_of_face(const Around *around, const SphSquare *square, int f, Vec3 here, float spacing) {
  const ShapePoint *face = &around->faces[f];
  Sum sum;
  sum.share = (double)square->share[f];
  sum.slope = vec3_scale(face->normal, (double)(square->slope[f] / spacing));
  sum.point = vec3_madd(here, face->normal, -face->distance);
  return sum;
}

/* Rays that see the same side of the same solid are one contact: its sum, and the weight of its point. */
typedef struct SideSum {
  Sum sum;
  double weight;
} SideSum;

VEC_INLINE SideSum side_begin(void) {
  SideSum side;
  side.sum.share = side.weight = 0;
  side.sum.slope = side.sum.point = vec3(0, 0, 0);
  return side;
}

VEC_INLINE void side_add(SideSum *side, LaneVec3 normal, LaneVec3 ray, float share, float slope, float t,
                         double spacing) {
  const Vec3 n = vec3((double)normal.x, (double)normal.y, (double)normal.z);
  const double steep = (double)slope, far = (double)t * spacing;
  side->sum.share += (double)share;
  side->sum.slope = vec3_madd(side->sum.slope, n, steep / spacing);
  side->sum.point = vec3_madd(side->sum.point, vec3((double)ray.x, (double)ray.y, (double)ray.z), steep * far);
  side->weight += steep;
}

/* Seen from `from`, which the parcel was lifted to. */
VEC_INLINE Sum side_end(SideSum side, Vec3 from, Vec3 lifted) {
  Sum sum = side.sum;
  const double nearer = vec3_dot(sum.slope, lifted);
  sum.point = vec3_madd(from, sum.point, side.weight > 0 ? 1 / side.weight : 0);
  sum.share += nearer > 0 ? nearer : 0;
  return sum;
}

/* A solid as its contacts know it. */
typedef struct WallSolid {
  Vec3 center, velocity, spin;
  Quat rotation;
  double friction_static, friction_kinetic;
  bool turned;
  int index;
} WallSolid;

/* By which friction is found again; 0 is no face. */
VEC_INLINE int wall_face(int index, bool turned, Quat rotation, Vec3 normal) {
  const Vec3 n = turned ? quat_rotate(quat_conjugate(rotation), normal) : normal;
  const double x = n.x < 0 ? -n.x : n.x, y = n.y < 0 ? -n.y : n.y, z = n.z < 0 ? -n.z : n.z;
  const int side = z >= x && z >= y ? (n.z > 0 ? 1 : 2) : y >= x ? (n.y > 0 ? 3 : 4) : (n.x > 0 ? 5 : 6);
  return (SIDES + 1) * (index + 1) + side;
}

/* What a sum comes to; slope 0: no contact. */
typedef struct WallTouch {
  int face;
  float normal[3], velocity[3], share, slope, friction;
} WallTouch;

/* `own`: velocity of the parcel; `sand`: its friction at walls; `slips`: the way of a step from which on it slips, m.
 */
VEC_INLINE WallTouch wall_touch(Sum sum, WallSolid solid, Vec3 own, float sand, float dt, double slips) {
  const double slope = vec3_length(sum.slope);
  WallTouch touch = {0, {0, 0, 0}, {0, 0, 0}, 0, 0, 0};
  Vec3 normal, velocity, slip;
  bool sliding;
  if (!(sum.share > 0) || !(slope > 0)) return touch;
  normal = vec3_scale(sum.slope, 1 / slope);
  touch.face = wall_face(solid.index, solid.turned, solid.rotation, normal);
  velocity = vec3_add(solid.velocity, vec3_cross(solid.spin, vec3_sub(sum.point, solid.center)));
  slip = vec3_sub(own, velocity);
  slip = vec3_madd(slip, normal, -vec3_dot(slip, normal));
  sliding = vec3_length(slip) * (double)dt > slips;
  touch.normal[0] = (float)normal.x, touch.normal[1] = (float)normal.y, touch.normal[2] = (float)normal.z;
  touch.velocity[0] = (float)velocity.x, touch.velocity[1] = (float)velocity.y, touch.velocity[2] = (float)velocity.z;
  touch.share = (float)sum.share;
  touch.slope = (float)slope;
  touch.friction = solid_friction(sand, (float)(sliding ? solid.friction_kinetic : solid.friction_static));
  return touch;
}

/* Contacts of a parcel that look in the same direction stop its slip together: what one adds to what they share, and
 * how much of it a contact takes. */
LANE_INLINE float wall_in_common(LaneVec3 normal, LaneVec3 other, float share) {
  const float along = vec_dot(normal, other);
  return share * along * along;
}
LANE_INLINE float wall_part(float share, float all) { return all > 0 ? share / all : 1; }
/* kg/s, the friction force per slip that a pass adds at a solid that sand does not move. */
LANE_INLINE float wall_grip_gain(float part, float mass, float dt) { return 0.5f * part * mass / dt; }

/* ---- friction for the next step ---- */

/* The contacts with the largest shares have places of their own; where there are none nothing is remembered. */
typedef struct GripKeeper {
  SphGrip known[SPH_GRIPS];
  float shares[SPH_GRIPS];
  int places, kept;
} GripKeeper;

LANE_INLINE void grips_begin(GripKeeper *keeper, int count) {
  const SphGrip none = {{0, 0, 0}, 0};
  for (int k = 0; k < SPH_GRIPS; k++) keeper->known[k] = none;
  keeper->places = count <= SPH_GRIPS ? SPH_GRIPS : SPH_GRIPS - 1;
  keeper->kept = 0;
}

LANE_INLINE void grips_add(GripKeeper *keeper, int face, float share, LaneVec3 force) {
  const int places = keeper->places;
  const SphGrip own = {{force.x, force.y, force.z}, face};
  int at = keeper->kept < places ? keeper->kept : places - 1;
  if (keeper->kept == places && !(share > keeper->shares[at])) return;
  for (; at > 0 && share > keeper->shares[at - 1]; at--) {
    keeper->known[at] = keeper->known[at - 1];
    keeper->shares[at] = keeper->shares[at - 1];
  }
  keeper->known[at] = own;
  keeper->shares[at] = share;
  if (keeper->kept < places) keeper->kept++;
}

/* Where there are more than places, the last is of all others: `all` is the sum over all. */
LANE_INLINE void grips_end(GripKeeper *keeper, int count, LaneVec3 all) {
  SphGrip *others = &keeper->known[keeper->places];
  if (count <= SPH_GRIPS) return;
  others->face = GRIP_OF_OTHERS;
  others->force[0] = all.x, others->force[1] = all.y, others->force[2] = all.z;
  for (int k = 0; k < keeper->places; k++)
    for (int c = 0; c < 3; c++) others->force[c] -= keeper->known[k].force[c];
}

#endif
