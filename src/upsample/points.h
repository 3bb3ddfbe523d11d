#ifndef UPSAMPLE_POINTS_H
#define UPSAMPLE_POINTS_H

#include "upsample/internal.h"

/* Finds the shapes of the particles; adds the fields in which the method keeps how the flow stretched each of them
 * since the frame began, less the identity. */
Status points_create(Core *core, Upsample *up, State *state);
void points_destroy(Core *core, RenderPoints *points);
/* The frame that has just ended; also called once before the first, when nothing has moved. */
Status points_advance(Core *core, Upsample *up, const State *state, Scratch *scratch, double dt);
Status points_check(Core *core, const Archive *archive, const Upsample *up, const State *state);
Status points_archive(Core *core, Archive *archive, Upsample *up);

#endif
