/* Where the shipped scenes and assets are, and which files a scene may name. */
#ifndef CORE_PATHS_H
#define CORE_PATHS_H

#include <stddef.h>

#include "core/core.h"

/* Writes DATA/<folder> for folder "scenes" or "assets": `data` beside the library when it exists, else the build tree's
 * source folder, else the installed data; the environment variable SCREE_DATA wins. Returns path. */
char *paths_data(const char *folder, char *path, size_t size);

/* Who names a file: for messages. */
typedef struct PathsOrigin {
  const char *scene; /* file that names it; may be NULL */
  ScreeSource at;
} PathsOrigin;

/* Resolves a file name that a scene (or a file of a scene) holds to a path that may be read: a regular file below
 * `folder` (NULL: the current one) or below `assets` (NULL: the shipped ones), in that order. Absolute names, names
 * that climb out with `..` and links that leave both folders are refused. The path has no links left in it. */
Status paths_resolve(Core *core, const char *folder, const char *assets, const char *file, PathsOrigin origin,
                     char *path, size_t size);

#endif
