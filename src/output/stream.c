#include "output/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Status stream_failed(Core *core, const char *path, int why) {
  return fail_at(core, SCREE_CANNOT_WRITE, path, (ScreeSource){0, 0}, "cannot be written: %s", strerror(why));
}

void stream_open(Stream *stream, const char *path) {
  stream->file = -1;
  stream->why = 0;
  stream->used = 0;
  stream->part[0] = 0;
  if (snprintf(stream->path, sizeof stream->path, "%s", path) >= (int)sizeof stream->path) {
    stream->why = ENAMETOOLONG;
    return;
  }
  /* /dev/stdout and pipes are legal targets; a rename would replace the device itself. */
  struct stat about;
  bool exists = stat(path, &about) == 0;
  stream->direct = exists && !S_ISREG(about.st_mode);
  if (exists && S_ISDIR(about.st_mode)) stream->why = EISDIR;
  if (stream->why) return;
  snprintf(stream->part, sizeof stream->part, "%s.part", path);
  int flags = O_WRONLY | O_CLOEXEC | (stream->direct ? 0 : O_CREAT | O_TRUNC);
  stream->file = open(stream->direct ? path : stream->part, flags, 0666);
  if (stream->file < 0) stream->why = errno;
}

bool stream_put(int file, const void *data, int64_t size) {
  const char *next = data;
  while (size > 0) {
    ssize_t put = write(file, next, (size_t)size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    next += put;
    size -= put;
  }
  return true;
}

static void flush(Stream *stream) {
  if (stream->why == 0 && !stream_put(stream->file, stream->buffer, stream->used)) stream->why = errno;
  stream->used = 0;
}

void stream_write(Stream *stream, const void *data, int64_t size) {
  const char *next = data;
  while (size > 0 && stream->why == 0) {
    int64_t room = STREAM_BUFFER - stream->used;
    int64_t taken = size < room ? size : room;
    memcpy(stream->buffer + stream->used, next, (size_t)taken);
    stream->used += taken;
    next += taken;
    size -= taken;
    if (stream->used == STREAM_BUFFER) flush(stream);
  }
}

void stream_print(Stream *stream, const char *format, ...) {
  char text[4096];
  va_list list;
  va_start(list, format);
  int size = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (size < 0 || size >= (int)sizeof text) {
    if (stream->why == 0) stream->why = EOVERFLOW;
    return;
  }
  stream_write(stream, text, size);
}

Status stream_commit(Core *core, Stream *stream) {
  flush(stream);
  if (stream->file >= 0) {
    if (!stream->direct && stream->why == 0 && fsync(stream->file) != 0) stream->why = errno;
    if (close(stream->file) != 0 && stream->why == 0) stream->why = errno;
    stream->file = -1;
    if (!stream->direct) {
      if (stream->why == 0 && rename(stream->part, stream->path) != 0) stream->why = errno;
      if (stream->why) unlink(stream->part);
    }
  }
  return stream->why ? stream_failed(core, stream->path, stream->why) : SCREE_OK;
}
