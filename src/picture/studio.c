#include "picture/studio.h"

#include <stdio.h>

ScreeStatus studio_open(Studio *studio, int32_t threads, ScreeError *error) {
  *studio = (Studio){0};
  ScreeStatus status = render_context_create(RENDER_GL, &studio->context, error);
  if (status == SCREE_OK)
    status = renderer_create(render_context_loader(studio->context), threads, &studio->renderer, error);
  if (status != SCREE_OK) studio_close(studio);
  return status;
}

void studio_close(Studio *studio) {
  image_destroy(&studio->image);
  renderer_destroy(studio->renderer);
  render_context_destroy(studio->context);
  *studio = (Studio){0};
}

ScreeStatus studio_draw(Studio *studio, const RenderFrame *frame, const Camera *camera, const RenderSettings *settings,
                        ScreeError *error) {
  ScreeStatus status = renderer_draw(studio->renderer, frame, camera, settings, error);
  return status == SCREE_OK ? renderer_read(studio->renderer, &studio->image, error) : status;
}

ScreeStatus studio_draw_scene(Studio *studio, SceneFrame *scene, const SceneView *view, double turned_deg,
                              ScreeError *error) {
  const ScreeSceneDef *definition = view->definition;
  const char *title = definition->title && *definition->title ? definition->title : definition->name;
  snprintf(studio->caption, sizeof studio->caption, "%.200s   t = %.2f s", title, scene->time);
  scene->frame.title = view->caption ? studio->caption : NULL;
  Camera camera = camera_orbit(scene_camera(definition), turned_deg);
  return studio_draw(studio, &scene->frame, &camera, &view->settings, error);
}

ScreeStatus studio_still(Studio *studio, SceneFrame *scene, const SceneView *view, const char *path,
                         ScreeError *error) {
  ScreeStatus status = studio_draw_scene(studio, scene, view, 0, error);
  return status == SCREE_OK ? image_write_png(&studio->image, path, error) : status;
}
