#include "output/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"

Status stream_failed(Core *core, const char *path, int why) {
  return fail_at(core, SCREE_CANNOT_WRITE, path, (ScreeSource){0, 0}, "cannot be written: %s", strerror(why));
}

void stream_open(Stream *stream, const char *path) {
  stream->end.file = -1;
  stream->end.why = 0;
  stream->used = 0;
  stream->end.part[0] = 0;
  if (snprintf(stream->end.path, sizeof stream->end.path, "%s", path) >= (int)sizeof stream->end.path) {
    stream->end.why = ENAMETOOLONG;
    return;
  }
  /* /dev/stdout and pipes are legal targets; a rename would replace the device itself. */
  struct stat about;
  bool exists = stat(path, &about) == 0;
  stream->end.direct = exists && !S_ISREG(about.st_mode);
  if (exists && S_ISDIR(about.st_mode)) stream->end.why = EISDIR;
  if (stream->end.why) return;
  snprintf(stream->end.part, sizeof stream->end.part, "%s.part", path);
  int flags = O_WRONLY | O_CLOEXEC | (stream->end.direct ? 0 : O_CREAT | O_TRUNC);
  stream->end.file = open(stream->end.direct ? path : stream->end.part, flags, 0666);
  if (stream->end.file < 0) stream->end.why = errno;
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
  if (stream->end.why == 0 && !stream_put(stream->end.file, stream->buffer, stream->used)) stream->end.why = errno;
  stream->used = 0;
}

void stream_write(Stream *stream, const void *data, int64_t size) {
  const char *next = data;
  if (size >= STREAM_BUFFER) { /* large blocks go to the file as they are */
    flush(stream);
    if (stream->end.why == 0 && !stream_put(stream->end.file, data, size)) stream->end.why = errno;
    return;
  }
  while (size > 0 && stream->end.why == 0) {
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
    if (stream->end.why == 0) stream->end.why = EOVERFLOW;
    return;
  }
  stream_write(stream, text, size);
}

StreamEnd stream_detach(Stream *stream) {
  flush(stream);
  return stream->end;
}

int stream_end(StreamEnd *end) {
  if (end->file < 0) return end->why;
  if (!end->direct && end->why == 0 && fsync(end->file) != 0) end->why = errno;
  if (close(end->file) != 0 && end->why == 0) end->why = errno;
  end->file = -1;
  if (end->direct) return end->why;
  if (end->why == 0) end->why = files_rename(end->part, end->path);
  if (end->why) unlink(end->part);
  return end->why;
}

Status stream_commit(Core *core, Stream *stream) {
  StreamEnd end = stream_detach(stream);
  int why = stream_end(&end);
  return why ? stream_failed(core, end.path, why) : SCREE_OK;
}

Status stream_check(Core *core, const char *path) {
  struct stat about;
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) return SCREE_OK; /* a pipe */
  Stream stream;
  stream_open(&stream, path);
  if (stream.end.why) return stream_failed(core, path, stream.end.why);
  close(stream.end.file);
  unlink(stream.end.part);
  return SCREE_OK;
}
