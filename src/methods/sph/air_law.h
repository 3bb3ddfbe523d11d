/* Air: drag (Eq. 4, 5) with the occlusion of Gissler 2017, and the stream along a surface. */
#ifndef METHODS_SPH_AIR_LAW_H
#define METHODS_SPH_AIR_LAW_H

#include "core/lane.h"

/* A free surface shows in the sum of the gradients, 1/spacing: that of a flat one is 0.5. */
#define AIR_SURFACE_LEAST 0.2f

/* Air that meets a surface flows along it: what blows into it is taken away. */
LANE_INLINE LaneVec3 air_deflect(LaneVec3 wind, LaneVec3 normal) {
  Real into = vec_dot(wind, normal);
  return vec_select(real_less(into, real(0)), vec_sub(wind, vec_mul(normal, into)), wind);
}
/* The same at a free surface of sand. The sum of the gradients points into the sand. */
LANE_INLINE LaneVec3 air_deflect_surface(LaneVec3 wind, LaneVec3 sum, float spacing) {
  Real length = real_sqrt(vec_dot(sum, sum));
  LaneVec3 normal = vec_make(-sum.x / length, -sum.y / length, -sum.z / length);
  return vec_select(real_less(real(AIR_SURFACE_LEAST), length * real(spacing)), air_deflect(wind, normal), wind);
}

/* How far a neighbour stands upstream: the stream times its cosine. The gradient points at the neighbour. */
LANE_INLINE Real air_shield(LaneVec3 stream, LaneVec3 gradient) {
  Real against = real(0) - vec_dot(stream, gradient);
  return against / real_sqrt(vec_dot(gradient, gradient) + real(1e-20f));
}
/* The weight omega of Eq. 5: 1 less the largest cosine of a neighbour upstream. */
LANE_INLINE Real air_open(LaneVec3 stream, Real shield) {
  Real speed = real_sqrt(vec_dot(stream, stream));
  return real_max(real(1) - shield / real_max(speed, real(1e-12f)), real(0));
}

/* Eq. 4 and 5, implicitly: of the stream against the parcel, u, the share that drag takes in a step,
 * u' = u / (1 + k |u| dt), which never overshoots. `drag` is rho_a C A / 2, kg/m. */
LANE_INLINE Real air_drag_share(LaneVec3 stream, Real open, float drag, Real mass, float dt) {
  Real k = real(drag) * open / mass * real_sqrt(vec_dot(stream, stream)) * real(dt);
  return k / (real(1) + k);
}

#endif
