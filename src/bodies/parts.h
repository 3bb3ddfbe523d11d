/* What the files of bodies/ share and nobody else needs. */
#ifndef BODIES_PARTS_H
#define BODIES_PARTS_H

#include "bodies/bodies.h"
#include "bodies/keyframes.h"
#include "bodies/mechanism.h"
#include "bodies/rigid_contacts.h"

struct Bodies {
  Track *tracks; /* one per solid that a definition made; mechanisms come after them */
  int32_t track_count;
  Mechanism *mechanism; /* NULL: none */
  RigidContacts contacts;
  double longest_step; /* taken so far */
  SolidCoupling coupling;
  double least_mass;   /* kg, of a free body */
  double displacement; /* how far the surface of a solid may go in a step, in nominal radii */
};

/* A solid of the scene before it is placed. */
typedef struct SolidPlan {
  const char *name; /* "" or NULL: kind and number are the name */
  const char *kind; /* "boundary" or "body" */
  int32_t number;   /* from 1 */
  ScreeSource source;
  const ScreeShapeDef *shape;
  bool inside;
  Motion motion;
  int contact;
  double friction_static, friction_kinetic, stiffness_n, restitution;
  const ScreeKeyDef *keys;
  int32_t key_count;
} SolidPlan;

/* Makes the shape, appends the solid at its pose for t = 0 and gives it a track. */
Status bodies_add_solid(Core *core, Bodies *bodies, State *state, const BodiesPlan *plan, const SolidPlan *solid_plan,
                        Solid **solid);
/* boundaries.c */
Status boundaries_add(Core *core, Bodies *bodies, State *state, const BodiesPlan *plan);

static inline Vec3 vec3_of(const double *v) { return vec3(v[0], v[1], v[2]); }

/* The wrench of the grains as it is applied, in a step of that length. Solids move at most half a radius in a step
 * (bodies_largest_step), so an acceleration of their surface by two radii per step squared stops any of them within a
 * sixteenth of a radius: more than that is no contact but a failure of the explicit coupling. It is scaled down to that
 * and counted as `wrench_limited`. The step meant is the longest one taken so far: with the one at hand, a body that
 * was thrown once would shorten the steps and by that raise its own limit. Methods that find the wrench together with
 * the solid's motion (COUPLING_SOLVED) need no such limit: a landing may be over in one step. But grains do not bounce
 * there: what they push becomes no faster than it was or would be without them, or than the fastest grain or another
 * solid is. */
struct WrenchRule {
  Core *core;
  SolidCoupling coupling;
  double dt, longest_step; /* s */
};
/* Returns whether it is all of the wrench. */
bool solid_applied_wrench(State *state, const Solid *solid, const WrenchRule *rule, Vec3 *force, Vec3 *torque);

/* rigid.c: the two halves of a free body's step. The kick changes the velocities by gravity, a force and a torque about
 * the centre; the drift moves the body with them, less what a method says that they exceed their means over the step
 * by. */
void rigid_kick(Solid *solid, Vec3 gravity, Vec3 force, Vec3 torque, double dt);
Status rigid_drift(Core *core, Solid *solid, double dt);

#endif
