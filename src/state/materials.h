/* Materials as the methods read them. */
#ifndef STATE_MATERIALS_H
#define STATE_MATERIALS_H

#include <math.h>

#include "core/core.h"
#include "scree/definitions.h"

enum { MATERIALS_MAX = 255 };

/* Grains of the default grain density settle to the bulk density at this solid fraction. */
#define SETTLED_FRACTION 0.6

typedef struct Material {
  ScreeMaterialDef definition; /* friction, angle and density are resolved; see world/material.c */
  /* Its part in sqrt(own solid's), the friction with a solid: the bulk's, since the solid rubs on the bulk. The
   * friction of its contacts has no part in it but where it alone is given. */
  double wall_static, wall_kinetic;
  bool of_angle; /* it is given by its angle; otherwise by its contacts alone */
} Material;

/* Friction of its grains with a solid, static or kinetic. Sand of an angle bears no more along a rough floor than on
 * itself: it would shear beside it (as in sph and flip, methods/common/solid_friction_law.h). */
static inline double material_on_solid(const Material *material, double own, double solid) {
  return sqrt(own * (material->of_angle ? fmin(own, solid) : solid));
}

/* Rolling friction of its grains at a solid. Spheres would roll on any floor like a bearing, however rough it is:
 * grains of sand of an angle, which are not round, are held from rolling as they are from sliding. */
static inline double material_rolling_on_solid(const Material *material, double friction) {
  return material->of_angle ? friction : material->definition.rolling_friction;
}

typedef struct Materials {
  Material items[MATERIALS_MAX];
  int32_t count;
} Materials;

/* 0-based index, or -1. */
int32_t materials_find(const Materials *materials, const char *name);

#endif
