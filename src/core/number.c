#include "core/number.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 200 };

static const char *skip_digits(const char *at) {
  while (*at >= '0' && *at <= '9') at++;
  return at;
}

/* Where the number's grammar ends, and where its point is (NULL: none). */
static const char *scan(const char *text, const char **point) {
  const char *at = text + (*text == '-' || *text == '+');
  const char *digits = at;
  *point = NULL;
  at = skip_digits(at);
  int64_t count = at - digits;
  if (*at == '.') {
    *point = at;
    const char *fraction = at + 1;
    at = skip_digits(fraction);
    count += at - fraction;
  }
  if (count == 0) return text;
  if (*at == 'e' || *at == 'E') {
    const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
    const char *end = skip_digits(exponent);
    if (end > exponent) at = end;
  }
  return at;
}

static bool means_infinite(const char *text) {
  if (*text == '-' || *text == '+') text++;
  if (*text == '.') text++;
  return strcasecmp(text, "nan") == 0 || strcasecmp(text, "inf") == 0 || strcasecmp(text, "infinity") == 0;
}

NumberVerdict number_parse(const char *text, double *value) {
  const char *point;
  if (means_infinite(text)) return NUMBER_INFINITE;
  const char *end = scan(text, &point);
  if (end == text || *end || end - text >= LONGEST) return NUMBER_NONE;
  const char *mark = localeconv()->decimal_point;
  char local[LONGEST + 16];
  if (point && strcmp(mark, ".") != 0 && strlen(mark) < 8) {
    snprintf(local, sizeof local, "%.*s%s%s", (int)(point - text), text, mark, point + 1);
    text = local;
  }
  *value = strtod(text, NULL);
  return isfinite(*value) ? NUMBER_GOOD : NUMBER_INFINITE;
}

NumberVerdict number_parse_integer(const char *text, int64_t *value) {
  if (means_infinite(text)) return NUMBER_INFINITE;
  const char *digits = text + (*text == '-' || *text == '+');
  const char *end = skip_digits(digits);
  if (end == digits || *end) return NUMBER_NONE;
  errno = 0;
  long long read = strtoll(text, NULL, 10);
  if (errno == ERANGE) return NUMBER_INFINITE;
  *value = read;
  return NUMBER_GOOD;
}

static void use_point(char *text) {
  const char *mark = localeconv()->decimal_point;
  char *found = strcmp(mark, ".") != 0 ? strstr(text, mark) : NULL;
  if (!found) return;
  *found = '.';
  memmove(found + 1, found + strlen(mark), strlen(found + strlen(mark)) + 1);
}

char *number_print(double value, char text[NUMBER_TEXT]) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
    use_point(text);
    double back;
    if (number_parse(text, &back) != NUMBER_GOOD || back == value) break;
  }
  char *exponent = strchr(text, 'e');
  if (exponent && !strchr(text, '.')) {
    memmove(exponent + 2, exponent, strlen(exponent) + 1);
    memcpy(exponent, ".0", 2);
  }
  return text;
}

char *number_print_short(double value, char text[NUMBER_TEXT]) {
  number_print(value, text);
  char *exponent = strchr(text, 'e');
  size_t length = strlen(text);
  if (exponent) {
    char digits[NUMBER_TEXT];
    snprintf(digits, sizeof digits, "e%d", atoi(exponent + 1));
    if (exponent - text > 2 && exponent[-1] == '0' && exponent[-2] == '.') exponent -= 2;
    snprintf(exponent, NUMBER_TEXT - (size_t)(exponent - text), "%s", digits);
  } else if (!strchr(text, '.')) {
    size_t zeros = 0;
    while (zeros + 1 < length && text[length - 1 - zeros] == '0') zeros++;
    if (zeros >= 4) snprintf(text + length - zeros, NUMBER_TEXT - (length - zeros), "e%zu", zeros);
  }
  return text;
}
