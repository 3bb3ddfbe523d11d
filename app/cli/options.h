/* Options of a command, from one table: parsing, checking and --help. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum OptionKind {
  OPTION_FLAG,    /* bool */
  OPTION_TEXT,    /* const char * */
  OPTION_LIST,    /* TextList, may be repeated */
  OPTION_INTEGER, /* int64_t */
  OPTION_REAL,    /* double */
  OPTION_CHOICE   /* int: index of the word among `value`, separated by '|' */
} OptionKind;

enum { TEXT_LIST_MAX = 256, ARGUMENTS_MAX = 32 };

typedef struct TextList {
  const char *items[TEXT_LIST_MAX];
  int count;
} TextList;

typedef struct Option {
  char letter; /* `-o`; 0: none */
  const char *name;
  OptionKind kind;
  void *target;
  const char *value; /* what the help calls it, or the words of a choice */
  const char *help;
  double low, high; /* of numbers */
} Option;

typedef struct Usage {
  const char *command;
  const char *arguments; /* "SCENE" */
  const char *summary;   /* one line */
  const char *details;   /* lines before the options; may be "" */
  const char *example;
  const Option *options;
  int option_count;
  int arguments_low, arguments_high;
} Usage;

/* The members of a Usage that its table of options gives, and how many arguments there may be. */
#define USAGE_TABLE(rows, low, high)                                                                                   \
  .options = (rows), .option_count = sizeof(rows) / sizeof *(rows), .arguments_low = (low), .arguments_high = (high)

typedef struct Arguments {
  const char *items[ARGUMENTS_MAX];
  int count;
} Arguments;

/* Fills the targets and the arguments. False: nothing is left to do, *code is the exit code (--help was printed to
 * stdout, or one line about bad usage to stderr). */
bool options_parse(const Usage *usage, int argc, char **argv, Arguments *arguments, int *code);

/* Prints `error: ...` as one line to stderr and returns the exit code of bad usage. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
