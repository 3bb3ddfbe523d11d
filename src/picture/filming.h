/* A film of frames that come in order, from a folder or from a world that runs. It plays in real time: the frame rate
 * of the run and the pictures a second of the film may differ.
 *
 *   filming_open(&plan, &studio, &filming, &error);
 *   while (filming_next(filming) >= 0) filming_add(filming, frame_of_that_number, &error);
 *   filming_close(filming, &error);
 *
 * The file appears under its name only when filming_close has succeeded. */
#ifndef PICTURE_FILMING_H
#define PICTURE_FILMING_H

#include "picture/studio.h"

typedef struct Filming Filming;

typedef struct FilmPlan {
  const char *path; /* .mp4 or .webm */
  SceneView view;
  int64_t last;     /* number of the last frame */
  double fps;       /* pictures a second; NaN: 30, or the frame rate where that is lower */
  double orbit_deg; /* the camera turns so far over the film */
} FilmPlan;

/* The studio outlives the filming. */
ScreeStatus filming_open(const FilmPlan *plan, Studio *studio, Filming **filming, ScreeError *error);

int64_t filming_count(const Filming *filming); /* pictures of the whole film */
int64_t filming_made(const Filming *filming);  /* so far */
int64_t filming_next(const Filming *filming);  /* number of the frame that the next picture shows; -1: all are made */

/* Draws the frame as the next picture of the film. */
ScreeStatus filming_add(Filming *filming, SceneFrame *scene, ScreeError *error);

/* Ends the film and frees it, whatever comes of it. */
ScreeStatus filming_close(Filming *filming, ScreeError *error);
/* Gives up: nothing is left behind. NULL is allowed. */
void filming_abandon(Filming *filming);

#endif
