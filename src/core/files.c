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

int files_rename(const char *from, const char *to) {
  char folder[SCREE_FILE_MAX];
  if (rename(from, to) != 0) return errno;
  const char *slash = strrchr(to, '/');
  int length = slash ? (int)(slash - to) : 0;
  if (length == 0) snprintf(folder, sizeof folder, "%s", slash ? "/" : ".");
  else if (snprintf(folder, sizeof folder, "%.*s", length, to) >= (int)sizeof folder) return 0;
  int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return 0; /* a folder that may not be read: the file is there */
  int why = fsync(directory) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
  close(directory);
  return why;
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
  if (good) why = files_rename(temporary, path);
  if (good && why == 0) return SCREE_OK;
  errno = why;
  Status status = cannot_write(core, path);
  unlink(temporary);
  return status;
}
