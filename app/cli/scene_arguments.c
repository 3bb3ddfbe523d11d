#include "app/cli/scene_arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int print_error(const ScreeError *error) {
  char line[SCREE_FILE_MAX + SCREE_MESSAGE_MAX + 64];
  scree_error_line(error, line, sizeof line);
  for (char *end = strchr(line, '\n'); end; end = strchr(end, '\n')) *end = ' '; /* one line, whatever a file held */
  fflush(stdout);
  fprintf(stderr, "%s\n", line);
  return scree_exit_code(error->status);
}

void print_warning(void *context, const char *line) {
  SceneArguments *arguments = context;
  arguments->warnings++;
  fflush(stdout);
  fprintf(stderr, "%s\n", line);
}

const char *device_wanted(const char *option) {
  const char *outside = getenv("SCREE_DEVICE");
  return option ? option : outside && *outside ? outside : "cpu";
}

void print_device_note(const ScreeWorld *world) {
  const char *note = scree_world_device_note(world);
  if (!*note) return;
  fflush(stdout);
  fprintf(stderr, "note: %s\n", note);
}

ScreeStatus scene_load(const char *name, SceneArguments *arguments, ScreeScene **scene, ScreeError *error) {
  char path[SCREE_FILE_MAX], method[96], seed[48];
  const char *sets[TEXT_LIST_MAX + 2];
  int32_t count = 0;
  if (arguments->no_cache) setenv("SCREE_CACHE", "off", 1);
  ScreeStatus status = scree_scene_find(name, path, sizeof path, error);
  if (status != SCREE_OK) return status;
  if (arguments->method) {
    snprintf(method, sizeof method, "method.name=%s", arguments->method);
    sets[count++] = method;
  }
  if (arguments->seed >= 0) {
    snprintf(seed, sizeof seed, "seed=%" PRId64, arguments->seed);
    sets[count++] = seed;
  }
  for (int k = 0; k < arguments->sets.count; k++) sets[count++] = arguments->sets.items[k];
  ScreeSceneOptions options = {.sets = sets,
                               .set_count = count,
                               .warning = arguments->silent ? NULL : print_warning,
                               .warning_context = arguments};
  return scree_scene_load(path, &options, scene, error);
}
