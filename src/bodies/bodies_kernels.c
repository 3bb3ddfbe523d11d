#include "bodies/bodies_kernels.h"

#include "core/four.h"

double KERNEL(bodies_fastest_sample)(const SolidSamples *s, int64_t b, int64_t e, const LocalMotion *motion) {
  const Vec3 center = motion->center, velocity = motion->velocity, spin = motion->spin;
  Four fastest = {0};
  double most = 0;
  int64_t k = b;
  for (; k + FOUR <= e; k += FOUR) {
    Four x = four_load(s->local_x + k) - center.x, y = four_load(s->local_y + k) - center.y,
         z = four_load(s->local_z + k) - center.z;
    Four vx = velocity.x + (spin.y * z - spin.z * y), vy = velocity.y + (spin.z * x - spin.x * z),
         vz = velocity.z + (spin.x * y - spin.y * x);
    Four square = vx * vx + vy * vy + vz * vz;
    fastest = four_max(square, fastest);
  }
  for (; k < e; k++) {
    Vec3 local = vec3((double)s->local_x[k], (double)s->local_y[k], (double)s->local_z[k]);
    Vec3 speed = vec3_add(velocity, vec3_cross(spin, vec3_sub(local, center)));
    double square = vec3_dot(speed, speed);
    if (square > most) most = square;
  }
  for (int l = 0; l < FOUR; l++)
    if (fastest[l] > most) most = fastest[l];
  return most;
}
