/* Contacts of free bodies with walls and with each other, so that a body rests on the floor where there is no sand.
 *
 * A free body touches with points of its surface: the centre of a sphere and the ends of a capsule (with their radius),
 * the corners of a box, the rims of a cylinder, and the outermost vertices of a mesh. Each is held against the signed
 * distance of every other solid. Velocities are corrected by sequential impulses between the kick and the drift of the
 * step; there is no restitution. Contacts between the bodies of a mechanism are MuJoCo's. */
#ifndef BODIES_RIGID_CONTACTS_H
#define BODIES_RIGID_CONTACTS_H

#include "state/state.h"

enum { TOUCH_POINTS_MAX = 128 };

/* The points with which a body touches, in its shape's frame. */
typedef struct TouchPoints {
  Vec3 points[TOUCH_POINTS_MAX];
  int32_t count;
  double radius; /* of the ball round each */
} TouchPoints;

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
  TouchPoints *touching; /* by solid; count 0 for all but free bodies */
  int32_t solid_count;
  RigidContact *contacts;
  int64_t count;
  Vec3 (*impulses)[2]; /* by solid: impulse and angular impulse about the centre in this step */
} RigidContacts;

/* Once, when all solids are there. */
Status rigid_contacts_create(Core *core, const State *state, RigidContacts *contacts);
void rigid_contacts_destroy(Core *core, RigidContacts *contacts);

/* Corrects velocities and spins of the free bodies. What mechanisms got is left in `impulses` for them. */
Status rigid_contacts_solve(Core *core, RigidContacts *contacts, State *state, double dt);

#endif
