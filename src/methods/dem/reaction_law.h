/* Where a contact pushes a solid: in double, since the arm may be long. */
#ifndef METHODS_DEM_REACTION_LAW_H
#define METHODS_DEM_REACTION_LAW_H

#include "core/vec_law.h"

/* From the grain to the contact. `to` leads to the point of the surface. The contact divides the line of centres as the
 * radii do; on a flat face it is the foot of the normal. `face_x` and so on: its normal, or zero. */
VEC_INLINE Vec3 reaction_arm(Vec3 to, float face_x, float face_y, float face_z, float own, float other) {
  double along = 0, flat = 0;
  along += to.x * (double)face_x;
  flat += (double)(face_x * face_x);
  along += to.y * (double)face_y;
  flat += (double)(face_y * face_y);
  along += to.z * (double)face_z;
  flat += (double)(face_z * face_z);
  if (flat > 0.5) to = vec3(along * (double)face_x, along * (double)face_y, along * (double)face_z);
  return vec3_scale(to, (double)own / ((double)own + (double)other));
}

#endif
