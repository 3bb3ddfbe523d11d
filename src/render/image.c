#include "render/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ScreeStatus image_fail(ScreeError *error, ScreeStatus status, const char *path, const char *message) {
  if (error) {
    *error = (ScreeError){.status = status};
    snprintf(error->file, sizeof error->file, "%s", path ? path : "");
    snprintf(error->message, sizeof error->message, "%s", message);
  }
  return status;
}

ScreeStatus image_create(Image *image, int width, int height, ScreeError *error) {
  if (image->pixels && image->width == width && image->height == height) return SCREE_OK;
  image_destroy(image);
  if (width < 1 || height < 1 || width > 32768 || height > 32768)
    return image_fail(error, SCREE_BAD_ARGUMENT, NULL, "a picture has between 1 and 32768 pixels on a side");
  image->pixels = calloc((size_t)width * (size_t)height, 4);
  if (!image->pixels) return image_fail(error, SCREE_NO_MEMORY, NULL, "no memory for the picture");
  image->width = width;
  image->height = height;
  return SCREE_OK;
}

void image_destroy(Image *image) {
  free(image->pixels);
  *image = (Image){0};
}

void image_fill_box(Image *image, int x, int y, int width, int height, ImageColor color) {
  for (int row = y < 0 ? 0 : y; row < y + height && row < image->height; row++)
    for (int column = x < 0 ? 0 : x; column < x + width && column < image->width; column++)
      memcpy(&image->pixels[4 * ((size_t)row * (size_t)image->width + (size_t)column)], &color, 4);
}

void image_fill(Image *image, ImageColor color) { image_fill_box(image, 0, 0, image->width, image->height, color); }

void image_copy(Image *to, int x, int y, const Image *from) {
  int width = from->width < to->width - x ? from->width : to->width - x;
  if (x < 0 || width <= 0) return;
  for (int row = 0; row < from->height; row++)
    if (y + row >= 0 && y + row < to->height)
      memcpy(&to->pixels[4 * ((size_t)(y + row) * (size_t)to->width + (size_t)x)],
             &from->pixels[4 * (size_t)row * (size_t)from->width], 4 * (size_t)width);
}
