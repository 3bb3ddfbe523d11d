/* `did you mean ...`: the known word nearest to an unknown one. */
#ifndef SCENE_SUGGEST_H
#define SCENE_SUGGEST_H

#include <stddef.h>

typedef struct Suggestion {
  const char *word; /* the unknown one */
  const char *best; /* NULL: none is near */
  int distance;
} Suggestion;

Suggestion suggest_begin(const char *word);
void suggest_offer(Suggestion *suggestion, const char *candidate);
/* ` (did you mean 'x'?)`, or nothing. */
enum { SUGGEST_TEXT = 128 };
const char *suggest_text(const Suggestion *suggestion, char text[SUGGEST_TEXT]);

#endif
