/* The parameter table as text for people: docs/scene.md and `scree list parameters`. */
#ifndef SCENE_REFERENCE_H
#define SCENE_REFERENCE_H

#include "scree/scene.h"

/* markdown: the whole page docs/scene.md; otherwise the plain list. Free with scree_text_free. */
ScreeStatus scene_reference(bool markdown, char **text, ScreeError *error);

#endif
