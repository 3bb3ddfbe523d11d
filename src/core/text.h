/* Text that grows. The first failure sticks; text_finish reports it. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include "core/core.h"

typedef struct Text {
  char *data; /* NUL-terminated, or NULL when nothing was written */
  int64_t length;
  Status status;
} Text;

void text_add(Core *core, Text *text, const char *format, ...) __attribute__((format(printf, 3, 4)));
void text_add_bytes(Core *core, Text *text, const char *bytes, int64_t count);
/* Hands the text over (free with memory_drop, or scree_text_free outside) or frees it and returns the failure. */
Status text_finish(Core *core, Text *text, char **result);

#endif
