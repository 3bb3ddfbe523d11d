/* Numbers to text and back, whatever the locale of the program around us says about decimal points. */
#ifndef CORE_NUMBER_H
#define CORE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUMBER_TEXT = 40 };

typedef enum NumberVerdict {
  NUMBER_GOOD,
  NUMBER_NONE,     /* not a decimal number, or something follows it */
  NUMBER_INFINITE, /* a word or an overflow that means NaN or infinity */
} NumberVerdict;

/* The whole text must be one decimal number: digits, point, exponent; no blanks, no hexadecimal, no letters. */
NumberVerdict number_parse(const char *text, double *value);
NumberVerdict number_parse_integer(const char *text, int64_t *value);

/* The shortest text that number_parse reads back to the same bits; with an exponent it has a point too, because YAML
 * readers elsewhere take 1e-05 for a word. Returns text. */
char *number_print(double value, char text[NUMBER_TEXT]);
/* The same number for people: 1e6, 1e-6, 0.25. */
char *number_print_short(double value, char text[NUMBER_TEXT]);

#endif
