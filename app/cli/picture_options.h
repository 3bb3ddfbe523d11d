/* Options of pictures, shared by the commands that make them. */
#ifndef CLI_PICTURE_OPTIONS_H
#define CLI_PICTURE_OPTIONS_H

#include "app/cli/options.h"
#include "render/render.h"

typedef struct PictureOptions {
  const char *size, *range;
  int color, quality; /* quality 0: by what is made */
  bool no_legend;
} PictureOptions;

PictureOptions picture_options_default(void);

/* Their rows in a table of options. */
#define PICTURE_OPTIONS(picture)                                                                                        \
  {0, "--size", OPTION_TEXT, &(picture)->size, "WxH", "pixels (default 1280x720)", 0, 0},                               \
      {0,                                                                                                               \
       "--color",                                                                                                       \
       OPTION_CHOICE,                                                                                                   \
       &(picture)->color,                                                                                               \
       "material|speed|height|pressure|depth|id",                                                                       \
       "what the colour of a grain says (default material)",                                                            \
       0,                                                                                                               \
       0},                                                                                                              \
      {0, "--range", OPTION_TEXT, &(picture)->range, "LOW:HIGH", "of the colours (default: follows the frames)", 0, 0}, \
      {0,                                                                                                               \
       "--quality",                                                                                                     \
       OPTION_CHOICE,                                                                                                   \
       &(picture)->quality,                                                                                             \
       "auto|draft|normal|fine",                                                                                        \
       "draft: no shadows; fine: four samples a pixel (default: fine stills, normal films)",                            \
       0,                                                                                                               \
       0},                                                                                                              \
  {                                                                                                                     \
    0, "--no-legend", OPTION_FLAG, &(picture)->no_legend, NULL, "no colour bar", 0, 0                                   \
  }

/* What a film has besides. */
typedef struct FilmOptions {
  double fps, orbit; /* fps NaN: by the frame rate */
  bool coarse, fine, title;
} FilmOptions;

FilmOptions film_options_default(void);

#define FILM_OPTIONS(film)                                                                                             \
  {0, "--orbit", OPTION_REAL, &(film)->orbit, "DEG", "turn the camera by so much over the film", -36000, 36000},       \
      {0,   "--fps", OPTION_REAL, &(film)->fps, "R", "pictures a second of the film, in real time (default 30)",       \
       0.1, 1000},                                                                                                     \
      {0, "--coarse", OPTION_FLAG, &(film)->coarse, NULL, "draw the simulated particles", 0, 0},                       \
      {0, "--fine", OPTION_FLAG, &(film)->fine, NULL, "draw the fine grains, where there are any (default)", 0, 0}, {  \
    0, "--title", OPTION_FLAG, &(film)->title, NULL, "write title and time into the picture", 0, 0                     \
  }

/* false after one line about bad usage. */
bool film_options_check(const FilmOptions *film, int *code);

/* Whether the name ends as a still's does. */
bool still_name_known(const char *path);

/* Size, colours and range into settings; false after one line about bad usage. */
bool picture_options_apply(const PictureOptions *picture, RenderSettings *settings, int *code);
/* What depends on whether a still or a film is made. */
void picture_options_quality(const PictureOptions *picture, bool still, RenderSettings *settings);

#endif
