/* Inside of frames.c: the bytes of a frame file to columns. */
#ifndef OUTPUT_FRAME_READER_H
#define OUTPUT_FRAME_READER_H

#include "output/particles_file.h"

/* Columns that one read allocated. */
typedef struct FrameColumns {
  int64_t count;
  double time; /* NaN: the file does not say */
  ScreeVec3 origin;
  unsigned columns; /* FRAME_VELOCITY, FRAME_ID: which of them the file has; the others are made up */
  float *numbers;   /* x y z vx vy vz radius: seven columns of `count` */
  uint32_t *ids;
  uint8_t *materials;
} FrameColumns;

enum { COLUMN_X, COLUMN_Y, COLUMN_Z, COLUMN_VX, COLUMN_VY, COLUMN_VZ, COLUMN_RADIUS, COLUMN_FLOATS };

Status frame_columns_create(Core *core, FrameColumns *columns, int64_t count);
void frame_columns_destroy(Core *core, FrameColumns *columns);

/* data is NUL-terminated behind its `size` bytes. */
Status frame_read_ply(Core *core, const char *path, const char *data, int64_t size, FrameColumns *columns);
Status frame_read_vtp(Core *core, const char *path, const char *data, int64_t size, FrameColumns *columns);
Status frame_read_compact(Core *core, const char *path, const char *data, int64_t size, FrameColumns *columns);
Status frame_damaged(Core *core, const char *path, const char *what);

#endif
