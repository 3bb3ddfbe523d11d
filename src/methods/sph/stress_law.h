/* Strain (Eq. 6, 7) and frictional stress (Eq. 8 to 12). */
#ifndef METHODS_SPH_STRESS_LAW_H
#define METHODS_SPH_STRESS_LAW_H

#include "methods/sph/tensor_law.h"

/* Relaxation of the correction; see SPH_PRESSURE_RELAXATION. */
#define SPH_SHEAR_RELAXATION 0.3f
/* Share of a parcel's own pressure in what bounds its friction. Without it the parcels of a surface, which have none,
 * bear friction by what presses on their neighbours: layers that span a hole hang together as an arch of stones does.
 */
#define SPH_OWN_PRESSURE 0.2f
/* Cohesion fades where a parcel has lost its neighbours: a cloud does not hold together. */
#define SPH_COHESION_FROM 0.5f
#define SPH_COHESION_FULL 0.8f

/* Eq. 6, one neighbour: velocity times gradient. Only the symmetric part is needed: six sums, which fit into registers
 * where nine do not. Off the diagonal the two parts are added, not halved. */
LANE_INLINE LaneSym gradient_term(LaneVec3 velocity, LaneVec3 gradient) {
  return sym_make(velocity.x * gradient.x, velocity.y * gradient.y, velocity.z * gradient.z,
                  velocity.x * gradient.y + velocity.y * gradient.x, velocity.x * gradient.z + velocity.z * gradient.x,
                  velocity.y * gradient.z + velocity.z * gradient.y);
}
/* Eq. 6 with u_j - u_i: the neighbours' terms, in steps of the gradient, less the parcel's own velocity times the sum
 * of its gradients. */
LANE_INLINE LaneSym gradient_total(LaneSym neighbors, float step, LaneVec3 velocity, LaneVec3 sum) {
  return sym_sub(sym_mul(neighbors, real(step)), gradient_term(velocity, sum));
}

/* Eq. 7, 10 and 11: strain rate without its trace. (Eq. 10 prints half of the trace; in three dimensions it is a
 * third.) The argument is a sum of gradient_term. */
LANE_INLINE LaneSym strain_deviator(LaneSym gradient) {
  Real third = sym_trace(gradient) * real(1.0f / 3), one_half = real(0.5f);
  return sym_make(gradient.xx - third, gradient.yy - third, gradient.zz - third, gradient.xy * one_half,
                  gradient.xz * one_half, gradient.yz * one_half);
}

/* omega / D of Eq. 8 and 9. D is that of a full, symmetric neighbourhood at this dt, density and mass, and so a number:
 * friction is the same in all directions. A surface adds `shell`, the square of the sum of all gradients. */
LANE_INLINE Real stress_gain(float dt, float volume, Real inverse_mass, float lattice, Real shell) {
  return real(SPH_SHEAR_RELAXATION) / (real(dt) * real(volume) * inverse_mass * (real(lattice) + shell));
}
/* Eq. 9, inside the iteration: the stress at hand and a correction that opposes the strain left. */
LANE_INLINE LaneSym stress_correct(LaneSym stress, Real gain, LaneSym strain) {
  return sym_add(stress, sym_mul(strain, gain));
}

/* c of a parcel by the density around it. */
LANE_INLINE Real stress_cohesion(Real cohesion, Real density) {
  Real filled = (density - real(SPH_COHESION_FROM)) / real(SPH_COHESION_FULL - SPH_COHESION_FROM);
  return cohesion * real_min(real_max(filled, real(0)), real(1));
}
/* P, the pressure round a parcel: its own, and neighbours' weighed by the lengths of their gradients. `walls` and
 * `none` are the weights of walls, which bear the parcel's own pressure, and of free surface. */
LANE_INLINE Real stress_confinement(Real load, Real weight, Real pressure, Real walls, Real none) {
  Real beyond = (load + walls * pressure) / real_max(weight + (walls + none), real(1));
  return beyond + (pressure - beyond) * real(SPH_OWN_PRESSURE);
}
/* Eq. 12 with cohesion (Alduan 2011): |s| <= sqrt(2) (tan(theta) P + c). In the shear of a long slope that flows |s| is
 * sqrt(2) times the shear stress and P the normal stress, so that it comes to rest at theta. (Eq. 12 has the sine:
 * there theta is the internal angle of sand at rest, and slopes stop at atan(sin(theta)).) The arguments hold the
 * sqrt(2). */
LANE_INLINE Real stress_bound(Real friction, Real confinement, Real cohesion) {
  return friction * confinement + cohesion;
}
/* Back onto that bound. */
LANE_INLINE LaneSym stress_project(LaneSym stress, Real bound) {
  Real norm = real_sqrt(real_max(sym_square(stress), real(1e-30f)));
  return sym_mul(stress, real_min(bound / norm, real(1)));
}

/* Of sand that was filled in and rests: between walls its horizontal stress is 1 - sin(theta) of the vertical one
 * (Jaky 1944), so its deviator is this times the pressure and (1 / 3 - down down). `friction` as in stress_bound. */
LANE_INLINE Real stress_rest(Real friction) {
  Real square = friction * friction * real(0.5f), sine = real_sqrt(square / (real(1) + square));
  return real(3) * sine / (real(3) - real(2) * sine);
}
LANE_INLINE LaneSym stress_settled(Real friction, Real pressure, LaneVec3 down) {
  Real third = real(1.0f / 3);
  LaneSym shape = sym_make(third - down.x * down.x, third - down.y * down.y, third - down.z * down.z,
                           real(0) - down.x * down.y, real(0) - down.x * down.z, real(0) - down.y * down.z);
  return sym_mul(shape, stress_rest(friction) * pressure);
}

/* Square of the strain of a step that friction should stop and does not yet: the correction, as strain. */
LANE_INLINE Real stress_residual(LaneSym before, LaneSym after, Real gain, float dt) {
  LaneSym d = sym_sub(after, before);
  Real two = real(2), strain = real(dt) / real_max(gain, real(1e-30f));
  Real change = d.xx * d.xx + d.yy * d.yy + d.zz * d.zz + d.xy * d.xy * two + d.xz * d.xz * two + d.yz * d.yz * two;
  return change * strain * strain;
}
/* Square of the strain of a step in all. */
LANE_INLINE Real strain_square(LaneSym strain, float dt) { return sym_square(strain) * real(dt * dt); }

#endif
