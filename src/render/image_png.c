/* Pictures as PNG files. The browser's build leaves this out: there the page saves what it shows. */
#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "render/image.h"

ScreeStatus image_write_png(const Image *image, const char *path, ScreeError *error) {
  char part[4096];
  if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
    return image_fail(error, SCREE_CANNOT_WRITE, NULL, "the name of the picture is too long");
  size_t count = (size_t)image->width * (size_t)image->height;
  uint8_t *rgb = malloc(3 * count);
  if (!rgb) return image_fail(error, SCREE_NO_MEMORY, path, "no memory for the picture");
  for (size_t k = 0; k < count; k++) memcpy(&rgb[3 * k], &image->pixels[4 * k], 3);
  png_image png = {.version = PNG_IMAGE_VERSION,
                   .width = (png_uint_32)image->width,
                   .height = (png_uint_32)image->height,
                   .format = PNG_FORMAT_RGB};
  FILE *file = fopen(part, "wb");
  bool good = file != NULL;
  const char *said = good ? "" : strerror(errno);
  if (file) {
    good = png_image_write_to_stdio(&png, file, 0, rgb, 0, NULL);
    if (!good) said = png.message;
    errno = 0;
    if (fclose(file) != 0 && good) good = false, said = strerror(errno);
  }
  free(rgb);
  int why = good ? files_rename(part, path) : 0;
  if (why != 0) good = false, said = strerror(why);
  if (good) return SCREE_OK;
  char message[256];
  snprintf(message, sizeof message, "cannot write the picture: %s", said);
  remove(part);
  return image_fail(error, SCREE_CANNOT_WRITE, path, message);
}
