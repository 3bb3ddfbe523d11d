/* Stands in for the renderer where it was built without the headers of EGL and OpenGL. */
#include "render/render.h"

#include <stdio.h>

static ScreeStatus unavailable(ScreeError *error) {
  if (error) {
    *error = (ScreeError){.status = SCREE_BAD_INPUT};
    snprintf(error->message, sizeof error->message, "this scree was built without OpenGL and cannot draw");
  }
  return SCREE_BAD_INPUT;
}

RenderSettings render_settings_default(void) { return (RenderSettings){.width = 1280, .height = 720}; }

ScreeStatus render_context_create(RenderApi api, RenderContext **context, ScreeError *error) {
  (void)api;
  *context = NULL;
  return unavailable(error);
}
RenderLoader render_context_loader(const RenderContext *context) {
  (void)context;
  return NULL;
}
void render_context_destroy(RenderContext *context) { (void)context; }

ScreeStatus renderer_create(RenderLoader loader, int32_t threads, Renderer **renderer, ScreeError *error) {
  (void)loader, (void)threads;
  *renderer = NULL;
  return unavailable(error);
}
void renderer_destroy(Renderer *renderer) { (void)renderer; }
ScreeStatus renderer_draw(Renderer *renderer, const RenderFrame *frame, const Camera *camera,
                          const RenderSettings *settings, ScreeError *error) {
  (void)renderer, (void)frame, (void)camera, (void)settings;
  return unavailable(error);
}
void renderer_present(Renderer *renderer, int width, int height) { (void)renderer, (void)width, (void)height; }
ScreeStatus renderer_read(Renderer *renderer, Image *image, ScreeError *error) {
  (void)renderer, (void)image;
  return unavailable(error);
}
ScreeStatus renderer_read_depth(Renderer *renderer, float *depth, ScreeError *error) {
  (void)renderer, (void)depth;
  return unavailable(error);
}
RenderLegend renderer_legend(const Renderer *renderer) {
  (void)renderer;
  return (RenderLegend){0};
}
RenderStatistics renderer_statistics(const Renderer *renderer) {
  (void)renderer;
  return (RenderStatistics){.device = "none"};
}
void renderer_set_timing(Renderer *renderer, bool timing) { (void)renderer, (void)timing; }
