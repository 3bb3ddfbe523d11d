/* What the files of the window share. */
#ifndef VIEWER_INTERNAL_H
#define VIEWER_INTERNAL_H

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "app/viewer/panel.h"
#include "app/viewer/viewer.h"
#include "render/film.h"

enum { VIEWER_FILM_RATE = 30 };

typedef struct Viewer {
  const ViewerOptions *options;
  GLFWwindow *window;
  Renderer *renderer;
  RenderSettings settings;
  Camera camera, home;
  Image image;

  ScreeScene *scene;
  char scene_name[SCREE_FILE_MAX], method[64];
  Edits edits;
  PanelScenes scenes;
  Simulation *simulation;
  uint64_t starts, seen_version;
  const SceneFrame *frame; /* drawn last; NULL: none */
  bool drew;               /* in the last turn */
  bool drawn_any;          /* what the last picture was made from */
  uint64_t drawn_version;
  Camera drawn_camera;
  RenderSettings drawn_settings;
  SimulationReport report;
  History history;

  Panel panel;
  bool has_panel, show_panel;
  char message[SCREE_FILE_MAX + SCREE_MESSAGE_MAX];

  double cursor_x, cursor_y; /* when a drag was last looked at */
  double driven[SIMULATION_CONTROLS];
  int32_t driven_count; /* 0: not driven by hand yet */
  uint64_t pushed;      /* bits of motors that go back when they are let go */

  Film *film;
  char film_name[64];
  int films, pictures, film_width, film_height;
  int64_t film_pictures;
  double film_began;
  bool stepping; /* a frame was asked for and has not come yet */
} Viewer;

/* viewer.c */
void viewer_say(Viewer *viewer, const char *line);
void viewer_restart(Viewer *viewer, bool keep_camera);
void viewer_record(Viewer *viewer);
void viewer_picture(Viewer *viewer, const char *path);

/* input.c: mouse, keys, gamepad */
void viewer_watch_input(Viewer *viewer);
/* What is held down, once per picture. */
void viewer_input(Viewer *viewer, double seconds);
void viewer_number_picture(Viewer *viewer);
void viewer_drive_to(Viewer *viewer, int32_t control, double value);
/* At the point of the window, from 0 to 1 from the left and from the top. */
void viewer_blast(Viewer *viewer, double x, double y);
void viewer_drop(Viewer *viewer, double x, double y);

#endif
