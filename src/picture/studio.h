/* A renderer without a window, for commands that make pictures. */
#ifndef PICTURE_STUDIO_H
#define PICTURE_STUDIO_H

#include "render/render.h"

typedef struct Studio {
  RenderContext *context;
  Renderer *renderer;
  Image image; /* the last picture */
} Studio;

ScreeStatus studio_open(Studio *studio, int32_t threads, ScreeError *error);
ScreeStatus studio_draw(Studio *studio, const RenderFrame *frame, const Camera *camera, const RenderSettings *settings,
                        ScreeError *error);
void studio_close(Studio *studio);

#endif
