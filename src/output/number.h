/* Numbers as text: the fewest digits that read back as the same double. */
#ifndef OUTPUT_NUMBER_H
#define OUTPUT_NUMBER_H

enum { NUMBER_TEXT = 32 };

typedef struct NumberText {
  char text[NUMBER_TEXT];
} NumberText;

/* As a spreadsheet reads it: `nan`, `inf`. */
NumberText number_csv(double value);
/* As JSON has it: what is not finite is null. */
NumberText number_json(double value);

#endif
