/* The film and the still that `scree run` draws from the world as it goes. */
#ifndef CLI_RUN_PICTURES_H
#define CLI_RUN_PICTURES_H

#include "app/cli/picture_options.h"
#include "picture/world_pictures.h"

typedef struct RunPictures {
  const char *film, *still; /* files; NULL: none */
  int64_t still_frame;      /* negative: from the end */
  PictureOptions look;
  FilmOptions options;
  RenderSettings settings;
  WorldPictures *drawn; /* NULL: nothing is drawn */
  const char *folder;   /* made for the film and empty so far; NULL: was there */
} RunPictures;

RunPictures run_pictures_default(void);

/* Their rows in a table of options. */
#define RUN_PICTURE_OPTIONS(pictures)                                                                                  \
  {0, "--film", OPTION_TEXT, &(pictures)->film, "FILE", "film of the run (.mp4, .webm), drawn as it goes", 0, 0},      \
      {0, "--still", OPTION_TEXT, &(pictures)->still, "FILE", "picture of one frame (.png)", 0, 0},                    \
      {0,   "--still-frame", OPTION_INTEGER, &(pictures)->still_frame, "K", "which one (default -1: the last)", -1e12, \
       1e12},                                                                                                          \
      PICTURE_OPTIONS(&(pictures)->look), FILM_OPTIONS(&(pictures)->options)

/* false after one line about bad usage. */
bool run_pictures_check(RunPictures *pictures, bool resume, int *code);

/* Before the world is made: what cannot be drawn is said at once. `folder` is the run's; a film may lie in it. */
ScreeStatus run_pictures_open(RunPictures *pictures, const ScreeSceneDef *definition, int64_t last, int32_t threads,
                              const char *folder, ScreeError *error);
ScreeStatus run_pictures_frame(RunPictures *pictures, const ScreeWorld *world, ScreeError *error);
/* Ends the film; of a run that was not finished none is left. */
ScreeStatus run_pictures_close(RunPictures *pictures, bool finished, ScreeError *error);

#endif
