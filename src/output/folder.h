/* The folder itself: making it, and taking away what a run may replace. */
#ifndef OUTPUT_FOLDER_H
#define OUTPUT_FOLDER_H

#include "core/core.h"

/* Longest folder name, so that every file in it stays below SCREE_FILE_MAX. */
enum { FOLDER_NAME_MAX = SCREE_FILE_MAX - 48 };

/* SCREE_CANNOT_WRITE when something else is there by that name, or it may not be written. */
Status folder_check(Core *core, const char *folder);
Status folder_make(Core *core, const char *folder);
/* Keeps other processes from writing a run there too, until the descriptor is closed or the process ends; -1 where the
 * file system knows no locks. SCREE_CANNOT_WRITE when another run has it. */
Status folder_lock(Core *core, const char *folder, int *descriptor);
/* SCREE_BAD_INPUT where the scene file `source` is the folder's scene.yaml and says something else than `text`, which a
 * run writes there: what is read is not written over. */
Status folder_spare(Core *core, const char *folder, const char *source, const char *text);
/* Whether two paths lead to one file. */
bool folder_same_file(const char *a, const char *b);
/* Removes frame files later than `frame` and unfinished files; -1: all frames, and the other results of a run too. */
Status folder_cut(Core *core, const char *folder, int64_t frame);
/* Copies the file at `path`, which the scene in `scene_folder` names, so that the scene beside the frames finds it by
 * the same name. What lies in the shipped assets is found anyhow; names of a run's own files are left to the run. */
Status folder_keep_file(Core *core, const char *folder, const char *scene_folder, const char *name, const char *path);

#endif
