/* What laws need of a boundary contact, one at a time (LANE_SCALAR). */
#ifndef METHODS_SPH_CONTACT_H
#define METHODS_SPH_CONTACT_H

#include "methods/sph/wall_law.h"
#include "methods/sph/work.h"

LANE_INLINE LaneVec3 contact_normal(const SphContact *contact) {
  return vec_make(contact->normal[0], contact->normal[1], contact->normal[2]);
}
/* Velocity of the parcel against the solid. */
LANE_INLINE LaneVec3 contact_velocity(const SphWork *work, const SphContact *contact) {
  const float *v = work->motion.velocity[contact->particle], *u = contact->velocity;
  return vec_make(v[0] - u[0], v[1] - u[1], v[2] - u[2]);
}

#endif
