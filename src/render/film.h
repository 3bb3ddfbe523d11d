/* Films through the ffmpeg program: H.264 in .mp4, VP9 in .webm. */
#ifndef RENDER_FILM_H
#define RENDER_FILM_H

#include "render/image.h"

typedef struct Film Film;

/* Whether the name ends as a film's does. */
bool film_name_known(const char *path);
/* Starts ffmpeg. The file appears under its name only when film_close has succeeded. */
ScreeStatus film_open(const char *path, int width, int height, double rate, Film **film, ScreeError *error);
ScreeStatus film_add(Film *film, const Image *image, ScreeError *error);
/* Ends the film and frees it, whatever comes of it. */
ScreeStatus film_close(Film *film, ScreeError *error);
/* Gives up: nothing is left behind. NULL is allowed. */
void film_abandon(Film *film);

#endif
