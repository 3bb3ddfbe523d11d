#include "output/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "output/frames.h"
#include "output/stream.h"

static Status cannot_use(Core *core, const char *folder, const char *why) {
  return fail_at(core, SCREE_CANNOT_WRITE, folder, (ScreeSource){0, 0}, "cannot be used as output folder: %s", why);
}

Status folder_check(Core *core, const char *folder) {
  struct stat about;
  if (folder[0] == 0) return fail(core, SCREE_CANNOT_WRITE, "the output folder has no name");
  if (strlen(folder) >= FOLDER_NAME_MAX) return fail(core, SCREE_CANNOT_WRITE, "path is too long: %.100s...", folder);
  if (stat(folder, &about) != 0) return errno == ENOENT ? SCREE_OK : cannot_use(core, folder, strerror(errno));
  if (!S_ISDIR(about.st_mode)) return cannot_use(core, folder, "it is a file");
  return access(folder, W_OK | X_OK) == 0 ? SCREE_OK : cannot_use(core, folder, strerror(errno));
}

Status folder_make(Core *core, const char *folder) {
  TRY(folder_check(core, folder));
  char path[FOLDER_NAME_MAX];
  snprintf(path, sizeof path, "%s", folder);
  for (char *slash = path + 1;; slash++) {
    if (*slash != '/' && *slash != 0) continue;
    bool last = *slash == 0;
    *slash = 0;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) return cannot_use(core, folder, strerror(errno));
    if (last) break;
    *slash = '/';
  }
  return folder_check(core, folder);
}

Status folder_lock(Core *core, const char *folder, int *descriptor) {
  *descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*descriptor < 0) return SCREE_OK; /* may be written but not read */
  if (flock(*descriptor, LOCK_EX | LOCK_NB) == 0) return SCREE_OK;
  bool taken = errno == EWOULDBLOCK;
  close(*descriptor);
  *descriptor = -1;
  return taken ? cannot_use(core, folder, "another run is writing there") : SCREE_OK;
}

static bool ends_with(const char *name, const char *ending) {
  size_t length = strlen(name), tail = strlen(ending);
  return length > tail && strcmp(name + length - tail, ending) == 0;
}

static bool is_result(const char *name) {
  static const char *const results[] = {"scene.yaml",       "report.json", "probes.csv", "bodies.csv",
                                        "checkpoint.scree", "frames.pvd",  "frames.usda"};
  for (size_t k = 0; k < sizeof results / sizeof *results; k++)
    if (strcmp(name, results[k]) == 0) return true;
  return false;
}

static bool is_frame_after(const char *name, int64_t frame) {
  static const char *const kinds[] = {"coarse", "grains", "terrain", "bodies"};
  int64_t number = 0;
  FrameFormat format;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (frame_name_parse(name, kinds[k], &number, &format)) return number > frame;
  return false;
}

/* A file that a run was writing when it was killed: `<name of a result>.part`. */
static bool is_unfinished(const char *name) {
  char whole[256];
  if (!ends_with(name, ".part") || strlen(name) >= sizeof whole) return false;
  snprintf(whole, sizeof whole, "%.*s", (int)(strlen(name) - strlen(".part")), name);
  return is_result(whole) || is_frame_after(whole, -1);
}

Status folder_cut(Core *core, const char *folder, int64_t frame) {
  DIR *directory = opendir(folder);
  if (!directory) return cannot_use(core, folder, strerror(errno));
  Status status = SCREE_OK;
  for (struct dirent *entry = readdir(directory); entry && status == SCREE_OK; entry = readdir(directory)) {
    const char *name = entry->d_name;
    if (!is_frame_after(name, frame) && !is_unfinished(name) && !(frame < 0 && is_result(name))) continue;
    char path[SCREE_FILE_MAX + 256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (unlink(path) != 0 && errno != ENOENT) status = stream_failed(core, path, errno);
  }
  closedir(directory);
  return status;
}

bool folder_same_file(const char *a, const char *b) {
  struct stat first, second;
  return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

Status folder_spare(Core *core, const char *folder, const char *source, const char *text) {
  char *there = NULL, target[SCREE_FILE_MAX];
  int64_t size = 0;
  snprintf(target, sizeof target, "%s/scene.yaml", folder);
  if (!folder_same_file(source, target)) return SCREE_OK;
  TRY(files_read(core, source, INT64_MAX - 1, &there, &size));
  const bool same = strcmp(there, text) == 0;
  memory_drop(core, &there);
  if (same) return SCREE_OK;
  return fail(core, SCREE_BAD_INPUT, "the run would write over its scene %.300s: another folder is needed (-o DIR)",
              source);
}

static bool lies_in(const char *path, const char *folder) {
  char real[PATH_MAX];
  if (!realpath(folder && *folder ? folder : ".", real)) return false;
  size_t length = strlen(real);
  return strncmp(path, real, length) == 0 && path[length] == '/';
}

Status folder_keep_file(Core *core, const char *folder, const char *scene_folder, const char *name, const char *path) {
  if (!lies_in(path, scene_folder) || is_result(name) || is_frame_after(name, -1)) return SCREE_OK;
  char target[SCREE_FILE_MAX], real[PATH_MAX];
  if (snprintf(target, sizeof target, "%s/%s", folder, name) >= (int)sizeof target)
    return fail(core, SCREE_CANNOT_WRITE, "path is too long: %.100s...", target);
  if (realpath(target, real) && strcmp(real, path) == 0) return SCREE_OK; /* the scene is the one beside the frames */
  char *slash = strrchr(target, '/');
  *slash = 0;
  TRY(folder_make(core, target));
  *slash = '/';
  char *data = NULL;
  int64_t size = 0;
  TRY(files_read(core, path, INT64_MAX - 1, &data, &size));
  Status status = files_write(core, target, data, size);
  memory_drop(core, &data);
  return status;
}
