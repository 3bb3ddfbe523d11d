/* Friction of cells and edges (Section 2.3): a step down the gradient of the kinetic energy and the return to the yield
 * surface. Stresses in Pa. Of the tensor s, xx yy zz lie at the centre of a cell and xy yz xz at edges. */
#ifndef METHODS_FLIP_STRESS_FRICTION_LAW_H
#define METHODS_FLIP_STRESS_FRICTION_LAW_H

#include "core/lane.h"

/* |s| on the cone over s_max of Eq. 15, and its inverse: Eq. 4 is |s| <= sqrt(3) s_max with |s| the Frobenius norm. */
#define CONE_LIMIT 1.7320508f
#define CONE_LIMIT_INVERSE 0.57735027f
/* Pure shear on the cone over s_max: sqrt(3/2). */
#define CONE_SHEAR 1.2247449f
/* s_ij stands for s_ji too: it counts twice in the length of the tensor. */
#define SHEAR_COUNTS 2.0f

/* s_max of Eq. 15, with cohesion where grains touch; nothing where the pressure pulls more than that. */
LANE_INLINE Real yield_limit(Real alpha, Real pressure, Real cohesion, Mask touching, Mask usable) {
  Real limit = alpha * pressure + real_select(touching, cohesion, real(0));
  return real_select(real_less(real(0), limit) & usable, limit, real(0));
}

/* ---- a step down the gradient ---- */

/* A step down the gradient of E (Eq. 17) for xx, yy, zz: -D2^T of the flux is its difference between the lower and the
 * upper faces. The trace is removed. */
LANE_INLINE LaneVec3 trial_diagonal(LaneVec3 s, LaneVec3 flux_low, LaneVec3 flux_high, Real step) {
  LaneVec3 d = vec_sub(s, vec_mul(vec_sub(flux_low, flux_high), step));
  Real third = real(1.0f / 3) * (d.x + d.y + d.z);
  return vec_make(d.x - third, d.y - third, d.z - third);
}

/* The same for the shear of axes a and c: their fluxes at the faces that meet at the edge, and below along the other
 * axis. */
LANE_INLINE Real trial_shear(Real s, Real flux_a, Real flux_a_below, Real flux_c, Real flux_c_below, Real step) {
  return s - step * (flux_a_below - flux_a + flux_c_below - flux_c);
}

/* Nesterov's momentum: where the next step begins. */
LANE_INLINE Real extrapolated(Real stress, Real before, Real momentum) { return stress + momentum * (stress - before); }

/* ---- the yield surface ---- */

/* Length of the stress on the cone (Eq. 4), from the squares of its components, shear counted twice. */
LANE_INLINE Real cone_gauge(LaneVec3 diagonal, LaneVec3 shear) {
  return real_sqrt(diagonal.x + diagonal.y + diagonal.z + shear.x + shear.y + shear.z);
}

typedef struct Ranked {
  Real more, less;
} Ranked;

LANE_INLINE Ranked ranked(Real a, Real b) {
  Ranked pair = {real_max(a, b), real_min(a, b)};
  return pair;
}

/* The same for 728 hyperplanes tangent to the cone: the largest product with a unit vector (+-1, ..., +-1, 0, ..., 0) /
 * sqrt(k) in any order of the components. The components are sorted by a network; it is the sum of the k largest over
 * sqrt(k). */
LANE_INLINE Real planes_gauge(LaneVec3 diagonal, LaneVec3 shear) {
  Real a = real_sqrt(diagonal.x), b = real_sqrt(diagonal.y), c = real_sqrt(diagonal.z);
  Real d = real_sqrt(shear.x), e = real_sqrt(shear.y), f = real_sqrt(shear.z);
  Ranked p;
  p = ranked(a, f), a = p.more, f = p.less;
  p = ranked(b, d), b = p.more, d = p.less;
  p = ranked(c, e), c = p.more, e = p.less;
  p = ranked(b, c), b = p.more, c = p.less;
  p = ranked(d, e), d = p.more, e = p.less;
  p = ranked(a, d), a = p.more, d = p.less;
  p = ranked(c, f), c = p.more, f = p.less;
  p = ranked(a, b), a = p.more, b = p.less;
  p = ranked(c, d), c = p.more, d = p.less;
  p = ranked(e, f), e = p.more, f = p.less;
  p = ranked(b, c), b = p.more, c = p.less;
  p = ranked(d, e), d = p.more, e = p.less;
  Real sum = a, largest = a;
  sum += b, largest = real_max(largest, sum * real(0.70710678f));
  sum += c, largest = real_max(largest, sum * real(0.57735027f));
  sum += d, largest = real_max(largest, sum * real(0.5f));
  sum += e, largest = real_max(largest, sum * real(0.44721360f));
  sum += f, largest = real_max(largest, sum * real(0.40824829f));
  return largest;
}

/* Scale that brings a size back to `most`; 1 where it is less. */
LANE_INLINE Real return_scale(Real size, Real most) {
  return real_select(real_less(size, most), real(1), most / real_max(size, real(1e-30f)));
}

typedef struct CellReturn {
  Real diagonal; /* scale of the cell's own components */
  Real edges;    /* for the edges round it: s_max times the rate at which the cell yields, or their scale */
} CellReturn;

/* Radial return of a cell whose stress has length `size`. Cells and edges have step sizes of their own: for the flow to
 * stay parallel to the stress, edges take the cell's rate of plastic flow, scale = 1 / (1 + rate step). */
LANE_INLINE CellReturn radial_return(Real size, Real limit, Real step) {
  CellReturn to;
  to.diagonal = return_scale(size, limit * real(CONE_LIMIT));
  to.edges = real_max(size * real(CONE_LIMIT_INVERSE) - limit, real(0)) / step;
  return to;
}

/* What that leaves of the shear at an edge: `rates` is the sum of s_max times rate of the cells round it, `weight` the
 * step of the edge over the sum of their s_max. */
LANE_INLINE Real edge_scale(Real rates, Real weight) { return real(1) / (real(1) + rates * weight); }

/* Return after the last step, which leaves no cell outside the surface: edges first, `shear` is the length of theirs;
 * the diagonal takes what they leave of the strength. */
LANE_INLINE CellReturn strict_return(LaneVec3 diagonal, Real shear, Real limit) {
  CellReturn to;
  Real most = limit * real(CONE_LIMIT);
  to.edges = return_scale(shear, most);
  to.diagonal = return_scale(real_sqrt(diagonal.x + diagonal.y + diagonal.z),
                             real_sqrt(real_max(most * most - shear * shear, real(0))));
  return to;
}

/* -s_max <= s_ij <= s_max (Eq. 15). */
LANE_INLINE Real clipped(Real s, Real limit) { return real_max(real_min(s, limit), -limit); }
LANE_INLINE LaneVec3 clipped_diagonal(LaneVec3 s, Real shift, Real limit) {
  return vec_make(clipped(s.x - shift, limit), clipped(s.y - shift, limit), clipped(s.z - shift, limit));
}

/* The nearest diagonal without trace within the box of Eq. 15 is the diagonal less one shift, clipped. The trace falls
 * with the shift, so halving its range finds it. */
typedef struct ShiftRange {
  Real low, high;
} ShiftRange;

LANE_INLINE ShiftRange shift_range(LaneVec3 s, Real limit) {
  Real size = real_max(limit, real_max(s.x, -s.x));
  size = real_max(size, real_max(s.y, -s.y));
  size = real_max(size, real_max(s.z, -s.z));
  ShiftRange range = {-size - limit, size + limit};
  return range;
}
LANE_INLINE ShiftRange shift_halved(ShiftRange range, LaneVec3 s, Real limit) {
  Real shift = real(0.5f) * (range.low + range.high);
  LaneVec3 d = clipped_diagonal(s, shift, limit);
  Mask more = real_less(real(0), d.x + d.y + d.z);
  range.low = real_select(more, shift, range.low);
  range.high = real_select(more, range.high, shift);
  return range;
}

/* ---- edges at walls ---- */

/* Most that a wall bears by Coulomb's law: its friction times what presses on it. `all` is the shear that the sand
 * itself bears there, `factor` times the pressure; `across` is the frictional stress across the wall. */
LANE_INLINE Real wall_limit(Real friction, Real all, Real factor, Real across) {
  return real_max(friction * (all / factor - across), real(0));
}

/* Share of a wall's friction that the edges of two axes bear, from the squares of its normal along these. Slip along a
 * wall with normal n shears the sand by n u + u n: of that the edges of the axes a and c see the share |(I - n n) (n_a
 * e_c + n_c e_a)|, all of it where the wall lies along the grid and none where it halves the angle between the axes;
 * the diagonal sees the rest. */
LANE_INLINE Real wall_share(Real square_a, Real square_c) {
  return real_sqrt(real_max(square_a + square_c - real(4) * square_a * square_c, real(0)));
}

/* The same for the diagonal of a cell that a wall cuts: what the stress of the cell, `shear` at xy, yz, xz, does along
 * the wall is no more than the wall bears (`most`). The diagonal gives up what it has too much of that; in the
 * direction l of the traction it acts by its part along l_a n_a alone. */
LANE_INLINE LaneVec3 wall_return(LaneVec3 diagonal, LaneVec3 shear, LaneVec3 n, Real most) {
  LaneVec3 own = vec_make(diagonal.x * n.x, diagonal.y * n.y, diagonal.z * n.z);
  LaneVec3 traction = vec_make(own.x + shear.x * n.y + shear.z * n.z, own.y + shear.x * n.x + shear.y * n.z,
                               own.z + shear.z * n.x + shear.y * n.y);
  LaneVec3 along = vec_sub(traction, vec_mul(n, vec_dot(traction, n)));
  Real size = real_sqrt(vec_dot(along, along));
  Mask some = real_less(real(1e-12f), size);
  LaneVec3 l = vec_mul(along, real_select(some, real(1) / real_select(some, size, real(1)), real(0)));
  LaneVec3 acts = vec_make(l.x * n.x, l.y * n.y, l.z * n.z);
  Real square = vec_dot(acts, acts), more = real_min(size - most, vec_dot(own, l));
  Mask slips = real_less(real(0), more) & real_less(real(1e-12f), square);
  return vec_sub(diagonal, vec_mul(acts, real_select(slips, more / real_select(slips, square, real(1)), real(0))));
}

/* Load of an edge at a wall as a share of what it bears: the wall bears the same in all directions of its plane
 * (Coulomb's disc), so the squares of the two shears add up. */
LANE_INLINE Real wall_load(Real along, Real across) { return real_sqrt(along + across); }

#endif
