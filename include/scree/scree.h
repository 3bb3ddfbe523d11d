/* scree: granular material in C. Everything at once. */
#ifndef SCREE_H
#define SCREE_H
#include "scree/definitions.h"
#include "scree/scene.h"
#include "scree/types.h"
#include "scree/world.h"
#endif
