/* A contact with a solid: where it is in a step, which face is touched, how large and how fast it is. One rule for
 * methods, bodies and world. */
#ifndef STATE_SOLID_TOUCH_H
#define STATE_SOLID_TOUCH_H

#include "state/solids.h"

/* ---- faces ---- */

/* Only what has inner edges touches a grain in several places at once: boxes and cylinders that are met from inside,
 * and meshes. Their faces have numbers, by which what a contact remembers is found again; everything else has the
 * number 0. A grain never touches two faces of one number: see shape_touches. */
enum { SOLID_FACES = MESH_FACE_NUMBERS };

/* The face of a contact (world frame). A mesh counts its faces. Of a container the normal, towards the grain, says it:
 * 1 and 2 along z, 3 and 4 along y, 5 and 6 along x of the shape; 0 for the side of a cylinder. Faces stand at right
 * angles, and so one component of their normals is 1 and the others are 0: a direction that is mixed, from
 * interpolation or round-off, belongs to the face that it is nearer to, which is the one with a component above
 * sqrt(1/2). */
int solid_face(const Solid *solid, const ShapePoint *touch);

/* Contacts of a sphere centre with the solid, world frame. */
int solid_contacts(const Solid *solid, Vec3 world, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]);
/* The same for grains, which meet a mesh at each of its faces. */
int solid_touches(const Solid *solid, Vec3 world, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]);

/* ---- poses in time ---- */

/* How long after the step's start its pose is meant, s. Solids on paths have the pose of the step's end, those that
 * forces move that of its start (bodies_refresh). */
static inline double movable_pose_time(bool movable, double dt) { return movable ? 0 : dt; }
static inline double solid_pose_time(const Solid *solid, double dt) {
  return movable_pose_time(solid_is_movable(solid), dt);
}

typedef struct SolidPose {
  Vec3 position; /* of the shape's frame */
  Quat rotation;
} SolidPose;
/* So many seconds after the time of its pose (before, when negative), if it goes on as it moves. */
SolidPose solid_pose_after(const Solid *solid, double seconds);

/* ---- extents ---- */

/* Farthest that a point of the solid's surface is from a point of its frame. An unbounded plane counts as 1 m. */
double solid_extent(const Solid *solid, Vec3 local);
/* Of any point of the surface, at most, if the solid has that motion of its centre of mass. Accelerations alike. */
double solid_surface_speed(const Solid *solid, Vec3 velocity, Vec3 spin);

#endif
