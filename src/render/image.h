/* Pictures in memory, text on them, and PNG files. */
#ifndef RENDER_IMAGE_H
#define RENDER_IMAGE_H

#include "scree/types.h"

typedef struct Image {
  int width, height;
  uint8_t *pixels; /* red, green, blue, alpha; rows from the top */
} Image;

typedef struct ImageColor {
  uint8_t r, g, b, a;
} ImageColor;

/* Fills *error, where there is one (path may be NULL), and returns the status. */
ScreeStatus image_fail(ScreeError *error, ScreeStatus status, const char *path, const char *message);

ScreeStatus image_create(Image *image, int width, int height, ScreeError *error);
void image_destroy(Image *image);
void image_fill(Image *image, ImageColor color);
void image_fill_box(Image *image, int x, int y, int width, int height, ImageColor color);
/* Copies all of `from` to (x, y); what does not fit is left out. */
void image_copy(Image *to, int x, int y, const Image *from);
/* Writes a PNG (8-bit RGB) under its name only when complete. */
ScreeStatus image_write_png(const Image *image, const char *path, ScreeError *error);

/* Text in a drawn font of our own; size is the height of a capital in pixels, (x, y) the left end of the baseline. */
void text_draw(Image *image, double x, double y, double size, const char *text, ImageColor color);
double text_width(double size, const char *text);

#endif
