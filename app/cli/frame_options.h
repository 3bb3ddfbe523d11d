/* How compact frames are asked for, the same for run and export. */
#ifndef CLI_FRAME_OPTIONS_H
#define CLI_FRAME_OPTIONS_H

#include "app/cli/options.h"
#include "output/particles_file.h"

enum { COLUMNS_DEFAULT = -1 };

/* The place of a word is the sum of its columns. */
_Static_assert(FRAME_VELOCITY == 1 && FRAME_ID == 2, "the words of --columns are in the order of their bits");
#define COLUMNS_OPTION(name, target)                                                                                   \
  {                                                                                                                    \
    0, (name), OPTION_CHOICE, (target), "none|velocity|id|velocity,id",                                                \
        "what compact frames hold besides position, radius and material (default velocity)", 0, 0                      \
  }

/* False where they are asked for and the frames are no compact ones: *code is the exit code. */
static inline bool columns_check(const char *name, int format, int *columns, int *code) {
  if (format != FRAME_COMPACT && *columns != COLUMNS_DEFAULT) {
    *code = usage_error("%s is for compact frames: the other formats always hold everything", name);
    return false;
  }
  if (*columns == COLUMNS_DEFAULT) *columns = FRAME_VELOCITY;
  return true;
}

#endif
