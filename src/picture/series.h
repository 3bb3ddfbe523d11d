/* What other programs open as one thing: a run as a time series of ParaView, or as a file of USD. */
#ifndef PICTURE_SERIES_H
#define PICTURE_SERIES_H

#include "scree/types.h"

/* FOLDER/frames.pvd: the VTP frames there are in `to` with their times, and bodies_000000.vtp ... beside them, the
 * solids of each frame as the run in `from` (scene.yaml, bodies.csv) has them. */
ScreeStatus series_write_pvd(const char *from, const char *to, ScreeError *error);

/* The run in `from` as USD, in text: grains as points, solids as meshes, with time samples. */
ScreeStatus series_write_usda(const char *from, const char *path, ScreeError *error);

#endif
