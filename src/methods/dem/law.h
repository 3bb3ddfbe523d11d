/* The constants of a contact, for every pair of materials and for every material against every solid.
 *
 * With overlap h, effective mass m and effective radius R of a pair (a flat partner: the grain's own):
 *   k    = stiffness (given: 1; by young: sqrt(R))                      Hertz: force k h^(3/2)
 *   c    = damping_mass m + damping_root sqrt(m k sqrt(h))              printed; constant restitution
 *   k_t  = shear_fixed + shear_ratio k sqrt(h)                          printed; after Mindlin
 *   c_t  = shear_damping_mass m + shear_damping_share c
 * One of the two terms is zero in each line: which, the scene decides by the keys it gives. */
#ifndef METHODS_DEM_LAW_H
#define METHODS_DEM_LAW_H

#include "methods/method.h"

#define DEM_LAW_FIELDS(X)                                                                                              \
  X(stiffness) /* k = stiffness sqrt(fixed + rooted R) */                                                              \
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
  X(tension) /* cohesion times pi: attraction = tension R h */

typedef struct DemLaw {
#define DEM_LAW_MEMBER(name) float name;
  DEM_LAW_FIELDS(DEM_LAW_MEMBER)
#undef DEM_LAW_MEMBER
} DemLaw;

/* Rows: materials; columns: materials, then solids. */
typedef struct DemLaws {
  DemLaw *items;
  int32_t rows, columns;
} DemLaws;

Status dem_laws_create(Core *core, const State *state, DemLaws *laws);
/* Constants follow the solids' own, which scripts may change between frames. */
/* Whether any contact resists rolling. */
bool dem_laws_roll(const DemLaws *laws);
void dem_laws_destroy(Core *core, DemLaws *laws);

/* Speed after over speed before, of m x'' = -k x^(3/2) - a sqrt(m k) x^(1/4) x', the force cut at zero. */
double dem_restitution(double a);
/* Its inverse. */
double dem_damping_for(double restitution);

/* k of contacts with this effective radius. */
double dem_hertz(const DemLaw *law, double reduced);
/* Squared frequency (1/s^2) of a grain of this material on another at an overlap of this share of its radius. */
double dem_frequency_squared(const DemLaw *law, double radius, double mass, double share);

#endif
