/* What the page's worker calls. One world and one renderer to an instance of the module; texts come and go as UTF-8.
 *
 * A function that may fail returns 0 or a ScreeStatus; web_message, web_line and web_column say more. Angles are in
 * degrees, everything else in SI units; points of the picture run from 0 to 1, from the left and from the top. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include "picture/scene_frame.h"
#include "scree/scree.h"

#define WEB_API __attribute__((used, visibility("default")))

/* Tools by their number, in the order of the page's list. */
#define WEB_TOOLS(X)                                                                                                   \
  X(TOOL_BLADE, "blade")                                                                                               \
  X(TOOL_RAKE, "rake")                                                                                                 \
  X(TOOL_BALL, "ball")                                                                                                 \
  X(TOOL_HAND, "hand")
#define WEB_TOOL_CONSTANT(constant, word) constant,
typedef enum WebTool { WEB_TOOLS(WEB_TOOL_CONSTANT) TOOL_COUNT } WebTool;

/* A tool is a body that follows the pointer with limited speed and acceleration. It comes into the world when it is
 * first needed. */
typedef struct WebToolBody {
  ScreeBodyId body; /* 0: not there yet */
  ScreeVec3 at;     /* of its tip */
  ScreeVec3 velocity;
  double yaw; /* rad, where it faces */
} WebToolBody;

typedef struct Web {
  ScreeScene *scene;
  ScreeWorld *world;
  SceneFrame frame;
  bool frame_made;
  Renderer *renderer;
  RenderSettings settings;
  Camera camera, home;
  bool coarse_only;
  int32_t threads;
  uint64_t worlds; /* made so far: tells their meshes apart */
  ScreeError error;
  char message[SCREE_MESSAGE_MAX + SCREE_FILE_MAX];
  char *text; /* the last text that was given out */
  char *warnings;
  ScreeVec3 low, high; /* of the grains, at the start */
  double seconds;      /* of the last frame, by the clock */
  /* what is done with it: tools.c */
  WebToolBody tools[TOOL_COUNT];
  int tool;       /* in hand; -1: none */
  ScreeVec3 goal; /* where its tip shall go */
  bool digging;   /* it is in the sand; else it hovers */
  double tool_size;
  ScreeEmitterId emitter;
  double pouring; /* kg/s */
  int32_t dropped;
} Web;

extern Web web;

/* Keeps a status and what there is to say about it. */
int web_done(ScreeStatus status);
/* Text that lives until the next call. */
const char *web_give(char *text);

/* Before and after each frame of the world. */
void tools_forget(void);
ScreeStatus tools_move(double seconds, ScreeError *error);
/* Tools that are not in hand are not drawn. */
void tools_hide(SceneFrame *frame);

/* ---- for the page ---- */

WEB_API int web_open(const char *text, const char *name, const char *folder, const char *sets, int threads);
WEB_API int web_frame(void);
WEB_API const char *web_message(void);
WEB_API int web_line(void);
WEB_API int web_column(void);
WEB_API const char *web_warnings(void);
WEB_API const char *web_report(void);
WEB_API const char *web_parameters(void);
WEB_API const char *web_methods(void);
WEB_API const char *web_scene_text(void);
WEB_API const char *web_scene_json(void);
WEB_API const char *web_state_hash(void);
WEB_API const char *web_grains_hash(void);
WEB_API const char *web_version(void);
WEB_API int web_save(const char *path);
WEB_API int web_load(const char *path);

WEB_API int web_renderer(void);
WEB_API int web_draw(int width, int height);
WEB_API int web_software(void);
WEB_API int web_color(const char *mode);
WEB_API void web_fine(int fine);
WEB_API void web_quality(int level);
WEB_API void web_legend(int shown);
WEB_API void web_camera_turn(double yaw, double pitch, double zoom);
WEB_API void web_camera_move(double right, double up, double forward);
WEB_API void web_camera_home(void);
WEB_API void web_camera_set(double ex, double ey, double ez, double tx, double ty, double tz, double fov);
WEB_API const char *web_camera(void);

/* A motor of the mechanism, counted from 0, to hold a value until web_control_release lets all of them go. */
WEB_API int web_control(int motor, double value);
WEB_API void web_control_release(void);
WEB_API int web_set_gravity(double x, double y, double z);
WEB_API int web_set_material(int material, const char *key, double value);
/* What the point of the picture shows: 1 and web_at_x, y, z; 0 where there is nothing. */
WEB_API int web_pick(double x, double y);
/* The same on the level plane through z. */
WEB_API int web_pick_level(double x, double y, double z);
WEB_API double web_at_x(void);
WEB_API double web_at_y(void);
WEB_API double web_at_z(void);
WEB_API int web_tool(int tool, double size);
WEB_API void web_tool_to(double x, double y, double z, int digging);
WEB_API int web_pour(double x, double y, double z, double rate, int material);
WEB_API int web_blast(double x, double y, double z, double radius, double speed);
WEB_API int web_drop(int object, double x, double y, double z, double size, double density);

#endif
