/* The surface that a grain meets of a solid: the nearest point of it, and how that moves. In double, once a contact
 * with a solid and step: nothing is lost however large a solid is and however far from the origin. One text for CPU and
 * devices. */
#ifndef METHODS_DEM_SURFACE_LAW_H
#define METHODS_DEM_SURFACE_LAW_H

#include "core/vec_law.h"

/* A centre nearer than this many radii counts as this near; as in contact_law.h, which does the same for faces at rest.
 */
#define SURFACE_NEAREST 0.05

typedef struct SurfaceMotion {
  Vec3 center, velocity, spin; /* of a solid */
} SurfaceMotion;

VEC_INLINE Vec3 surface_velocity(SurfaceMotion motion, Vec3 point) {
  return vec3_add(motion.velocity, vec3_cross(motion.spin, vec3_sub(point, motion.center)));
}

/* Where a grain is in the frame of a solid whose pose is so many seconds older than the forces. */
VEC_INLINE Vec3 surface_seen(SurfaceMotion motion, Vec3 at, double lag) {
  return lag != 0 ? vec3_madd(at, surface_velocity(motion, at), -lag) : at;
}

/* Its point, for a grain at `at`. */
VEC_INLINE Vec3 surface_point(Vec3 at, Vec3 normal, double distance, double radius) {
  const double least = SURFACE_NEAREST * radius, away = distance > least ? distance : least;
  return vec3_madd(at, normal, -away);
}
VEC_INLINE Vec3 surface_point_velocity(SurfaceMotion motion, Vec3 at, Vec3 normal, double distance) {
  return surface_velocity(motion, vec3_madd(at, normal, -distance));
}

#ifdef __OPENCL_C_VERSION__
typedef long SurfaceLong;
VEC_INLINE double surface_floor(double a) { return floor(a); }
#else
typedef long long SurfaceLong;
VEC_INLINE double surface_floor(double a) { return __builtin_floor(a); }
#endif
/* A coordinate in quanta modulo 2^32, from the state's origin. To the nearest: a surface has one place, whichever grain
 * asks for it and when. */
VEC_INLINE unsigned surface_quanta(double coordinate, double quantum) {
  const double turns = coordinate / quantum * (1.0 / 4294967296.0);
  return (unsigned)(SurfaceLong)((turns - surface_floor(turns)) * 4294967296.0 + 0.5);
}

#endif
