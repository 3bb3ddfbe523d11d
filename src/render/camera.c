#include "render/camera.h"

#include "core/vec.h"

static const double pi = 3.14159265358979323846;

bool camera_valid(const Camera *camera) {
  return vec3_finite(camera->eye) && vec3_finite(camera->target) && isfinite(camera->fov_deg) && camera->fov_deg > 0 &&
         camera->fov_deg < 179 && vec3_length(vec3_sub(camera->target, camera->eye)) > 1e-9;
}

void camera_axes(const Camera *camera, ScreeVec3 *right, ScreeVec3 *up, ScreeVec3 *forward) {
  *forward = vec3_normalize(vec3_sub(camera->target, camera->eye));
  Vec3 across = vec3_cross(*forward, vec3(0, 0, 1));
  /* Straight up or down: any horizontal right will do. */
  if (vec3_length(across) < 1e-6) across = vec3(1, 0, 0);
  *right = vec3_normalize(across);
  *up = vec3_cross(*right, *forward);
}

double camera_distance(const Camera *camera) { return vec3_length(vec3_sub(camera->target, camera->eye)); }

/* Yaw, pitch and length of a vector. */
static void camera_polar(Vec3 v, double *yaw, double *pitch, double *length) {
  *length = vec3_length(v);
  *yaw = atan2(v.y, v.x);
  *pitch = *length > 0 ? asin(v.z / *length) : 0;
}

static Vec3 camera_from_polar(double yaw, double pitch, double length) {
  return vec3(length * cos(pitch) * cos(yaw), length * cos(pitch) * sin(yaw), length * sin(pitch));
}

static double camera_clamp_pitch(double pitch) {
  double most = 89 * pi / 180;
  return pitch > most ? most : pitch < -most ? -most : pitch;
}

Camera camera_turn(Camera camera, double yaw, double pitch, double zoom) {
  double at, height, length;
  camera_polar(vec3_sub(camera.eye, camera.target), &at, &height, &length);
  height = camera_clamp_pitch(height + pitch * pi / 180);
  camera.eye = vec3_add(camera.target, camera_from_polar(at + yaw * pi / 180, height, length * zoom));
  return camera;
}

Camera camera_orbit(Camera camera, double degrees) { return camera_turn(camera, degrees, 0, 1); }

Camera camera_look(Camera camera, double yaw, double pitch) {
  double at, height, length;
  camera_polar(vec3_sub(camera.target, camera.eye), &at, &height, &length);
  height = camera_clamp_pitch(height + pitch * pi / 180);
  camera.target = vec3_add(camera.eye, camera_from_polar(at + yaw * pi / 180, height, length));
  return camera;
}

Camera camera_move(Camera camera, double right, double up, double forward) {
  Vec3 r, u, f;
  camera_axes(&camera, &r, &u, &f);
  Vec3 by = vec3_madd(vec3_madd(vec3_scale(r, right), u, up), f, forward);
  camera.eye = vec3_add(camera.eye, by);
  camera.target = vec3_add(camera.target, by);
  return camera;
}

ScreeVec3 camera_ray(const Camera *camera, double aspect, double x, double y) {
  Vec3 r, u, f;
  camera_axes(camera, &r, &u, &f);
  double half = tan(camera->fov_deg * pi / 360);
  return vec3_normalize(vec3_madd(vec3_madd(f, r, (2 * x - 1) * half * aspect), u, (1 - 2 * y) * half));
}
