/* Boundary contacts: grains against solids, by the distance to their surface or with the points that sample it. */
#ifndef METHODS_DEM_BOUNDARY_CONTACTS_H
#define METHODS_DEM_BOUNDARY_CONTACTS_H

#include "methods/dem/contacts.h"

/* Lists the boundary contacts that may touch soon, for a topology in the making. */
Status dem_boundary_list(DemStep *work, DemTopology *fresh);
/* Updates the surfaces of the boundary contacts [b, e) to where the solids are now. */
void dem_boundary_refresh(const DemStep *work, int64_t b, int64_t e);
/* Adds the reactions of the boundary contacts [b, e) to the wrenches of their solids. `exerted` starts at contact b. */
void dem_boundary_react(const DemStep *work, int64_t b, int64_t e, const float (*exerted)[DEM_SUM]);

/* Of a flat face at rest one point and the normal are enough: the law finds the distance by itself. */
bool dem_boundary_is_flat(const Solid *solid);
/* The key of a contact that is none. */
enum { DEM_NOBODY = INT32_MAX };
/* Of a solid that nothing moves: 0. */
double dem_boundary_inverse_mass(const Solid *solid);
/* Time of the forces less the time of a solid's pose, where forces move the solid or not. Verlet takes forces at the
 * end of the step, Euler at the start.
 */
double dem_boundary_lag(const DemStep *work, bool movable);

#endif
