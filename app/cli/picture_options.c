#include "app/cli/picture_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUALITY_AUTO, QUALITY_DRAFT, QUALITY_NORMAL, QUALITY_FINE };
enum { SIDE_LEAST = 16, SIDE_MOST = 8192 };

PictureOptions picture_options_default(void) { return (PictureOptions){.size = NULL}; }

static bool parse_size(const char *text, RenderSettings *settings) {
  char *end;
  long width = strtol(text, &end, 10);
  if (end == text || *end != 'x') return false;
  char *second = end + 1;
  long height = strtol(second, &end, 10);
  if (end == second || *end || width < SIDE_LEAST || height < SIDE_LEAST || width > SIDE_MOST || height > SIDE_MOST)
    return false;
  settings->width = (int)width;
  settings->height = (int)height;
  return true;
}

static bool parse_range(const char *text, RenderSettings *settings) {
  char *end;
  settings->low = strtod(text, &end);
  if (end == text || *end != ':') return false;
  char *second = end + 1;
  settings->high = strtod(second, &end);
  return end != second && !*end && isfinite(settings->low) && isfinite(settings->high) &&
         settings->low < settings->high;
}

bool picture_options_apply(const PictureOptions *picture, RenderSettings *settings, int *code) {
  *settings = render_settings_default();
  settings->color = (RenderColor)picture->color;
  settings->legend = !picture->no_legend;
  settings->title = true; /* a frame that has none shows none */
  if (picture->size && !parse_size(picture->size, settings)) {
    *code = usage_error("--size '%s': expected WIDTHxHEIGHT, each from %d to %d", picture->size, SIDE_LEAST, SIDE_MOST);
    return false;
  }
  if (picture->range && !parse_range(picture->range, settings)) {
    *code = usage_error("--range '%s': expected LOW:HIGH", picture->range);
    return false;
  }
  return true;
}

void picture_options_quality(const PictureOptions *picture, bool still, RenderSettings *settings) {
  int quality = picture->quality != QUALITY_AUTO ? picture->quality : still ? QUALITY_FINE : QUALITY_NORMAL;
  settings->shadows = quality != QUALITY_DRAFT;
  settings->antialias = quality == QUALITY_FINE ? RENDER_SUPERSAMPLE : RENDER_SMOOTH;
}

FilmOptions film_options_default(void) { return (FilmOptions){.fps = NAN}; }

bool film_options_check(const FilmOptions *film, int *code) {
  if (!film->coarse || !film->fine) return true;
  *code = usage_error("--coarse and --fine exclude each other");
  return false;
}

bool still_name_known(const char *path) {
  size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, ".png") == 0;
}
