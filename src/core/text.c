#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_add_bytes(Core *core, Text *text, const char *bytes, int64_t count) {
  if (text->status == SCREE_OK) text->status = memory_grow(core, &text->data, text->length + count + 1, "text");
  if (text->status != SCREE_OK) return;
  memcpy(text->data + text->length, bytes, (size_t)count);
  text->length += count;
  text->data[text->length] = 0;
}

void text_add(Core *core, Text *text, const char *format, ...) {
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  int count = vsnprintf(NULL, 0, format, list);
  va_end(list);
  if (count < 0) text->status = fail(core, SCREE_FAILED, "text cannot be formatted");
  if (text->status == SCREE_OK) text->status = memory_grow(core, &text->data, text->length + count + 1, "text");
  if (text->status == SCREE_OK) {
    vsnprintf(text->data + text->length, (size_t)count + 1, format, again);
    text->length += count;
  }
  va_end(again);
}

Status text_finish(Core *core, Text *text, char **result) {
  if (text->status == SCREE_OK && !text->data) text_add_bytes(core, text, "", 0);
  if (text->status != SCREE_OK) memory_drop(core, &text->data);
  *result = text->data;
  return text->status;
}
