/* A straight line that goes on until it meets a solid, and whether a solid stands between two parcels: one text for CPU
 * and devices, one line at a time (LANE_SCALAR). Lengths are in m, in the solid's frame. */
#ifndef METHODS_SPH_TRACE_SHARED_H
#define METHODS_SPH_TRACE_SHARED_H

#include "core/lane.h"

enum { TRACE_PASSES = 10 };
/* Of the spacing: a surface is met when it is so near; what is left so near after all passes counts as met, too; and a
 * mesh is taken for flat from here on. */
#define TRACE_MET 0.005f
#define TRACE_MET_AT_LAST 0.1f
#define TRACE_NEAR 0.15f
/* Of the spacing: what filters leave to the trace, which meets surfaces a little too early. */
#define SHIELD_SLACK 0.02f

/* Of a pass: the line goes on to t, has met a surface at t, or misses. */
typedef enum BeamEnd { BEAM_GOES_ON, BEAM_MEETS, BEAM_MISSES } BeamEnd;
typedef struct BeamStep {
  BeamEnd end;
  float t;
} BeamStep;

/* How far a beam may go from where it is; infinity: it misses. A convex solid's distance is convex along a line:
 * Newton's step comes near its surface and never beyond, and a beam that does not approach it misses. In a container it
 * may go a little beyond, and comes back. Through a mesh it goes by the distance, which is safe, until it is near. */
LANE_INLINE float beam_stride(bool mesh, bool inside, float distance, float cosine, float near) {
  const float none = INFINITY, newton = cosine > 0.02f ? distance / cosine : none;
  if (!mesh) {
    if (!inside) return cosine > 0 ? newton : none;
    if (newton < none) return newton;
    return distance > near ? distance : near;
  }
  if (distance > near || (distance > 0 && newton > 2 * distance))
    return distance > 0.1f * near ? distance : 0.1f * near;
  return newton;
}

/* A line at t of at most `end`, where the solid's distance and normal are these. */
LANE_INLINE BeamStep beam_step(bool mesh, bool inside, int pass, float distance, LaneVec3 normal, LaneVec3 along,
                               float t, float end, float spacing) {
  const float enough = (pass + 1 < TRACE_PASSES ? TRACE_MET : TRACE_MET_AT_LAST) * spacing;
  const float cosine = -vec_dot(normal, along);
  BeamStep step = {BEAM_MISSES, 0};
  if (real_max(distance, -distance) < enough || (distance < 0 && !(cosine > 0.02f))) {
    step.t = t + (cosine > 0.1f ? distance / cosine : 0);
    if (step.t < end) step.end = BEAM_MEETS;
    return step;
  }
  step.t = t + beam_stride(mesh, inside, distance, cosine, TRACE_NEAR * spacing);
  if (step.t < end) step.end = BEAM_GOES_ON;
  return step;
}

/* Whether a solid may stand between a parcel at `distance` from it, where its normal is this one, and another, `apart`
 * from there and at the distance `clear`. `support`: of a pair, m. */
LANE_INLINE bool shield_may(bool mesh, float distance, LaneVec3 normal, LaneVec3 apart, float clear, float length,
                            float support, float slack) {
  const float rise = vec_dot(normal, apart);
  const bool touching = clear > 0 && distance + clear < length + slack && length < support;
  /* All of a convex solid is behind the plane of its nearest point. */
  const bool front = !mesh && rise + distance > slack;
  return touching && !front;
}

#endif
