/* What the files of this room share beside the reader. */
#ifndef SCENE_SCENE_H
#define SCENE_SCENE_H

#include "core/core.h"
#include "scree/scene.h"

/* A core for one call: no threads of its own. */
Status scene_core_create(Core *core);

#endif
