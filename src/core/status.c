#include <stdio.h>

#include "scree/types.h"

int scree_exit_code(ScreeStatus status) {
  switch (status) {
  case SCREE_OK: return 0;
  case SCREE_FAILED:
  case SCREE_NO_MEMORY: return 1;
  case SCREE_BAD_ARGUMENT:
  case SCREE_BAD_INPUT: return 2;
  case SCREE_CANNOT_WRITE: return 3;
  case SCREE_INTERRUPTED: return 130;
  }
  return 1;
}

char *scree_error_line(const ScreeError *error, char *text, size_t size) {
  if (error->file[0] && error->line > 0)
    snprintf(text, size, "%s:%d:%d: error: %s", error->file, error->line, error->column, error->message);
  else if (error->file[0]) snprintf(text, size, "%s: error: %s", error->file, error->message);
  else snprintf(text, size, "error: %s", error->message);
  return text;
}

const char *scree_version(void) { return SCREE_VERSION; }
