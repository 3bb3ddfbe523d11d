/* scree list: what there is. */
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/scene_arguments.h"
#include "scene/suggest.h"

static int list_methods(void) {
  for (int32_t k = 0; k < scree_method_count(); k++) {
    const ScreeMethodInfo *method = scree_method_info(k);
    printf("%-6s %-20s %s\n", method->name, method->paper, method->summary);
  }
  return 0;
}

static int print_scene(void *context, const char *name, const char *path, const char *title) {
  (void)context, (void)path;
  return printf("%-40s %s\n", name, title) < 0;
}

static int list_scenes(void) {
  ScreeError error;
  return scree_scene_list(print_scene, NULL, &error) == SCREE_OK ? 0 : print_error(&error);
}

static const char *kind_name(ScreeParameterKind kind) {
  static const char *const names[] = {"number",       "whole number", "true or false", "[x, y]", "[x, y, z]",
                                      "[w, x, y, z]", "text",         "name",          "file",   "one of"};
  return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "";
}

static bool has_range(const ScreeParameter *parameter) { return parameter->low < parameter->high; }

enum { READERS_TEXT = 200 };

static void print_parameter(const ScreeParameter *parameter) {
  char name[96], range[64] = "";
  const bool top = strcmp(parameter->section, "scene") == 0; /* as --set wants it, without a section */
  snprintf(name, sizeof name, "%s%s%s", top ? "" : parameter->section, top ? "" : ".", parameter->name);
  if (has_range(parameter)) snprintf(range, sizeof range, ", %g to %g", parameter->low, parameter->high);
  printf("%-32s %s%s%s%s, default %s", name, kind_name(parameter->kind), parameter->unit[0] ? " " : "", parameter->unit,
         range, parameter->default_text[0] ? parameter->default_text : "\"\"");
  char readers[READERS_TEXT];
  if (*scree_parameter_readers(parameter, readers, sizeof readers)) printf(" [%s]", readers);
  printf("\n%-32s   %s\n", "", parameter->help);
}

static int list_parameters(void) {
  for (int32_t k = 0; k < scree_parameter_count(); k++) print_parameter(scree_parameter(k));
  return 0;
}

/* `key: help` of a key of probes; a shape is no row of theirs but has a section of its own. */
static void print_probe_key(const char *key) {
  const char *help = "{min: [x, y, z], max: [x, y, z]}", *unit = "m";
  for (int32_t k = 0; k < scree_parameter_count(); k++) {
    const ScreeParameter *row = scree_parameter(k);
    if (strcmp(row->section, "probe") != 0 || strcmp(row->name, key) != 0) continue;
    help = row->help;
    unit = row->unit;
  }
  printf("%-20s %s: %s%s%s\n", "", key, help, unit[0] ? ", " : "", unit);
}

static int list_probes(void) {
  for (int32_t kind = 0; kind < SCREE_PROBE_KINDS; kind++) {
    const ScreeProbeInfo *probe = scree_probe_info(kind);
    printf("%-14s %-5s %s\n%-20s columns: <name>%s\n", probe->kind, probe->unit, probe->help, "", probe->columns);
    char key[64];
    for (const char *at = probe->keys; *at; at += strspn(at, " ")) {
      snprintf(key, sizeof key, "%.*s", (int)strcspn(at, " "), at);
      print_probe_key(key);
      at += strlen(key);
    }
  }
  return 0;
}

static int list_devices(void) {
  printf("%-10s the processor\n", "cpu");
  for (int32_t k = 0; k < scree_device_count(); k++) {
    ScreeDeviceInfo info;
    if (scree_device_info(k, &info) != SCREE_OK) continue;
    printf("opencl:%-3d %s, %.0f MB (%.0f MB in one piece), driver %s, %s%s\n", k, info.name,
           (double)info.memory_bytes / 1048576, (double)info.buffer_bytes / 1048576, info.driver, info.version,
           info.exact ? "" : "; rounds otherwise than the CPU: bits differ");
  }
  return 0;
}

static const struct {
  const char *name;
  int (*function)(void);
} lists[] = {{"methods", list_methods},
             {"scenes", list_scenes},
             {"parameters", list_parameters},
             {"probes", list_probes},
             {"devices", list_devices}};

int command_list(int argc, char **argv) {
  const Usage usage = {.command = "list",
                       .arguments = "methods|scenes|parameters|probes|devices",
                       .summary = "what this build has",
                       .details = "",
                       .example = "scree list parameters",
                       .arguments_low = 1,
                       .arguments_high = 1};
  Arguments arguments;
  int code;
  if (!options_parse(&usage, argc, argv, &arguments, &code)) return code;
  Suggestion suggestion = suggest_begin(arguments.items[0]);
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    if (strcmp(arguments.items[0], lists[k].name) == 0) return lists[k].function();
    suggest_offer(&suggestion, lists[k].name);
  }
  char text[SUGGEST_TEXT];
  return usage_error("there is no list of '%s'%s: %s", arguments.items[0], suggest_text(&suggestion, text),
                     usage.arguments);
}
