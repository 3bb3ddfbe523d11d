#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Status cannot_read(Core *core, const char *path, const char *why) {
  return fail_at(core, SCREE_BAD_INPUT, path, (ScreeSource){0, 0}, "cannot be read: %s", why);
}

Status files_read(Core *core, const char *path, int64_t most, char **data, int64_t *size) {
  *data = NULL;
  *size = 0;
  /* O_NONBLOCK: opening a pipe that nobody writes to must not wait for ever. */
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return cannot_read(core, path, strerror(errno));
  struct stat about;
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(file);
    return cannot_read(core, path, "not a regular file");
  }
  if (about.st_size > most) {
    close(file);
    return fail_at(core, SCREE_BAD_INPUT, path, (ScreeSource){0, 0}, "has %lld bytes, at most %lld are read",
                   (long long)about.st_size, (long long)most);
  }
  Status status = memory_new(core, data, about.st_size + 1, "file");
  int64_t have = 0;
  while (status == SCREE_OK && have < about.st_size) {
    ssize_t got = read(file, *data + have, (size_t)(about.st_size - have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) status = cannot_read(core, path, strerror(errno));
    if (got <= 0) break;
    have += got;
  }
  close(file);
  if (status != SCREE_OK) memory_drop(core, data);
  *size = status == SCREE_OK ? have : 0;
  return status;
}

static Status cannot_write(Core *core, const char *path) {
  return fail_at(core, SCREE_CANNOT_WRITE, path, (ScreeSource){0, 0}, "cannot be written: %s", strerror(errno));
}

Status files_write(Core *core, const char *path, const void *data, int64_t size) {
  char temporary[SCREE_FILE_MAX + 16];
  if (snprintf(temporary, sizeof temporary, "%s.part", path) >= (int)sizeof temporary)
    return fail(core, SCREE_CANNOT_WRITE, "path is too long: %.100s...", path);
  int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return cannot_write(core, path);
  int64_t done = 0;
  while (done < size) {
    ssize_t put = write(file, (const char *)data + done, (size_t)(size - done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) break;
    done += put;
  }
  bool good = done == size && fsync(file) == 0;
  int why = errno;
  if (close(file) != 0 && good) {
    good = false;
    why = errno;
  }
  if (good && rename(temporary, path) == 0) return SCREE_OK;
  if (!good) errno = why;
  Status status = cannot_write(core, path);
  unlink(temporary);
  return status;
}
