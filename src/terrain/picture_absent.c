/* Heights from a picture in a build without libpng. */
#ifndef SCREE_HAVE_PNG

#include "terrain/parts.h"

Status picture_heights(Core *core, const char *path, const char *scene, ScreeSource at, int32_t nx, int32_t ny,
                       ScreeVec2 range, double *heights) {
  (void)nx, (void)ny, (void)range, (void)heights;
  return fail_at(core, SCREE_BAD_INPUT, scene, at, "this build of scree reads no pictures of heights: '%s'", path);
}

#endif
