/* Contacts of free bodies with walls, parts of mechanisms and each other, so that a body rests on the floor where there
 * is no sand.
 *
 * A free body touches with places of its surface: the centre of a sphere and the ends of a capsule (with their radius),
 * the corners of a box, the rims of a cylinder, and the outermost vertices of a mesh. Each is held against the signed
 * distance of every other solid; and so are the places of parts against that of free bodies. Velocities are corrected
 * by sequential impulses between the kick and the drift of the step; there is no restitution. What parts of mechanisms
 * touch else is in mechanism_touch.c. */
#ifndef BODIES_RIGID_CONTACTS_H
#define BODIES_RIGID_CONTACTS_H

#include "bodies/touch.h"
#include "state/state.h"

typedef struct Mechanism Mechanism; /* mechanism.h */

typedef struct RigidContact {
  int32_t a, b;       /* solids: a touches with a point, b with its surface */
  Vec3 point, normal; /* world; the normal points out of b */
  double gap;
  double mobility; /* of both along the normal, 1/kg */
  double friction;
  double impulse; /* along the normal, so far */
  Vec3 friction_impulse;
} RigidContact;

typedef struct RigidContacts {
  TouchPlaces *touching; /* by solid; count 0 for those that touch with nothing */
  int32_t solid_count;
  RigidContact *contacts;
  int64_t count;
  Vec3 (*impulses)[2]; /* by solid: impulse and angular impulse about the centre in this step */
} RigidContacts;

/* Once, when all solids are there. */
Status rigid_contacts_create(Core *core, const State *state, const Mechanism *mechanism, RigidContacts *contacts);
void rigid_contacts_destroy(Core *core, RigidContacts *contacts);

/* Corrects velocities and spins of the free bodies. What mechanisms got is left in `impulses` for them. */
Status rigid_contacts_solve(Core *core, RigidContacts *contacts, State *state, double dt);

/* Whether they pushed that solid in this step. */
static inline bool rigid_contacts_pushed(const RigidContacts *contacts, int32_t solid) {
  const Vec3 *got = contacts->impulses[solid];
  return vec3_dot(got[0], got[0]) > 0 || vec3_dot(got[1], got[1]) > 0;
}

#endif
