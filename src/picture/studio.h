/* A renderer without a window: draws the frames of a scene, each as one picture. */
#ifndef PICTURE_STUDIO_H
#define PICTURE_STUDIO_H

#include "picture/scene_frame.h"

typedef struct Studio {
  RenderContext *context;
  Renderer *renderer;
  Image image; /* the last picture */
  char caption[256];
} Studio;

/* How the frames of a scene are drawn. */
typedef struct SceneView {
  const ScreeSceneDef *definition; /* its camera and its title */
  RenderSettings settings;
  bool caption; /* title and time are written into the picture */
} SceneView;

ScreeStatus studio_open(Studio *studio, int32_t threads, ScreeError *error);
void studio_close(Studio *studio);

ScreeStatus studio_draw(Studio *studio, const RenderFrame *frame, const Camera *camera, const RenderSettings *settings,
                        ScreeError *error);
/* The same from the scene's camera, turned by so many degrees round its target. */
ScreeStatus studio_draw_scene(Studio *studio, SceneFrame *scene, const SceneView *view, double turned_deg,
                              ScreeError *error);
/* And written as a PNG file. */
ScreeStatus studio_still(Studio *studio, SceneFrame *scene, const SceneView *view, const char *path, ScreeError *error);

#endif
