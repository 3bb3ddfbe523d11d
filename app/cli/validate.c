/* scree validate: published laws, measured with every method. */
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/scene_arguments.h"
#include "app/validate/validate.h"
#include "output/output.h"
#include "scene/suggest.h"

static const char *details_text(char text[4096]) {
  int used = snprintf(text, 4096, "LAW is one of (all of them unless given)");
  for (int k = 0; validate_law_name(k) && used < 3900; k++)
    used += snprintf(text + used, 4096 - (size_t)used, "\n  %-10s %s", validate_law_name(k), validate_law_title(k));
  snprintf(
      text + used, 4096 - (size_t)used,
      "\nPrints measured, law, band and verdict; writes FOLDER/report.json and plots. Exit code 1: a band is missed.\n"
      "All laws take about an hour on two cores, --quick half a minute, --fine many hours.");
  return text;
}

static bool choose_law(ValidateOptions *options, const char *name) {
  char text[SUGGEST_TEXT];
  Suggestion suggestion = suggest_begin(name);
  for (int k = 0; validate_law_name(k); k++) {
    suggest_offer(&suggestion, validate_law_name(k));
    if (strcmp(validate_law_name(k), name) != 0) continue;
    for (int before = 0; before < options->law_count; before++)
      if (options->laws[before] == k) return true;
    options->laws[options->law_count++] = k;
    return true;
  }
  usage_error("unknown law '%s'%s; scree validate --help lists them", name, suggest_text(&suggestion, text));
  return false;
}

/* Of --methods; methods that simulate nothing have no laws. */
static bool choose_method(ValidateOptions *options, const char *name, size_t length) {
  char text[SUGGEST_TEXT], word[48];
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), name);
  Suggestion suggestion = suggest_begin(word);
  for (int32_t k = 0; k < scree_method_count(); k++) {
    const ScreeMethodInfo *info = scree_method_info(k);
    if (!info->paper[0]) continue;
    suggest_offer(&suggestion, info->name);
    if (strcmp(info->name, word) != 0) continue;
    for (int before = 0; before < options->method_count; before++)
      if (strcmp(options->methods[before], word) == 0) return true;
    if (options->method_count < VALIDATE_METHODS) options->methods[options->method_count++] = info->name;
    return true;
  }
  usage_error("unknown method '%s'%s; scree list methods names them", word, suggest_text(&suggestion, text));
  return false;
}

static bool choose(ValidateOptions *options, const Arguments *laws, const char *methods) {
  for (int k = 0; k < laws->count; k++)
    if (!choose_law(options, laws->items[k])) return false;
  for (int k = 0; laws->count == 0 && validate_law_name(k); k++) options->laws[options->law_count++] = k;
  for (int32_t k = 0; !methods && k < scree_method_count(); k++)
    if (scree_method_info(k)->paper[0] && options->method_count < VALIDATE_METHODS)
      options->methods[options->method_count++] = scree_method_info(k)->name;
  for (const char *at = methods; at && *at;) {
    size_t length = strcspn(at, ",");
    if (!choose_method(options, at, length)) return false;
    at += length + (at[length] == ',');
  }
  if (options->method_count) return true;
  usage_error("--methods names no method");
  return false;
}

static bool asked_to_stop(void *context) {
  (void)context;
  return interrupt_asked();
}

int command_validate(int argc, char **argv) {
  ValidateOptions chosen = {.folder = "out/validate", .stopped = asked_to_stop};
  const char *methods = NULL;
  int64_t threads = 0;
  char details[4096];
  const Option options[] = {
      {0, "--methods", OPTION_TEXT, &methods, "A,B,...", "methods to measure (default: all there are)", 0, 0},
      {0, "--fine", OPTION_FLAG, &chosen.fine, NULL, "at twice the resolution", 0, 0},
      {0, "--quick", OPTION_FLAG, &chosen.quick, NULL, "a few small cases: tries everything out", 0, 0},
      {0, "--threads", OPTION_INTEGER, &threads, "N", "runs side by side (default 0: one per core)", 0, 256},
      {'o', "--output", OPTION_TEXT, &chosen.folder, "DIR", "where report and plots go (default out/validate)", 0, 0},
      {'q', "--quiet", OPTION_FLAG, &chosen.quiet, NULL, "print the table only", 0, 0}};
  const Usage usage = {.command = "validate",
                       .arguments = "[LAW...]",
                       .summary = "measure published laws with every method",
                       .details = details_text(details),
                       .example = "scree validate heap collapse --methods pbd,dem",
                       USAGE_TABLE(options, 0, ARGUMENTS_MAX)};
  Arguments laws;
  int code, missed = 0;
  if (!options_parse(&usage, argc, argv, &laws, &code)) return code;
  chosen.threads = (int)threads;
  if (chosen.fine && chosen.quick) return usage_error("--fine and --quick exclude each other");
  if (!choose(&chosen, &laws, methods)) return EXIT_USAGE;
  interrupt_watch();
  ScreeError error;
  ScreeStatus status = output_make_folder(chosen.folder, &error); /* before an hour has passed */
  if (status == SCREE_OK) status = validate_run(&chosen, &missed, &error);
  if (status != SCREE_OK) return print_error(&error);
  return missed ? scree_exit_code(SCREE_FAILED) : 0;
}
