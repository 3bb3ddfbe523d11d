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

/* Size, colours and range into settings; false after one line about bad usage. */
bool picture_options_apply(const PictureOptions *picture, RenderSettings *settings, int *code);
/* What depends on whether a still or a film is made. */
void picture_options_quality(const PictureOptions *picture, bool still, RenderSettings *settings);

#endif
