/* The window: a simulation to be watched and steered. */
#ifndef VIEWER_VIEWER_H
#define VIEWER_VIEWER_H

#include "scree/scree.h"

typedef struct ViewerOptions {
  const char *scene;  /* path, paper/name or name */
  const char *method; /* NULL: as the scene says */
  const char *const *sets;
  int32_t set_count;
  int32_t threads;
  const char *device; /* as ScreeWorldOptions has it */
  int width, height;
  bool paused, fast; /* fast: do not wait for the clock */
  bool no_panel;
  double seconds;      /* close after so many seconds; 0: never */
  const char *picture; /* written when the window closes; NULL: none */
} ViewerOptions;

/* Returns when the window is closed. SCREE_BAD_INPUT when there is no display. */
ScreeStatus viewer_run(const ViewerOptions *options, ScreeError *error);

#endif
