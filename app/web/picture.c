/* The picture on the page: the page makes the WebGL context and makes it current. */
#define GL_GLEXT_PROTOTYPES
#include "render/gl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/web/web.h"

/* By name, out of those that the renderer uses: Emscripten's own table would keep every function of GL ES in the
 * module. */
static RenderFunction load(const char *name) {
#define NAMED(type, function) {"gl" #function, (RenderFunction)gl##function},
  static const struct {
    const char *name;
    RenderFunction function;
  } known[] = {GL_FUNCTIONS(NAMED)};
#undef NAMED
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
    if (strcmp(known[k].name, name) == 0) return known[k].function;
  return NULL;
}

/* Again where the context was lost: what the old renderer had there is gone. The page's threads are the world's. */
int web_renderer(void) {
  if (!web.renderer) {
    web.settings = render_settings_default();
    web.settings.legend = false;
  }
  renderer_destroy(web.renderer);
  web.renderer = NULL;
  return web_done(renderer_create(load, 1, &web.renderer, &web.error));
}

int web_software(void) { return web.renderer && renderer_statistics(web.renderer).software; }

int web_draw(int width, int height) {
  if (!web.world || !web.renderer) return SCREE_BAD_ARGUMENT;
  web.settings.width = width;
  web.settings.height = height;
  web.frame.wants_pressure = web.settings.color == RENDER_COLOR_PRESSURE;
  ScreeStatus status = scene_frame_view(&web.frame, web.world, !web.coarse_only, &web.error);
  if (status == SCREE_OK) {
    tools_hide(&web.frame);
    status = renderer_draw(web.renderer, &web.frame.frame, &web.camera, &web.settings, &web.error);
  }
  if (status == SCREE_OK) renderer_present(web.renderer, width, height);
  return web_done(status);
}

int web_color(const char *mode) { return render_color_find(mode, &web.settings.color) ? SCREE_OK : SCREE_BAD_ARGUMENT; }
void web_fine(int fine) { web.coarse_only = !fine; }
void web_legend(int shown) { web.settings.legend = shown; }
/* 0: the least that shows form, 1: with shadows, 2: all. */
void web_quality(int level) {
  web.settings.shadows = level >= 1;
  web.settings.occlusion = level >= 2;
  web.settings.antialias = level >= 1 ? RENDER_SMOOTH : RENDER_PLAIN;
}

void web_camera_turn(double yaw, double pitch, double zoom) { web.camera = camera_turn(web.camera, yaw, pitch, zoom); }
void web_camera_move(double right, double up, double forward) {
  double across = camera_distance(&web.camera); /* a share of what is seen, whatever the scene's size */
  web.camera = camera_move(web.camera, right * across, up * across, forward * across);
}
void web_camera_home(void) { web.camera = web.home; }
void web_camera_set(double ex, double ey, double ez, double tx, double ty, double tz, double fov) {
  Camera camera = {.eye = {ex, ey, ez}, .target = {tx, ty, tz}, .fov_deg = fov};
  if (camera_valid(&camera)) web.camera = camera;
}
const char *web_camera(void) {
  char *text = malloc(256);
  const Camera *c = &web.camera;
  if (text)
    snprintf(text, 256, "[%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g]", c->eye.x, c->eye.y, c->eye.z, c->target.x, c->target.y,
             c->target.z, c->fov_deg);
  return web_give(text);
}
