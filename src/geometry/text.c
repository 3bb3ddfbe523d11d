#include "geometry/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void text_begin(Text *text, Core *core, const char *name, const void *data, int64_t size) {
  *text =
      (Text){.core = core, .name = name, .at = data, .end = (const char *)data + size, .line_begin = data, .line = 1};
}

Status text_fail(const Text *text, const char *format, ...) {
  char message[SCREE_MESSAGE_MAX];
  va_list list;
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  ScreeSource at = {text->line,
                    (int)(text->at - text->line_begin < 1000000 ? text->at - text->line_begin + 1 : 1000000)};
  return fail_at(text->core, SCREE_BAD_INPUT, text->name, at, "%s", message);
}

/* Steps over one line break, whatever its spelling. */
static void pass_break(Text *text) {
  char c = *text->at++;
  if (c == '\r' && text->at < text->end && *text->at == '\n') text->at++;
  text->line_begin = text->at;
  text->line++;
}

static bool escaped_break(const Text *text) {
  return *text->at == '\\' && text->at + 1 < text->end && text_is_break(text->at[1]);
}

bool text_skip_blanks(Text *text) {
  while (text->at < text->end) {
    if (text_is_blank(*text->at)) {
      text->at++;
    } else if (escaped_break(text)) {
      text->at++;
      pass_break(text);
    } else {
      return !text_is_break(*text->at);
    }
  }
  return false;
}

void text_next_line(Text *text) {
  while (text->at < text->end) {
    if (text_is_break(*text->at)) {
      pass_break(text);
      return;
    }
    if (escaped_break(text)) {
      text->at++;
      pass_break(text);
    } else {
      text->at++;
    }
  }
}

bool text_skip_space(Text *text) {
  while (text->at < text->end) {
    if (text_is_blank(*text->at)) text->at++;
    else if (text_is_break(*text->at)) pass_break(text);
    else return true;
  }
  return false;
}

int64_t text_word(Text *text, const char **word) {
  *word = text->at;
  while (text->at < text->end && !text_is_blank(*text->at) && !text_is_break(*text->at)) text->at++;
  return text->at - *word;
}

bool text_is(const char *word, int64_t length, const char *expected) {
  for (int64_t k = 0; k < length; k++) {
    char c = word[k];
    if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
    if (expected[k] == '\0' || c != expected[k]) return false;
  }
  return expected[length] == '\0';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* 10^e by squaring, in long double: 64 bits of mantissa leave a double's last place right almost always. */
static long double power_of_ten(int e) {
  long double result = 1, base = 10;
  for (unsigned n = (unsigned)(e < 0 ? -e : e); n; n >>= 1) {
    if (n & 1) result *= base;
    base *= base;
  }
  return result;
}

static double decimal(uint64_t mantissa, int exponent) {
  static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (mantissa == 0) return 0;
  /* Both factors are exact doubles, so one rounding gives the nearest. */
  if (mantissa < (1ull << 53) && exponent >= -22 && exponent <= 22)
    return exponent < 0 ? (double)mantissa / exact[-exponent] : (double)mantissa * exact[exponent];
  if (exponent > 400) return INFINITY;
  if (exponent < -400) return 0;
  long double power = power_of_ten(exponent);
  return (double)(exponent < 0 ? (long double)mantissa / power : (long double)mantissa * power);
}

/* At most 19 digits go into the mantissa; the others only move the point. */
static int read_digits(Text *text, uint64_t *mantissa, int *taken) {
  int digits = 0;
  while (text->at < text->end && is_digit(*text->at)) {
    if (*taken < 19) {
      *mantissa = *mantissa * 10 + (uint64_t)(*text->at - '0');
      if (*mantissa > 0) ++*taken;
      digits++;
    }
    text->at++;
  }
  return digits;
}

Status text_number(Text *text, double *value) {
  const char *begin = text->at;
  bool negative = false;
  if (text->at < text->end && (*text->at == '-' || *text->at == '+')) negative = *text->at++ == '-';
  uint64_t mantissa = 0;
  int taken = 0, exponent = 0;
  const char *whole = text->at;
  int used = read_digits(text, &mantissa, &taken);
  int64_t whole_digits = text->at - whole, fraction_digits = 0;
  if (whole_digits - used > 10000) whole_digits = used + 10000;
  exponent = (int)(whole_digits - used);
  if (text->at < text->end && *text->at == '.') {
    const char *fraction = ++text->at;
    exponent -= read_digits(text, &mantissa, &taken);
    fraction_digits = text->at - fraction;
  }
  bool good = whole_digits + fraction_digits > 0;
  if (good && text->at < text->end && (*text->at == 'e' || *text->at == 'E')) {
    text->at++;
    bool down = false;
    if (text->at < text->end && (*text->at == '-' || *text->at == '+')) down = *text->at++ == '-';
    good = text->at < text->end && is_digit(*text->at);
    int power = 0;
    for (; text->at < text->end && is_digit(*text->at); text->at++)
      if (power < 100000) power = power * 10 + (*text->at - '0');
    exponent += down ? -power : power;
  }
  if (good && text->at < text->end && !text_is_blank(*text->at) && !text_is_break(*text->at)) good = false;
  double result = good ? decimal(mantissa, exponent) : 0;
  if (good && isfinite(result)) {
    *value = negative ? -result : result;
    return SCREE_OK;
  }
  text->at = begin;
  const char *word;
  int64_t length = text_word(text, &word);
  text->at = begin;
  if (length == 0) return text_fail(text, "a number is missing");
  return text_fail(text, "'%.*s' is not a finite number", (int)(length < 40 ? length : 40), word);
}

Status text_integer(Text *text, int64_t *value) {
  const char *begin = text->at;
  bool negative = false;
  if (text->at < text->end && (*text->at == '-' || *text->at == '+')) negative = *text->at++ == '-';
  uint64_t mantissa = 0;
  int taken = 0;
  const char *first = text->at;
  int used = read_digits(text, &mantissa, &taken);
  if (used == 0 || text->at - first > used || mantissa > INT64_MAX) {
    text->at = begin;
    return text_fail(text, used == 0 ? "a whole number is missing" : "this whole number is too large");
  }
  *value = negative ? -(int64_t)mantissa : (int64_t)mantissa;
  return SCREE_OK;
}
