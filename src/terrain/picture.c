/* Heights from a picture. */
#ifdef SCREE_HAVE_PNG

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "terrain/parts.h"

typedef struct Picture {
  Core *core;
  const char *path, *scene;
  ScreeSource at;
  FILE *file;
  png_structp png;
  png_infop info;
  unsigned char *row;
  char said[160];
} Picture;

static void keep_error(png_structp png, png_const_charp message) {
  Picture *picture = png_get_error_ptr(png);
  snprintf(picture->said, sizeof picture->said, "%s", message);
  png_longjmp(png, 1);
}

static void drop_warning(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

static Status refuse(Picture *picture, const char *what) {
  return fail_at(picture->core, SCREE_BAD_INPUT, picture->scene, picture->at, "png '%s': %s", picture->path, what);
}

static Status check_header(Picture *picture, int32_t nx, int32_t ny) {
  png_read_info(picture->png, picture->info);
  uint32_t width = png_get_image_width(picture->png, picture->info);
  uint32_t height = png_get_image_height(picture->png, picture->info);
  int depth = png_get_bit_depth(picture->png, picture->info), color = png_get_color_type(picture->png, picture->info);
  char words[160];
  if (depth != 16 || color != PNG_COLOR_TYPE_GRAY) {
    snprintf(words, sizeof words, "heights need a grey picture of 16 bits, this one is %s of %d bits",
             color == PNG_COLOR_TYPE_GRAY ? "grey" : "coloured", depth);
    return refuse(picture, words);
  }
  if (width != (uint32_t)nx || height != (uint32_t)ny) {
    snprintf(words, sizeof words, "has %u x %u pixels, but size and cell make %d x %d columns", width, height, nx, ny);
    return refuse(picture, words);
  }
  return SCREE_OK;
}

/* libpng leaves by longjmp: nothing that changes after setjmp lives in this frame. */
static Status read_rows(Picture *picture, int32_t nx, int32_t ny, ScreeVec2 range, double *heights) {
  if (setjmp(png_jmpbuf(picture->png))) return refuse(picture, picture->said);
  png_init_io(picture->png, picture->file);
  TRY(check_header(picture, nx, ny));
  if (png_set_interlace_handling(picture->png) != 1) return refuse(picture, "interlaced pictures are not read");
  png_read_update_info(picture->png, picture->info);
  if (png_get_rowbytes(picture->png, picture->info) != 2 * (size_t)nx) return refuse(picture, "odd rows");
  TRY(memory_new(picture->core, &picture->row, 2 * (int64_t)nx, "picture"));
  for (int32_t j = ny - 1; j >= 0; j--) {
    png_read_row(picture->png, picture->row, NULL);
    for (int32_t i = 0; i < nx; i++) {
      double share = (256.0 * picture->row[2 * i] + picture->row[2 * i + 1]) / 65535;
      heights[(int64_t)j * nx + i] = range.x + (range.y - range.x) * share;
    }
  }
  return SCREE_OK;
}

Status picture_heights(Core *core, const char *path, const char *scene, ScreeSource at, int32_t nx, int32_t ny,
                       ScreeVec2 range, double *heights) {
  Picture picture = {.core = core, .path = path, .scene = scene, .at = at};
  picture.file = fopen(path, "rb");
  if (!picture.file) return refuse(&picture, "cannot be read");
  unsigned char signature[8] = {0};
  size_t got = fread(signature, 1, sizeof signature, picture.file);
  rewind(picture.file);
  Status status = SCREE_OK;
  if (got != sizeof signature || png_sig_cmp(signature, 0, sizeof signature) != 0)
    status = refuse(&picture, "is not a PNG file");
  if (status == SCREE_OK) {
    picture.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &picture, keep_error, drop_warning);
    if (picture.png) picture.info = png_create_info_struct(picture.png);
    if (!picture.info) status = fail(core, SCREE_NO_MEMORY, "out of memory for a picture");
  }
  if (status == SCREE_OK) status = read_rows(&picture, nx, ny, range, heights);
  if (picture.png) png_destroy_read_struct(&picture.png, picture.info ? &picture.info : NULL, NULL);
  memory_drop(core, &picture.row);
  fclose(picture.file);
  return status;
}

#endif
