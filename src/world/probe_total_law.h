/* What probes add up over the particles, of one of them: in double, one text for CPU and devices. */
#ifndef WORLD_PROBE_TOTAL_LAW_H
#define WORLD_PROBE_TOTAL_LAW_H

#include "core/vec_law.h"

/* Mass that goes down through a height in the step, less what goes up. */
VEC_INLINE double total_crossed(float mass, float z, float dz, float height) {
  const int above = z >= height, stays = z + dz >= height;
  return above == stays ? 0 : above ? (double)mass : -(double)mass;
}

/* Where a particle is in the world. */
VEC_INLINE Vec3 total_place(Vec3 origin, float x, float y, float z, float low_x, float low_y, float low_z) {
  return vec3(origin.x + (double)x + (double)low_x, origin.y + (double)y + (double)low_y,
              origin.z + (double)z + (double)low_z);
}

VEC_INLINE int total_holds(Vec3 low, Vec3 high, Vec3 at) {
  return at.x >= low.x && at.x < high.x && at.y >= low.y && at.y < high.y && at.z >= low.z && at.z < high.z;
}

VEC_INLINE double total_mass(float mass, Vec3 low, Vec3 high, Vec3 at) {
  return total_holds(low, high, at) ? (double)mass : 0;
}

VEC_INLINE double total_kinetic(float mass, float vx, float vy, float vz) {
  const double x = (double)vx, y = (double)vy, z = (double)vz;
  return 0.5 * (double)mass * (x * x + y * y + z * z);
}

/* Balls that turn. */
VEC_INLINE double total_turning(float mass, float radius, float spin_x, float spin_y, float spin_z) {
  const double x = (double)spin_x, y = (double)spin_y, z = (double)spin_z;
  return 0.2 * (double)mass * (double)radius * (double)radius * (x * x + y * y + z * z);
}

VEC_INLINE double total_potential(float mass, Vec3 gravity, Vec3 at) { return -((double)mass * vec3_dot(gravity, at)); }

#endif
