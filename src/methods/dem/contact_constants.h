/* The constants of the contact law (contact_law.h) for every pair of materials and every material against every solid.
 */
#ifndef METHODS_DEM_CONTACT_CONSTANTS_H
#define METHODS_DEM_CONTACT_CONSTANTS_H

#include "methods/dem/contact_law.h"
#include "methods/method.h"

typedef struct DemConstants {
#define DEM_CONSTANT_MEMBER(name) float name;
  CONTACT_CONSTANTS(DEM_CONSTANT_MEMBER)
#undef DEM_CONSTANT_MEMBER
} DemConstants;

/* Rows: materials; columns: materials, then solids. */
typedef struct DemConstantsTable {
  DemConstants *items;
  int32_t rows, columns;
} DemConstantsTable;

Status dem_constants_create(Core *core, const State *state, DemConstantsTable *constants);
/* Refuses cohesion that the contacts are too soft for. */
Status dem_constants_check(Core *core, const State *state, const DemConstantsTable *constants);
/* Whether any grains are cohesive. */
bool dem_constants_bond(const DemConstantsTable *constants);
/* Whether any contact resists rolling. */
bool dem_constants_roll(const DemConstantsTable *constants);
void dem_constants_destroy(Core *core, DemConstantsTable *constants);

/* Speed after over speed before, of m x'' = -k x^(3/2) - a sqrt(m k) x^(1/4) x', the force cut at zero. */
double dem_restitution(double a);
/* Its inverse. */
double dem_damping_for(double restitution);

/* k of contacts with this effective radius. */
double dem_hertz(const DemConstants *constants, double reduced);
/* Squared frequency (1/s^2) of a grain of this material on another at a penetration of this share of its radius. */
double dem_frequency_squared(const DemConstants *constants, double radius, double mass, double share);

#endif
