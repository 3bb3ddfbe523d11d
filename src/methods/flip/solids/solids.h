/* Solids on the grid: what they leave free, how they stop sand, and how they move with it (Section 2.4). */
#ifndef METHODS_FLIP_SOLIDS_SOLIDS_H
#define METHODS_FLIP_SOLIDS_SOLIDS_H

#include "methods/flip/work.h"

/* solids.c: distances, shares, valid nodes, velocities of faces. */
Status flip_find_solids(FlipWork *work);
/* Where the strip begins in the world. */
Vec3 strip_origin(const FlipWork *work, int32_t strip);
/* The middle of the lower face of a strip's cell along an axis. */
Vec3 face_point(Vec3 origin, double cell, int lane, int axis);
/* Whether a point of the solid's frame is certainly farther than that from it. */
bool solid_out_of_reach(const Solid *solid, Vec3 local, double reach);
/* Whether solids that move are near the strip. */
bool strip_meets_moving(const FlipWork *work, int64_t strip);
/* free_volume.c: norms of the particles' weights, free volume under the kernels of nodes. */
void flip_find_norms(FlipWork *work);
void flip_find_free_volume(FlipWork *work);

/* closed_faces.c: sand that runs into closed faces takes their velocity. */
Status flip_stop_at_closed_faces(FlipWork *work);
/* The sand that bodies stopped goes with them as the stresses that there are now move them. */
void flip_move_stopped(FlipWork *work);
/* Forces of the stresses on all solids, into their wrenches. */
void flip_add_wrenches(FlipWork *work);

/* body_coupling.c: bodies that stresses can move, before faces are known; then the faces that they move with. */
Status flip_list_bodies(FlipWork *work);
Status flip_list_faces(FlipWork *work);
void flip_set_body_velocities(FlipWork *work); /* of these faces */
/* Memory for what follows; faces at which no stress can act and that stop nothing are left out. Finds what each body
 * can add at most to the largest eigenvalue of a solve: body_norm times dt^2 and how often an unknown touches a face.
 */
Status flip_couple_bodies(FlipWork *work);
/* body_change = dt M^-1 body_wrench. */
void flip_accelerate_bodies(FlipWork *work, double dt);
/* body_change = dt M^-1 J f: by the pressure and the stresses at the faces (either may be NULL). */
void flip_accelerate_bodies_by_stress(FlipWork *work, const float *pressure, float *const *stress, double dt);
/* The same, by the wrenches in wrench_parts of so many chunks of FACE_CHUNK faces. */
enum { FACE_CHUNK = 512 };
void flip_accelerate_bodies_by_parts(FlipWork *work, int64_t chunks, double dt);
/* Adds what that changes to the flux. */
void flip_add_body_flux(const FlipWork *work, float *const flux[3]);

/* The body's velocity along the face's axis, there. */
static inline double coupled_velocity(const CoupledFace *face, const double v[6]) {
  const float *r = face->arm;
  switch (face->axis) {
  case 0: return v[0] + v[4] * (double)r[2] - v[5] * (double)r[1];
  case 1: return v[1] + v[5] * (double)r[0] - v[3] * (double)r[2];
  default: return v[2] + v[3] * (double)r[1] - v[4] * (double)r[0];
  }
}
/* Adds a force along the face's axis to a wrench: the transpose of the above. */
static inline void coupled_add_force(const CoupledFace *face, double force, double w[6]) {
  const float *r = face->arm;
  w[face->axis] += force;
  switch (face->axis) {
  case 0: w[4] += force * (double)r[2], w[5] -= force * (double)r[1]; break;
  case 1: w[5] += force * (double)r[0], w[3] -= force * (double)r[2]; break;
  default: w[3] += force * (double)r[1], w[4] -= force * (double)r[0]; break;
  }
}

#endif
