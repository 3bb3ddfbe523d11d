/* Where a picture is taken from. World coordinates in double; z is up. */
#ifndef RENDER_CAMERA_H
#define RENDER_CAMERA_H

#include "scree/types.h"

typedef struct Camera {
  ScreeVec3 eye, target;
  double fov_deg; /* vertical */
} Camera;

/* A camera is usable when its numbers are finite and eye and target differ. */
bool camera_valid(const Camera *camera);
/* From eye to target. */
double camera_distance(const Camera *camera);
/* Turns the eye about the vertical through the target. */
Camera camera_orbit(Camera camera, double degrees);
/* Drag of an orbit camera: yaw and pitch in degrees (pitch stops short of the poles), and distance times zoom. */
Camera camera_turn(Camera camera, double yaw, double pitch, double zoom);
/* Moves eye and target along the camera's own right, up and forward axes, in metres. */
Camera camera_move(Camera camera, double right, double up, double forward);
/* Turns the target about the eye, as when looking around. */
Camera camera_look(Camera camera, double yaw, double pitch);
/* Unit vectors of the camera. */
void camera_axes(const Camera *camera, ScreeVec3 *right, ScreeVec3 *up, ScreeVec3 *forward);
/* The ray through the point (0..1 from the left, 0..1 from the top) of a picture of that width over height. */
ScreeVec3 camera_ray(const Camera *camera, double aspect, double x, double y);

#endif
