/* The renderer: draws a frame as seen by a camera with OpenGL 3.3 or OpenGL ES 3.0.
 *
 *   RenderContext *context;
 *   Renderer *renderer;
 *   render_context_create(RENDER_GL, &context, &error);              // headless; a window brings its own
 *   renderer_create(render_context_loader(context), 0, &renderer, &error);
 *   renderer_draw(renderer, &frame, &camera, &settings, &error);
 *   renderer_read(renderer, &image, &error);
 *
 * Everything happens on the thread whose GL context is current. The state of a simulation is only read. */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include "render/camera.h"
#include "render/frame.h"
#include "render/image.h"

typedef enum RenderAntialias { RENDER_PLAIN, RENDER_SMOOTH, RENDER_SUPERSAMPLE } RenderAntialias;

typedef struct RenderSettings {
  int width, height;
  RenderColor color;
  double low, high; /* of the colour scale; NaN: follows the frames, in round numbers, and only grows */
  bool shadows;
  bool occlusion;
  bool legend; /* drawn when the colours stand for numbers */
  bool title;
  RenderAntialias antialias;
} RenderSettings;

RenderSettings render_settings_default(void);

/* What the colour scale shows; `name` is NULL when colours do not stand for numbers. */
typedef struct RenderLegend {
  const char *name, *unit;
  double low, high;
} RenderLegend;

/* X(constant, word): the parts of a picture that are timed. */
#define RENDER_STAGES(X)                                                                                               \
  X(RENDER_STAGE_PACK, "pack")                                                                                         \
  X(RENDER_STAGE_CULL, "cull")                                                                                         \
  X(RENDER_STAGE_SHADOW, "shadow")                                                                                     \
  X(RENDER_STAGE_GRAINS, "grains")                                                                                     \
  X(RENDER_STAGE_SOLIDS, "solids")                                                                                     \
  X(RENDER_STAGE_OCCLUSION, "occlusion")                                                                               \
  X(RENDER_STAGE_SHADE, "shade")                                                                                       \
  X(RENDER_STAGE_FINISH, "finish")
#define RENDER_STAGE_CONSTANT(constant, word) constant,
typedef enum RenderStage { RENDER_STAGES(RENDER_STAGE_CONSTANT) RENDER_STAGE_COUNT } RenderStage;

typedef struct RenderStatistics {
  const char *device;                 /* what the driver calls itself */
  bool software;                      /* the driver runs on the CPU: hidden grains are left out before they are drawn */
  int64_t grains;                     /* of the frame */
  int64_t drawn;                      /* of these, given to the driver */
  int64_t uploads, mesh_uploads;      /* buffers of grains and of meshes filled since the start */
  double seconds[RENDER_STAGE_COUNT]; /* of the last picture; the driver is waited for only when timing is on */
} RenderStatistics;

typedef enum RenderApi { RENDER_GL, RENDER_GLES } RenderApi;
typedef void (*RenderFunction)(void);
typedef RenderFunction (*RenderLoader)(const char *name);

/* A GL context without a window (EGL, surfaceless). SCREE_BAD_INPUT when the machine has none. */
typedef struct RenderContext RenderContext;
ScreeStatus render_context_create(RenderApi api, RenderContext **context, ScreeError *error);
RenderLoader render_context_loader(const RenderContext *context);
void render_context_destroy(RenderContext *context);

typedef struct Renderer Renderer;
/* The context is current; threads 0: one per core. */
ScreeStatus renderer_create(RenderLoader loader, int32_t threads, Renderer **renderer, ScreeError *error);
void renderer_destroy(Renderer *renderer);

/* Draws into the renderer's own picture. */
ScreeStatus renderer_draw(Renderer *renderer, const RenderFrame *frame, const Camera *camera,
                          const RenderSettings *settings, ScreeError *error);
/* Copies the last picture to the bound framebuffer 0 of that size, as a window needs. */
void renderer_present(Renderer *renderer, int width, int height);
/* The last picture; `image` is created or resized as needed. */
ScreeStatus renderer_read(Renderer *renderer, Image *image, ScreeError *error);
/* How far from the camera's plane the last picture shows something, in m along the view: width times height floats,
 * rows from the top; infinite where nothing is. */
ScreeStatus renderer_read_depth(Renderer *renderer, float *depth, ScreeError *error);

RenderLegend renderer_legend(const Renderer *renderer);
RenderStatistics renderer_statistics(const Renderer *renderer);
/* Waits for the driver after every stage so that the seconds mean something. */
void renderer_set_timing(Renderer *renderer, bool timing);

#endif
