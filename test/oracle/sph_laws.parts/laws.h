/* Every law of sph, called once: numbers in, numbers out. Compiled with eight lanes and with one. */
#ifndef TEST_SPH_LAWS_H
#define TEST_SPH_LAWS_H

#include "../law_values.h"
#include "methods/sph/air_law.h"
#include "methods/sph/force_law.h"
#include "methods/sph/pressure_law.h"
#include "methods/sph/stress_law.h"
#include "methods/sph/wall_law.h"

enum { LAW_FOUND = 70 }; /* outputs */
#define LAW_DT 0.004f
#define LAW_SPACING 0.04f
#define LAW_VOLUME 6.4e-5f
#define LAW_LATTICE 900.0f

LANE_INLINE void put_sym(LawOutputs *out, LaneSym s) {
  put(out, s.xx), put(out, s.yy), put(out, s.zz), put(out, s.xy), put(out, s.xz), put(out, s.yz);
}

/* Inputs are in [-1, 1]. */
LANE_INLINE void laws_all(const Real in[LAW_INPUTS], LawOutputs *out) {
  LaneVec3 a = take_vec(in), b = take_vec(in + 3), c = take_vec(in + 6), normal = take_unit(in + 9);
  LaneSym s = sym_make(in[12], in[13], in[14], in[15], in[16], in[17]);
  Real p = in[18] + real(1), m = in[19] * in[19] + real(0.1f), density = in[20] * real(0.1f) + real(1);
  Real gain = in[21] + real(1.5f), positive = in[22] + real(1), other = in[23] * in[23] + real(0.1f);
  SphPairTerm pair = density_pair(vec_mul(a, real(2 * LAW_SPACING)), 1 / LAW_SPACING);
  put_mask(out, pair.within), put_mask(out, pair.coincident), put(out, pair.density);
  put(out, real_from_int(pair.gradient.x)), put(out, real_from_int(pair.gradient.y)),
      put(out, real_from_int(pair.gradient.z));
  put(out, density_total(positive)), put(out, density_excess(density));

  put(out, pressure_mobility(LAW_DT, LAW_VOLUME, m));
  Real diagonal = pressure_diagonal(positive * real(10), p, positive, m, LAW_LATTICE);
  put(out, diagonal), put(out, pressure_gain(LAW_DT, LAW_VOLUME, diagonal));
  put(out, pressure_source(density, in[27] * real(1e-3f), 0.7f)), put(out, pressure_of_shift(density, gain));
  Real error = pressure_error(density, LAW_DT, in[24] * real(30)), after = pressure_update(p, gain, error * real(20));
  put(out, error), put(out, after), put(out, pressure_compression(error)), put(out, pressure_expansion(p, after, gain));

  LaneSym gradient = gradient_total(sym_add(s, gradient_term(a, b)), 0.01f, b, c), strain = strain_deviator(gradient);
  put_sym(out, gradient), put_sym(out, strain);
  Real cohesion = stress_cohesion(positive, density + in[25]), confinement = stress_confinement(p, gain, m, other, p);
  put(out, cohesion), put(out, confinement), put(out, stress_gain(LAW_DT, LAW_VOLUME, m, LAW_LATTICE, positive));
  Real bound = stress_bound(positive, confinement, cohesion);
  LaneSym projected = stress_project(stress_correct(s, gain, strain), bound);
  put(out, bound), put_sym(out, projected);
  put(out, stress_residual(s, projected, gain, LAW_DT)), put(out, strain_square(strain, LAW_DT));

  LaneVec3 force = force_total(force_term(s, a), 0.01f, projected, b);
  put_vec(out, force_velocity(c, m, force, a)), put_vec(out, collision_term(a, m, b, other, c));

  WallShare flat = wall_flat(in[24]), seen = wall_seen(positive, real_max(normal.x, real(-1) * normal.x));
  put(out, flat.share), put(out, flat.slope), put(out, seen.share), put(out, seen.slope);
  put(out, wall_common(normal, take_unit(in + 26))), put_sym(out, wall_gradient(normal, in[24]));
  Real normal_force = wall_normal_force(p - sym_along(s, normal), positive, LAW_VOLUME * 1e5f);
  put(out, normal_force), put_vec(out, wall_friction(a, b, normal, gain, positive * normal_force));

  put_vec(out, air_deflect(a, normal)), put_vec(out, air_deflect_surface(a, b, 0.3f));
  Real open = air_open(a, real_max(air_shield(a, b), air_shield(a, c)));
  put(out, open), put(out, air_drag_share(a, open, 3, m, LAW_DT));
}

#endif
