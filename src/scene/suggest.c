#include "scene/suggest.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 };

Suggestion suggest_begin(const char *word) { return (Suggestion){.word = word, .distance = INT_MAX}; }

static int least(int a, int b) { return a < b ? a : b; }

/* Edit distance with swaps of neighbours; *prefix: the smallest distance to any beginning of b. Case is ignored. */
static int edit_distance(const char *a, int a_length, const char *b, int b_length, int *prefix) {
  int rows[3][LONGEST + 2];
  int *before = rows[0], *above = rows[1], *row = rows[2];
  for (int j = 0; j <= b_length; j++) above[j] = j;
  for (int i = 1; i <= a_length; i++) {
    row[0] = i;
    for (int j = 1; j <= b_length; j++) {
      int other = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
      row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + other);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = least(row[j], before[j - 2] + 1);
    }
    int *spare = before;
    before = above;
    above = row;
    row = spare;
  }
  *prefix = INT_MAX;
  for (int j = 0; j <= b_length; j++) *prefix = least(*prefix, above[j]);
  return above[b_length];
}

void suggest_offer(Suggestion *suggestion, const char *candidate) {
  size_t length = strlen(suggestion->word), other = strlen(candidate);
  if (length == 0 || other == 0 || length > LONGEST || other > LONGEST) return;
  int prefix;
  int distance = edit_distance(suggestion->word, (int)length, candidate, (int)other, &prefix);
  int most = length < 4 ? 1 : (int)length / 3;
  /* `fricton` means friction_static more than any short word as many letters away. */
  if (length >= 4) distance = least(distance, prefix + 1);
  if (distance <= most + (length >= 4 && prefix < distance) && distance < suggestion->distance) {
    suggestion->distance = distance;
    suggestion->best = candidate;
  }
}

const char *suggest_text(const Suggestion *suggestion, char text[SUGGEST_TEXT]) {
  text[0] = 0;
  if (suggestion->best) snprintf(text, SUGGEST_TEXT, " (did you mean '%s'?)", suggestion->best);
  return text;
}
