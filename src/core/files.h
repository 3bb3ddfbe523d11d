/* Whole files: read with a bound, written so that they appear under their name only when complete. */
#ifndef CORE_FILES_H
#define CORE_FILES_H

#include "core/core.h"

/* Reads a regular file of at most `most` bytes; *data is NUL-terminated and freed with memory_drop. Directories,
 * pipes and devices are refused (SCREE_BAD_INPUT). */
Status files_read(Core *core, const char *path, int64_t most, char **data, int64_t *size);

/* Gives a file its name and syncs the folder, so that the name outlives a crash of the machine. 0, or errno. */
int files_rename(const char *from, const char *to);

/* Writes beside the target, syncs and renames; an earlier file of that name is replaced at once or kept whole. */
Status files_write(Core *core, const char *path, const void *data, int64_t size);

#endif
