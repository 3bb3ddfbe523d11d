/* The contact law of discrete elements: Papadimitriou 2012, Section 3.2 (after Lee and Herrmann 1992; the print numbers
 * no equations).
 *
 *   F_n = k_n h^(3/2) - gamma_n m_e (v . n)                                h = a_i + a_j - |r|
 *   F_s = -gamma_s m_e (v . s) - sign(delta_s) min(k_s delta_s, mu F_n)
 *
 * n points from the second partner j to the first i. In three dimensions the shear spring is a force vector in the
 * tangent plane. Constants, with the effective mass m_e and the effective radius R of the pair:
 *
 *   k    = stiffness sqrt(fixed + rooted R)                     k_n as printed; from Young's modulus
 *   c    = damping_mass m_e + damping_root sqrt(m_e k sqrt(h))  gamma_n as printed; for a constant restitution
 *   k_t  = shear_fixed + shear_ratio k sqrt(h)                  k_s as printed; after Mindlin
 *   c_t  = shear_damping_mass m_e + shear_damping_share c       gamma_s as printed; a share of c
 *
 * One of the two terms of each line is zero. docs/methods/dem.md lists the other departures from the print.
 *
 * Bonds of cohesive grains (common/bond_law.h) pull besides (Derjaguin, Muller and Toporov 1975). F_n above, without
 * the pull, limits friction and rolling: Coulomb's cone is shifted by it. */
#ifndef METHODS_DEM_CONTACT_LAW_H
#define METHODS_DEM_CONTACT_LAW_H

#include "core/lane.h"
#include "methods/common/bond_law.h"

#define CONTACT_TINY 1e-30f
/* A spring's share out of the tangent plane, squared: below the first floats do not notice it; the second bounds the
 * correction of its length. */
#define CONTACT_TURN_LEAST 1e-7f
#define CONTACT_TURN_MOST 0.2f
/* A centre nearer to a face than this many radii, or behind it, counts as this near: the normal keeps its direction. */
#define CONTACT_NEAREST 0.05f

#define CONTACT_CONSTANTS(X)                                                                                           \
  X(stiffness)                                                                                                         \
  X(fixed)                                                                                                             \
  X(rooted)                                                                                                            \
  X(damping_mass)                                                                                                      \
  X(damping_root)                                                                                                      \
  X(shear_fixed)                                                                                                       \
  X(shear_ratio)                                                                                                       \
  X(opening) /* 1/2 where a contact that opens loses shear force */                                                    \
  X(shear_damping_mass)                                                                                                \
  X(shear_damping_share)                                                                                               \
  X(mu_static)                                                                                                         \
  X(mu_kinetic)                                                                                                        \
  X(mu_rolling)                                                                                                        \
  X(tension) /* of a bond over R^2, Pa */

typedef struct ContactConstants {
#define CONTACT_CONSTANT_REAL(name) Real name;
  CONTACT_CONSTANTS(CONTACT_CONSTANT_REAL)
#undef CONTACT_CONSTANT_REAL
} ContactConstants;

/* What is uniform over all contacts of a loop. */
typedef struct ContactSwitches {
  bool solid;     /* the second partner is a solid: boundary contacts */
  bool rolling;   /* a spring resists rolling */
  bool cap_total; /* Coulomb's limit cuts the whole shear force; false: the spring alone, as printed */
  bool bonds;     /* there are cohesive grains: springs know of bonds */
} ContactSwitches;

/* ---- geometry ---- */

/* A position in units of a quantum, modulo 2^32. Differences of neighbours are exact wherever they are. */
typedef struct ContactPosition {
  Int x, y, z;
} ContactPosition;

/* From b to a, in m. */
LANE_INLINE LaneVec3 contact_offset(ContactPosition a, ContactPosition b, Real quantum) {
  return vec_make(real_from_int(int_wrapping_sub(a.x, b.x)) * quantum,
                  real_from_int(int_wrapping_sub(a.y, b.y)) * quantum,
                  real_from_int(int_wrapping_sub(a.z, b.z)) * quantum);
}

/* Whether two centres are nearer than reach. */
LANE_INLINE Mask contact_is_near(ContactPosition a, ContactPosition b, Real quantum, Real reach) {
  LaneVec3 offset = contact_offset(a, b, quantum);
  return real_less(vec_dot(offset, offset), reach * reach);
}

/* What a contact reads of a partner: a grain, or the nearest point of a solid. */
typedef struct ContactSide {
  ContactPosition position;
  LaneVec3 velocity, spin;
  Real radius;       /* of a solid: that of the sample; 0 where the point is on the surface; below 0: no contact */
  Real inverse_mass; /* 0: does not yield */
} ContactSide;

/* What a contact reads of a solid besides. */
typedef struct ContactSurface {
  LaneVec3 face;  /* normal of a face at rest, of which `position` is any point; zero: `position` is the nearest */
  Real curvature; /* 1 / radius of the sample; 0: flat */
} ContactSurface;

typedef struct ContactGeometry {
  LaneVec3 offset; /* from the second partner to the first, m */
  Real square;     /* its squared length */
  Real radii;      /* sum of the radii */
  Mask touches;
} ContactGeometry;

/* Coincident centres have no normal and count as not touching. */
LANE_INLINE ContactGeometry contact_geometry(ContactSide a, ContactSide b, ContactSurface surface, Real quantum,
                                             ContactSwitches switches) {
  ContactGeometry g;
  g.offset = contact_offset(a.position, b.position, quantum);
  g.radii = a.radius + b.radius;
  if (switches.solid) {
    Real away = real_max(vec_dot(g.offset, surface.face), a.radius * real(CONTACT_NEAREST));
    Mask flat = real_less(real(0.5f), vec_dot(surface.face, surface.face));
    g.offset = vec_select(flat, vec_mul(surface.face, away), g.offset);
  }
  g.square = vec_dot(g.offset, g.offset);
  g.touches = real_less(g.square, g.radii * g.radii) & real_less(real(CONTACT_TINY), g.square);
  if (switches.solid) g.touches = g.touches & real_less(real(0), g.radii);
  return g;
}

/* Whether a bond holds two grains that touch or, bonded already, are near enough. */
LANE_INLINE Mask contact_holds(ContactGeometry g, Mask bonded, Real radius, Real other) {
  Real reach = g.radii + bond_reach(bond_radius(radius, other));
  return g.touches | (bonded & real_less(g.square, reach * reach));
}

/* ---- springs ---- */

/* What a contact remembers. Both are zero when it begins. */
typedef struct ContactSprings {
  LaneVec3 shear;   /* force on the first partner, N */
  LaneVec3 rolling; /* moment on it, N m */
  Mask slides;      /* the shear spring was cut in the last step */
  Mask bonded;      /* the two have touched and not been apart by more than a bond reaches since */
} ContactSprings;

/* `slides` is stored in the last bit of shear.x, `bonded` in that of shear.y: a bit is cheaper than a float more per
 * contact. */
LANE_INLINE Mask contact_stored_slides(Real shear_x) { return -(real_bits(shear_x) & 1); }
LANE_INLINE Real contact_store_slides(Real shear_x, Mask slides) {
  return real_from_bits((real_bits(shear_x) & ~1) | (slides & 1));
}
LANE_INLINE Mask contact_stored_bonded(Real shear_y) { return -(real_bits(shear_y) & 1); }
LANE_INLINE Real contact_store_bonded(Real shear_y, Mask bonded) {
  return real_from_bits((real_bits(shear_y) & ~1) | (bonded & 1));
}
/* Without the bit: of two that are bonded and apart it would be all there is, a number so small that it is slow. */
LANE_INLINE Real contact_without_bit(Real shear_y) { return real_from_bits(real_bits(shear_y) & ~1); }

/* Turns a spring that was tangential a step ago into the present tangent plane. Its length is kept to second order. */
LANE_INLINE LaneVec3 contact_turn_into_plane(LaneVec3 spring, LaneVec3 normal) {
  Real out = vec_dot(spring, normal);
  LaneVec3 tangential = vec_sub(spring, vec_mul(normal, out));
  Real out_square = out * out, square = vec_dot(tangential, tangential);
  Mask turns = real_less(square * real(CONTACT_TURN_LEAST), out_square);
  if (!mask_any(turns)) return tangential;
  Real share = real_min(out_square / real_max(square, real(CONTACT_TINY)), real(CONTACT_TURN_MOST));
  return vec_mul(tangential, real_select(turns, real(1) + real(0.5f) * share, real(1)));
}

/* A spring with its damper under Coulomb's limit: the static one until it slips, then the kinetic one. */
typedef struct ContactFriction {
  LaneVec3 spring; /* at the end of the step */
  LaneVec3 total;  /* what spring and damper exert */
  Mask slides;
} ContactFriction;

LANE_INLINE ContactFriction contact_friction(LaneVec3 spring, LaneVec3 rate, Real stiffness_dt, Real damping,
                                             Real limit_static, Real limit_kinetic, Mask touches, Mask slides,
                                             bool cap_total) {
  ContactFriction f;
  LaneVec3 viscous = vec_mul(rate, damping);
  f.spring = vec_sub(spring, vec_mul(rate, stiffness_dt));
  LaneVec3 capped = cap_total ? vec_sub(f.spring, viscous) : f.spring;
  Real square = vec_dot(capped, capped), limit = real_select(slides, limit_kinetic, limit_static);
  f.slides = real_less(limit * limit, square) & touches;
  if (mask_any(f.slides)) {
    LaneVec3 cut = vec_mul(capped, limit_kinetic / real_max(real_sqrt(square), real(CONTACT_TINY)));
    /* The spring is left with what gives the limit together with its damper. */
    f.spring = vec_select(f.slides, cap_total ? vec_add(cut, viscous) : cut, f.spring);
    capped = vec_select(f.slides, cut, capped);
  }
  f.total = cap_total ? capped : vec_sub(capped, viscous);
  return f;
}

/* ---- forces ---- */

typedef struct ContactForces {
  LaneVec3 force;         /* on the first partner, N; the second gets the opposite */
  LaneVec3 lever;         /* N; times a partner's radius it is what the force turns that partner by, sign reversed.
                           * Equal for both: both arms point to the contact */
  LaneVec3 moment;        /* of the rolling spring on the first partner, N m; the second gets the opposite */
  ContactSprings springs; /* for the next step */
  Real frequency_squared; /* stiffness over effective mass, 1/s^2 */
} ContactForces;

/* Forces of a contact that does not touch; its springs are gone. */
LANE_INLINE ContactForces contact_no_forces(void) {
  ContactForces none;
  none.force = none.lever = none.moment = none.springs.shear = none.springs.rolling = vec_zero();
  none.frequency_squared = real(0);
  none.springs.slides = none.springs.bonded = real_less(real(0), real(0));
  return none;
}

/* Forces where the geometry touches or a bond holds, zero elsewhere. */
LANE_INLINE ContactForces contact_forces(ContactSide a, ContactSide b, ContactSurface surface, ContactGeometry g,
                                         ContactConstants k, ContactSprings springs, Real dt,
                                         ContactSwitches switches) {
  Real zero = real(0), one = real(1);
  Real distance = real_sqrt(g.square), inverse_masses = a.inverse_mass + b.inverse_mass;
  Real both = inverse_masses * g.radii;
  /* One division serves three: the product is of the order of 1 / radius, so nothing leaves the range of floats. */
  Real inverse = one / real_max(both * distance, real(CONTACT_TINY));
  Real mass = inverse * g.radii * distance; /* m_e */
  Real per_radii = inverse * inverse_masses * distance;
  LaneVec3 normal = vec_mul(g.offset, inverse * both);
  Real penetration = real_mask(g.touches, g.radii - distance); /* h */
  Real reduced =                                               /* R */
      switches.solid ? a.radius / (one + a.radius * surface.curvature) : a.radius * b.radius * per_radii;
  Real stiffness = k.stiffness * real_sqrt(penetration * (k.fixed + k.rooted * reduced)); /* k sqrt(h) */
  Real damping = k.damping_mass * mass + k.damping_root * real_sqrt(stiffness * mass);

  /* F_n, cut at zero: the damper never pulls. */
  LaneVec3 relative = vec_sub(a.velocity, b.velocity);
  Real parting = vec_dot(relative, normal);
  Real pressure = real_max(stiffness * penetration - damping * parting, zero);

  /* F_s, of the velocity of the two surfaces at the contact. */
  Real arm = distance * per_radii; /* from a centre to the contact, over the radius */
  LaneVec3 turning = vec_mul(vec_add(vec_mul(a.spin, a.radius), vec_mul(b.spin, b.radius)), arm);
  LaneVec3 sliding = vec_sub(vec_sub(relative, vec_mul(normal, parting)), vec_cross(turning, normal));
  Real shear_stiffness = k.shear_fixed + k.shear_ratio * stiffness;
  Real shear_damping = k.shear_damping_mass * mass + k.shear_damping_share * damping;
  LaneVec3 shear = contact_turn_into_plane(springs.shear, normal);
  /* With Mindlin's stiffness a contact that opens loses the shear force that its shrinking area held. */
  Real opened = k.opening * real_max(parting, zero) * dt;
  shear = vec_mul(shear, penetration / real_max(penetration + opened, real(CONTACT_TINY)));
  ContactFriction friction =
      contact_friction(shear, sliding, shear_stiffness * dt, shear_damping, k.mu_static * pressure,
                       k.mu_kinetic * pressure, g.touches, springs.slides, switches.cap_total);

  /* Rolling and twisting: the same on the relative spin, with the effective radius as arm. */
  ContactForces forces = contact_no_forces();
  if (switches.rolling) {
    Real arm_square = reduced * reduced, limit = k.mu_rolling * reduced * pressure;
    ContactFriction rolling =
        contact_friction(springs.rolling, vec_sub(a.spin, b.spin), shear_stiffness * arm_square * dt,
                         shear_damping * arm_square, limit, limit, g.touches, forces.springs.slides, true);
    forces.moment = vec_mask(g.touches, rolling.total);
    forces.springs.rolling = vec_mask(g.touches, rolling.spring);
  }

  LaneVec3 force = vec_add(friction.total, vec_mul(normal, pressure));
  forces.force = vec_mask(g.touches, force);
  forces.lever = vec_mask(g.touches, vec_mul(vec_cross(normal, force), arm));
  forces.springs.shear = vec_mask(g.touches, friction.spring);
  forces.springs.slides = g.touches & friction.slides;
  forces.frequency_squared = real_mask(g.touches, real_max(real(1.5f) * stiffness, shear_stiffness) * inverse_masses);
  if (switches.bonds) { /* along the normal: it turns nobody */
    Mask holds = contact_holds(g, springs.bonded, a.radius, b.radius);
    Real slope = real_mask(holds, bond_slope(k.tension, reduced));
    forces.force = vec_sub(forces.force, vec_mul(normal, bond_pull(slope, reduced, distance - g.radii)));
    forces.springs.bonded = holds;
    forces.frequency_squared = real_max(forces.frequency_squared, slope * inverse_masses);
  }
  return forces;
}

#endif
