#include "picture/studio.h"

ScreeStatus studio_open(Studio *studio, int32_t threads, ScreeError *error) {
  *studio = (Studio){0};
  ScreeStatus status = render_context_create(RENDER_GL, &studio->context, error);
  if (status == SCREE_OK)
    status = renderer_create(render_context_loader(studio->context), threads, &studio->renderer, error);
  if (status != SCREE_OK) studio_close(studio);
  return status;
}

ScreeStatus studio_draw(Studio *studio, const RenderFrame *frame, const Camera *camera, const RenderSettings *settings,
                        ScreeError *error) {
  ScreeStatus status = renderer_draw(studio->renderer, frame, camera, settings, error);
  return status == SCREE_OK ? renderer_read(studio->renderer, &studio->image, error) : status;
}

void studio_close(Studio *studio) {
  image_destroy(&studio->image);
  renderer_destroy(studio->renderer);
  render_context_destroy(studio->context);
  *studio = (Studio){0};
}
