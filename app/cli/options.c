#include "app/cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/commands.h"
#include "scene/suggest.h"

int usage_error(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("error: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  return EXIT_USAGE;
}

/* ---- help ---- */

static void print_option(const Option *option) {
  char left[64];
  int used =
      option->letter ? snprintf(left, sizeof left, "-%c, ", option->letter) : snprintf(left, sizeof left, "    ");
  snprintf(left + used, sizeof left - (size_t)used, "%s%s%s", option->name, option->value ? " " : "",
           option->value ? option->value : "");
  printf("  %-34s %s\n", left, option->help);
}

static void print_help(const Usage *usage) {
  printf("scree %s: %s\n\nusage: scree %s %s%s\n", usage->command, usage->summary, usage->command, usage->arguments,
         usage->option_count > 0 ? " [options]" : "");
  if (usage->details[0]) printf("\n%s\n", usage->details);
  printf("\noptions:\n");
  for (int k = 0; k < usage->option_count; k++) print_option(&usage->options[k]);
  printf("  %-34s %s\n", "-h, --help", "this text");
  printf("\nexample:\n  %s\n", usage->example);
}

/* ---- values ---- */

static int expected(const char *name, const char *value, const char *what) {
  return usage_error("%s '%s': expected %s", name, value, what);
}

static int set_integer(const Option *option, const char *value) {
  char *end;
  char what[96];
  errno = 0;
  long long number = strtoll(value, &end, 10);
  snprintf(what, sizeof what, "a whole number from %.0f to %.0f", option->low, option->high);
  /* Limits are whole and below 2^63: as whole numbers they are exact. */
  if (end == value || *end || errno || number < (long long)option->low || number > (long long)option->high)
    return expected(option->name, value, what);
  *(int64_t *)option->target = number;
  return 0;
}

static int set_real(const Option *option, const char *value) {
  char *end;
  char what[96];
  double number = strtod(value, &end);
  snprintf(what, sizeof what, "a number from %g to %g", option->low, option->high);
  if (end == value || *end || !isfinite(number) || number < option->low || number > option->high)
    return expected(option->name, value, what);
  *(double *)option->target = number;
  return 0;
}

static int set_choice(const Option *option, const char *value) {
  size_t length = strlen(value);
  int index = 0;
  for (const char *word = option->value; word; index++) {
    size_t size = strcspn(word, "|");
    if (size == length && strncmp(word, value, size) == 0) {
      *(int *)option->target = index;
      return 0;
    }
    word = word[size] ? word + size + 1 : NULL;
  }
  return usage_error("%s '%s': expected one of %s", option->name, value, option->value);
}

static int add_to_list(const Option *option, const char *value) {
  TextList *list = option->target;
  if (list->count == TEXT_LIST_MAX) return usage_error("%s: more than %d of them", option->name, TEXT_LIST_MAX);
  list->items[list->count++] = value;
  return 0;
}

static int set_option(const Option *option, const char *value) {
  switch (option->kind) {
  case OPTION_FLAG: *(bool *)option->target = true; return 0;
  case OPTION_TEXT: *(const char **)option->target = value; return 0;
  case OPTION_LIST: return add_to_list(option, value);
  case OPTION_INTEGER: return set_integer(option, value);
  case OPTION_REAL: return set_real(option, value);
  case OPTION_CHOICE: return set_choice(option, value);
  }
  return 0;
}

/* ---- words of the command line ---- */

/* The option that a word names, and the value that is glued to it (`--name=value`, `-ovalue`), if any. */
static const Option *find_option(const Usage *usage, const char *word, const char **glued) {
  *glued = NULL;
  for (int k = 0; k < usage->option_count; k++) {
    const Option *option = &usage->options[k];
    size_t length = strlen(option->name);
    if (strncmp(word, option->name, length) == 0 && (word[length] == 0 || word[length] == '=')) {
      if (word[length] == '=') *glued = word + length + 1;
      return option;
    }
    if (option->letter && word[0] == '-' && word[1] == option->letter) {
      if (word[2]) *glued = word + 2;
      return option;
    }
  }
  return NULL;
}

static int unknown_option(const Usage *usage, const char *word) {
  char name[64], text[SUGGEST_TEXT];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
  Suggestion suggestion = suggest_begin(name);
  for (int k = 0; k < usage->option_count; k++) suggest_offer(&suggestion, usage->options[k].name);
  suggest_offer(&suggestion, "--help");
  return usage_error("unknown option '%s' of scree %s%s", name, usage->command, suggest_text(&suggestion, text));
}

/* Takes one option and its value; *at moves to the last word used. */
static int take_option(const Usage *usage, int argc, char **argv, int *at) {
  const char *value;
  const Option *option = find_option(usage, argv[*at], &value);
  if (!option) return unknown_option(usage, argv[*at]);
  if (option->kind == OPTION_FLAG) {
    if (value) return usage_error("option '%s' takes no value", option->name);
  } else if (!value) {
    if (*at + 1 >= argc) return usage_error("option '%s' needs a value: %s", argv[*at], option->value);
    value = argv[++*at];
  }
  return set_option(option, value);
}

static int check_arguments(const Usage *usage, const Arguments *arguments) {
  if (arguments->count >= usage->arguments_low) return 0;
  return usage_error("usage: scree %s %s (see scree %s --help)", usage->command, usage->arguments, usage->command);
}

static bool asks_for_help(int argc, char **argv) {
  for (int k = 1; k < argc && strcmp(argv[k], "--") != 0; k++)
    if (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0) return true;
  return false;
}

bool options_parse(const Usage *usage, int argc, char **argv, Arguments *arguments, int *code) {
  arguments->count = 0;
  *code = 0;
  if (asks_for_help(argc, argv)) {
    print_help(usage);
    return false;
  }
  bool words_only = false;
  for (int at = 1; at < argc && *code == 0; at++) {
    const char *word = argv[at];
    if (!words_only && strcmp(word, "--") == 0) words_only = true;
    else if (!words_only && word[0] == '-' && word[1]) *code = take_option(usage, argc, argv, &at);
    else if (arguments->count < usage->arguments_high) arguments->items[arguments->count++] = word;
    else *code = usage_error("'%s' is one argument too many for scree %s", word, usage->command);
  }
  if (*code == 0) *code = check_arguments(usage, arguments);
  return *code == 0;
}
