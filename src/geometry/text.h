/* A reader of text files: words and numbers with their line and column, free of locales, never past the end. */
#ifndef GEOMETRY_TEXT_H
#define GEOMETRY_TEXT_H

#include "core/core.h"

typedef struct Text {
  Core *core;
  const char *name; /* of the file, for messages */
  const char *at, *end;
  const char *line_begin; /* where the current line starts, for columns */
  int line;               /* counts from 1 */
} Text;

void text_begin(Text *text, Core *core, const char *name, const void *data, int64_t size);

/* SCREE_BAD_INPUT at the current place. */
Status text_fail(const Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool text_is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
static inline bool text_is_break(char c) { return c == '\n' || c == '\r'; }

/* Skips blanks and escaped line breaks; true when something is left on the line. */
bool text_skip_blanks(Text *text);
/* Skips to the first character of the next line; CR, LF and CRLF all end one. An escaped break does not. */
void text_next_line(Text *text);
/* Skips blanks and line breaks; true when something is left in the file. */
bool text_skip_space(Text *text);

/* The word here, without skipping anything first; returns its length and steps over it. */
int64_t text_word(Text *text, const char **word);
/* Whether the word of that length is `expected`, in lower-case letters, in any case. */
bool text_is(const char *word, int64_t length, const char *expected);

/* A finite number here (blanks must be skipped). The result is within one unit in the last place. */
Status text_number(Text *text, double *value);
/* A whole number; stops at the first character that is no digit. */
Status text_integer(Text *text, int64_t *value);

#endif
