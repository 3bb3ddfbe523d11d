/* Friction between sand and a solid (sph, flip). */
#ifndef METHODS_COMMON_SOLID_FRICTION_LAW_H
#define METHODS_COMMON_SOLID_FRICTION_LAW_H

#include "core/lane.h"

/* The geometric mean of both coefficients; that of sand is tan(theta). Sand bears no more along a rough floor than on
 * itself: it would shear beside it, and where the layer is too thin for that, the coefficient has to say so. */
LANE_INLINE Real solid_friction(Real sand, Real solid) { return real_sqrt(sand * real_min(sand, solid)); }

#endif
