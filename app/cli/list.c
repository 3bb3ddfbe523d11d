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

static void print_parameter(const ScreeParameter *parameter) {
  char name[96], range[64] = "";
  snprintf(name, sizeof name, "%s.%s", parameter->section, parameter->name);
  if (has_range(parameter)) snprintf(range, sizeof range, ", %g to %g", parameter->low, parameter->high);
  printf("%-32s %s%s%s%s, default %s", name, kind_name(parameter->kind), parameter->unit[0] ? " " : "", parameter->unit,
         range, parameter->default_text[0] ? parameter->default_text : "\"\"");
  if (parameter->readers[0]) printf(" [%s]", parameter->readers);
  printf("\n%-32s   %s\n", "", parameter->help);
}

static int list_parameters(void) {
  int32_t count = 0;
  const ScreeParameter *parameters = scree_parameters(&count);
  for (int32_t k = 0; k < count; k++) print_parameter(&parameters[k]);
  return 0;
}

/* What each kind of probe gives. A kind that is not here yet is still listed, from the parameter table. */
static const struct {
  const char *kind, *columns, *unit, *meaning;
} probe_notes[] = {
    {"flow", "<name>", "kg/s", "mass downward through z = plane_z, mean over the frame"},
    {"repose_angle", "<name>", "deg", "line through the free surface, 15 to 85 % of its height"},
    {"runout", "<name>", "m", "radius about the axis that holds that share of the mass"},
    {"force_on", "<name>_x,_y,_z", "N", "force of the grains on the target, mean over the frame"},
    {"packing", "<name>", "1", "solid volume fraction in the box"},
    {"mass_in", "<name>", "kg", "mass in the box"},
    {"pose_of", "<name>_x,_y,_z,_qw,_qx,_qy,_qz,_vx,_vy,_vz,_wx,_wy,_wz", "m", "position, rotation, velocity, spin"},
    {"creep", "<name>", "m", "99th percentile of displacement since then"},
    {"energy", "<name>_kinetic,_potential", "J", "of the grains"},
};

/* The help of a parameter of probes begins with the kinds that read it: `repose_angle, runout: ...`. */
static bool kind_reads(const char *help, const char *kind) {
  size_t length = strlen(kind), end = strcspn(help, ":");
  if (!help[end]) return false;
  for (const char *at = strstr(help, kind); at && at < help + end; at = strstr(at + 1, kind))
    if ((at == help || at[-1] == ' ') && (at[length] == ',' || at[length] == ':')) return true;
  return false;
}

static void print_probe(const char *kind, const ScreeParameter *parameters, int32_t count) {
  const char *columns = "", *unit = "", *meaning = "";
  for (size_t k = 0; k < sizeof probe_notes / sizeof *probe_notes; k++)
    if (strcmp(probe_notes[k].kind, kind) == 0) {
      columns = probe_notes[k].columns;
      unit = probe_notes[k].unit;
      meaning = probe_notes[k].meaning;
    }
  printf("%-14s %-5s %s\n%-20s columns: %s\n", kind, unit, meaning, "", columns);
  for (int32_t k = 0; k < count; k++)
    if (strcmp(parameters[k].section, "probe") == 0 && kind_reads(parameters[k].help, kind))
      printf("%-20s %s: %s\n", "", parameters[k].name, parameters[k].help + strcspn(parameters[k].help, ":") + 2);
}

static int list_probes(void) {
  int32_t count = 0;
  const ScreeParameter *parameters = scree_parameters(&count);
  for (int32_t k = 0; k < count; k++) {
    if (strcmp(parameters[k].section, "probe") != 0 || strcmp(parameters[k].name, "kind") != 0) continue;
    char kind[64];
    for (const char *word = parameters[k].unit; word[0];) {
      size_t length = strcspn(word, "|");
      snprintf(kind, sizeof kind, "%.*s", (int)length, word);
      print_probe(kind, parameters, count);
      word += length + (word[length] == '|');
    }
  }
  return 0;
}

static const struct {
  const char *name;
  int (*function)(void);
} lists[] = {
    {"methods", list_methods}, {"scenes", list_scenes}, {"parameters", list_parameters}, {"probes", list_probes}};

int command_list(int argc, char **argv) {
  const Usage usage = {.command = "list",
                       .arguments = "methods|scenes|parameters|probes",
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
