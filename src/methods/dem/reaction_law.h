/* What a contact exerts on a solid: force and torque about the solid's centre, as whole units of a wrench
 * (state/solids.h), whose sum has no order. In double: the arm may be long. */
#ifndef METHODS_DEM_REACTION_LAW_H
#define METHODS_DEM_REACTION_LAW_H

#include "core/lane.h"

typedef struct ReactionVector {
  double x, y, z;
} ReactionVector;

LANE_INLINE ReactionVector reaction_vector(double x, double y, double z) {
  ReactionVector v = {x, y, z};
  return v;
}

/* From the grain to the contact. `to` leads to the point of the surface. It divides the line of centres as the radii
 * do; on a flat face it is the foot of the normal. `face_x` and so on: its normal, or zero. */
LANE_INLINE ReactionVector reaction_arm(ReactionVector to, float face_x, float face_y, float face_z, float own,
                                        float other) {
  double along = 0, flat = 0, share = (double)own / ((double)own + (double)other);
  along += to.x * (double)face_x;
  flat += (double)(face_x * face_x);
  along += to.y * (double)face_y;
  flat += (double)(face_y * face_y);
  along += to.z * (double)face_z;
  flat += (double)(face_z * face_z);
  if (flat > 0.5) to = reaction_vector(along * (double)face_x, along * (double)face_y, along * (double)face_z);
  return reaction_vector(to.x * share, to.y * share, to.z * share);
}

/* Torque of a force. */
LANE_INLINE ReactionVector reaction_torque(ReactionVector arm, ReactionVector force) {
  return reaction_vector(arm.y * force.z - arm.z * force.y, arm.z * force.x - arm.x * force.z,
                         arm.x * force.y - arm.y * force.x);
}

#endif
