#include "core/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

char *paths_data(const char *folder, char *path, size_t size) {
  const char *set = getenv("SCREE_DATA");
  const char *places[] = {set ? set : SCREE_SOURCE_DATA, SCREE_SOURCE_DATA, SCREE_INSTALLED_DATA};
  struct stat found;
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    snprintf(path, size, "%s/%s", places[k], folder);
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode)) return path;
  }
  return path;
}
