/* Walls: what they add to the density of a parcel, and one boundary contact: the boundary's part of strain and force
 * (Eq. 6, 14, 16) and Coulomb friction. Lengths are in spacings d; -slope times the normal stands in the place of
 * V grad W_ib.
 *
 * A flat wall is a stack of layers of parcels, smeared along the wall: the first lies half a spacing below the surface.
 * A layer at distance z counts d w1(z), w1 being W integrated over a plane; that is what a lattice layer counts (0.1497
 * against 0.15 at z = 1), so that a parcel rests half a spacing above a wall as it rests a spacing above another. */
#ifndef METHODS_SPH_WALL_LAW_H
#define METHODS_SPH_WALL_LAW_H

#include "methods/sph/spline_law.h"
#include "methods/sph/tensor_law.h"

#define WALL_SUPPORT 1.5f  /* farthest at which a surface is seen */
#define WALL_FAR 0.75f     /* farthest at which the plane of a face may be */
#define WALL_FIRST 0.51f   /* depth of the first layer */
#define WALL_AT_REST 0.15f /* what it adds to a parcel that rests on it */
/* Nearer to a wall's first layer than this its pull would fade; there the wall goes on as a straight line, so that
 * what is inside is pushed out, the harder the deeper. */
#define WALL_STEEPEST 0.65f

/* Of one layer, or of a stack: the part of the density, how fast it falls with the distance, and how fast that does. */
typedef struct WallStack {
  Real share, slope, bend;
} WallStack;

LANE_INLINE WallStack wall_layer(Real q) {
  Real u = real_max(real(2) - q, real(0)), u2 = u * u, q2 = q * q;
  Real outer = u2 * u2 * (real(0.25f) - real(0.1f) * u);
  Real inner = real(0.7f) - q2 * (real(1) - q2 * (real(0.75f) - real(0.3f) * q));
  SplineValue spline = spline_at(q);
  Real slope = real(2) * spline.shape * q;
  WallStack layer = {real_select(real_less(q, real(1)), inner, outer), slope,
                     real(-2) * (spline.slope * q2 + spline.shape)};
  return layer;
}

/* A flat wall before it is made stiffer, at a distance (signed) from its surface. */
LANE_INLINE WallStack wall_stack(Real distance) {
  Real q = distance + real(WALL_FIRST), at = real_max(q, real(WALL_STEEPEST));
  WallStack first = wall_layer(at), second = wall_layer(at + real(1));
  Real slope = first.slope + second.slope, bend = first.bend + second.bend;
  WallStack stack = {first.share + second.share + (at - q) * slope, slope,
                     real_select(real_less(q, real(WALL_STEEPEST)), real(0), bend)};
  return stack;
}

/* A wall has no pressure of its own. With the pressure of the parcel (mirroring) its force doubles but not its part in
 * the density: such a force is no gradient of the density, does work, and keeps settled sand moving. Instead the wall's
 * share grows about twice as fast near where a parcel rests, and is the same there: the same force, and no work.
 * Farther off it goes to zero smoothly. */
#define WALL_STIFFER 2.1f
#define WALL_BEND (0.7f * WALL_AT_REST) /* below this share */
#define WALL_AT_BEND (WALL_AT_REST + WALL_STIFFER * (WALL_BEND - WALL_AT_REST))
#define WALL_NONE (WALL_BEND - 2 * WALL_AT_BEND / WALL_STIFFER) /* at this share nothing is left */

typedef struct WallShare {
  Real share;
  Real slope; /* how fast it falls with the distance */
} WallShare;

LANE_INLINE WallShare wall_stiffen(Real share, Real slope) {
  Real x = real_max((share - real(WALL_NONE)) / real(WALL_BEND - WALL_NONE), real(0));
  Mask steep = real_less(real(1), x);
  WallShare wall = {real_select(steep, real(WALL_AT_REST) + real(WALL_STIFFER) * (share - real(WALL_AT_REST)),
                                real(WALL_AT_BEND) * x * x),
                    slope * real(WALL_STIFFER) * real_min(x, real(1))};
  return wall;
}

/* What a flat wall adds to a parcel whose centre is `distance` (signed) above its surface. */
LANE_INLINE WallShare wall_flat(Real distance) {
  WallStack stack = wall_stack(distance);
  return wall_stiffen(stack.share, stack.slope);
}

/* Walls of any form are seen along rays from the parcel. Let the first surface in direction w be at distance t. The
 * share f(h) of a flat wall at distance h is the integral over all directions of g(t) / (2 pi) with t = h / cos when
 *   f(h) / h = integral over t > h of g(t) / t^2,  so that  g(t) = f(t) - t f'(t);
 * g is what lies beyond t in a direction, and its integral over the first surfaces counts what is there once, however
 * many solids it belongs to and whatever lies behind them. In edges and corners at right angles it is what a lattice
 * has there, within 0.2 % of the density. Being stiffer is a matter of the face that is seen: a factor that depends on
 * the distance of its plane.
 *
 * Returns share and slope of a direction, over 2 pi: the slope is the derivative of that share along the face's normal.
 * `cosine` is that of the ray with the normal (into the face). */
LANE_INLINE WallShare wall_seen(Real t, Real cosine) {
  Real plane = t * cosine, tiny = real(1e-6f);
  WallStack ray = wall_stack(t), face = wall_stack(plane);
  WallShare stiff = wall_stiffen(face.share, face.slope);
  Mask seen = real_less(t, real(WALL_SUPPORT)) & real_less(tiny, face.share) & real_less(real(0.01f), cosine);
  Real whole = real_max(face.share, tiny), factor = stiff.share / whole;
  Real steeper = (stiff.slope - factor * face.slope) / whole, beyond = ray.share + t * ray.slope;
  WallShare wall = {real_mask(seen, beyond * factor),
                    real_mask(seen, t * ray.bend * factor / real_max(cosine, tiny) + beyond * steeper)};
  return wall;
}

#define WALL_EDGE_SHARE 0.847f /* (w(sqrt 2) + 2 w(sqrt 3)) / pi over WALL_AT_REST squared */

/* Samples are not seen but summed up, each solid by itself. Where two meet in an edge, what lies behind both would
 * count twice: 2 % of a parcel's density, to which the sand in the edge responds with pressure. Behind two faces at
 * right angles lies about the product of their shares, times WALL_EDGE_SHARE to be what a lattice has there; behind two
 * that face each other, nothing. Returns the factor of that product. */
LANE_INLINE Real wall_common(LaneVec3 m, LaneVec3 n) {
  Real common = real(1) + m.x * n.x + m.y * n.y + m.z * n.z;
  return real(WALL_EDGE_SHARE) * real_min(common, real(1));
}

/* Eq. 6 at a wall, which resists along its normal only. `rate` is the speed of leaving it times its slope. As in
 * gradient_term, the two parts off the diagonal are added. */
LANE_INLINE LaneSym wall_gradient(LaneVec3 normal, Real rate) {
  Real twice = rate * real(2);
  return sym_make(rate * normal.x * normal.x, rate * normal.y * normal.y, rate * normal.z * normal.z,
                  twice * normal.x * normal.y, twice * normal.x * normal.z, twice * normal.y * normal.z);
}

/* Eq. 14 and 16: the force along the normal under the stress there, N. A wall does not pull. */
LANE_INLINE Real wall_normal_force(Real normal_stress, Real slope, float volume) {
  return real(volume) * slope * real_max(normal_stress, real(0));
}

/* Friction that stops the slip, at most the coefficient times the normal force. `gain` is the force that a pass adds
 * per slip, kg/s; `velocity` that of the parcel against the wall. */
LANE_INLINE LaneVec3 wall_friction(LaneVec3 before, LaneVec3 velocity, LaneVec3 normal, Real gain, Real limit) {
  LaneVec3 force = vec_sub(before, vec_mul(vec_tangential(velocity, normal), gain));
  force = vec_tangential(force, normal);
  Real square = vec_dot(force, force);
  return vec_mul(force, real_select(real_less(limit * limit, square), limit / real_sqrt(square), real(1)));
}

#endif
