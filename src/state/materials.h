/* Materials as the methods read them. */
#ifndef STATE_MATERIALS_H
#define STATE_MATERIALS_H

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
} Material;

typedef struct Materials {
  Material items[MATERIALS_MAX];
  int32_t count;
} Materials;

/* 0-based index, or -1. */
int32_t materials_find(const Materials *materials, const char *name);

#endif
