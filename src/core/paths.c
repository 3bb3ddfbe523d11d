#define _GNU_SOURCE
#include "core/paths.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A library that is carried about (in a Python wheel) has its data beside it. */
static const char *beside_library(char *path, size_t size) {
  Dl_info found;
  if (!dladdr((const void *)&paths_data, &found) || !found.dli_fname) return "";
  const char *slash = strrchr(found.dli_fname, '/');
  snprintf(path, size, "%.*s/data", slash ? (int)(slash - found.dli_fname) : 1, slash ? found.dli_fname : ".");
  return path;
}

char *paths_data(const char *folder, char *path, size_t size) {
  const char *set = getenv("SCREE_DATA");
  char beside[PATH_MAX];
  const char *places[] = {set ? set : "", beside_library(beside, sizeof beside), SCREE_SOURCE_DATA,
                          SCREE_INSTALLED_DATA};
  struct stat found;
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    if (!*places[k]) continue;
    snprintf(path, size, "%s/%s", places[k], folder);
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode)) return path;
  }
  return path;
}

static bool climbs(const char *file) {
  for (const char *part = file; part; part = strchr(part, '/')) {
    if (*part == '/') part++;
    if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == 0)) return true;
  }
  return false;
}

static bool below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  if (length == 0) return false;
  return strncmp(path, folder, length) == 0 && (path[length] == '/' || folder[length - 1] == '/');
}

Status paths_resolve(Core *core, const char *folder, const char *assets, const char *file, PathsOrigin origin,
                     char *path, size_t size) {
  if (!file || !*file) return fail_at(core, SCREE_BAD_INPUT, origin.scene, origin.at, "the name of a file is empty");
  if (*file == '/' || climbs(file))
    return fail_at(core, SCREE_BAD_INPUT, origin.scene, origin.at,
                   "'%.200s' leaves the folder of the scene: name a file beside the scene or in the shipped assets",
                   file);
  char shipped[PATH_MAX], named[PATH_MAX], real[PATH_MAX];
  char roots[2][PATH_MAX];
  const char *places[2] = {folder && *folder ? folder : ".", assets ? assets : paths_data("assets", shipped, PATH_MAX)};
  for (int k = 0; k < 2; k++)
    if (!realpath(places[k], roots[k])) roots[k][0] = 0;
  for (int k = 0; k < 2; k++) {
    if (!roots[k][0] || snprintf(named, sizeof named, "%s/%s", roots[k], file) >= (int)sizeof named) continue;
    if (!realpath(named, real)) continue;
    if (!below(real, roots[0]) && !below(real, roots[1]) && strcmp(real, roots[k]) != 0)
      return fail_at(core, SCREE_BAD_INPUT, origin.scene, origin.at,
                     "'%.200s' is a link that leaves the folder of the scene", file);
    struct stat about;
    if (stat(real, &about) != 0 || !S_ISREG(about.st_mode))
      return fail_at(core, SCREE_BAD_INPUT, origin.scene, origin.at, "'%.200s' is not a regular file", file);
    if (snprintf(path, size, "%s", real) >= (int)size)
      return fail_at(core, SCREE_BAD_INPUT, origin.scene, origin.at, "the path of '%.200s' is too long", file);
    return SCREE_OK;
  }
  return fail_at(core, SCREE_BAD_INPUT, origin.scene, origin.at,
                 "there is no file '%.200s' beside the scene or in the shipped assets", file);
}
