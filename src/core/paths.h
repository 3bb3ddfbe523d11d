/* Where the shipped scenes and assets are: the build tree's source folder when it exists, else the installed data. */
#ifndef CORE_PATHS_H
#define CORE_PATHS_H

#include <stddef.h>

/* Writes DATA/<folder> for folder "scenes" or "assets"; the environment variable SCREE_DATA wins. Returns path. */
char *paths_data(const char *folder, char *path, size_t size);

#endif
