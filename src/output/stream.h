/* A file that appears under its name only when complete: it is written beside the target as `<path>.part`, synced and
 * renamed. Failures stick: writers go on without checking, and stream_commit reports the first one. */
#ifndef OUTPUT_STREAM_H
#define OUTPUT_STREAM_H

#include "core/core.h"

enum { STREAM_BUFFER = 1 << 16 };

/* What it takes to end a file: its descriptor and its names. */
typedef struct StreamEnd {
  int file;    /* -1: not open */
  int why;     /* errno of the first failure; 0: none */
  bool direct; /* the target is a device or a pipe: nothing to rename */
  char path[SCREE_FILE_MAX];
  char part[SCREE_FILE_MAX + 8];
} StreamEnd;

typedef struct Stream {
  StreamEnd end;
  int64_t used;
  char buffer[STREAM_BUFFER];
} Stream;

void stream_open(Stream *stream, const char *path);
void stream_write(Stream *stream, const void *data, int64_t size);
void stream_print(Stream *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ends the file: afterwards it is either there, whole, or not there at all (or the earlier one still is). */
Status stream_commit(Core *core, Stream *stream);
/* The same in two steps, the second of which takes long: the last bytes go to the file; it is synced and renamed.
 * Returns the errno of the first failure, or 0. */
StreamEnd stream_detach(Stream *stream);
int stream_end(StreamEnd *end);
/* Would the file get written? Tries to begin it and leaves no trace. */
Status stream_check(Core *core, const char *path);

/* Writes all of a block to a descriptor; false with errno set on failure. */
bool stream_put(int file, const void *data, int64_t size);
/* SCREE_CANNOT_WRITE with the words for an errno. */
Status stream_failed(Core *core, const char *path, int why);

#endif
