/* What contacts must bear for a bulk to have its cohesion: one law for all methods of grains.
 *
 * If every contact of a bulk of spheres (radius r, solid fraction nu, coordination Z) pulls with T, the pulls add the
 * pressure
 *
 *   p = 1/(3 V) sum of T 2 r over the contacts = nu Z T / (4 pi r^2)        (Rumpf 1958)
 *
 * to what the bulk is loaded with. Where friction and rolling are limited by the load of a contact together with the
 * pull, the bulk's shear strength is (pressure + p) tan(angle), so that its cohesion is c = p tan(angle):
 *
 *   T = 4 pi r^2 c / (nu Z tan(angle))
 *
 * With the effective radius R = r/2 of a contact, and R = r_i r_j / (r_i + r_j) of unequal grains, T = tension R^2. */
#ifndef METHODS_COMMON_COHESION_H
#define METHODS_COMMON_COHESION_H

#include <math.h>

#include "core/portable.h"
#include "state/materials.h"

/* nu Z of a settled bed: frictional spheres are held by four contacts each, and by few more. */
#define COHESION_CONTACTS (SETTLED_FRACTION * 4.0)
/* tan(angle) of spheres without friction (Peyneau and Roux 2008): no bulk has less. */
#define COHESION_FRICTION_LEAST 0.1

/* Pa. */
static inline double cohesion_tension(const ScreeMaterialDef *material) {
  double friction = fmax(portable_tan(material->friction_angle_deg * M_PI / 180), COHESION_FRICTION_LEAST);
  return 16 * M_PI * material->cohesion / (COHESION_CONTACTS * friction);
}

#endif
