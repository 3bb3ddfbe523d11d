/* scree check: parse and validate, simulate nothing. */
#include <stdio.h>

#include "app/cli/commands.h"
#include "app/cli/scene_arguments.h"
#include "scree/world.h"

static void log_warning(void *context, ScreeLogLevel level, const char *line) {
  if (level <= SCREE_LOG_WARNING) print_warning(context, line);
}

int command_check(int argc, char **argv) {
  SceneArguments scene_arguments = {.seed = -1};
  bool quiet = false;
  const Option options[] = {SCENE_OPTIONS(&scene_arguments),
                            {'q', "--quiet", OPTION_FLAG, &quiet, NULL, "say nothing when all is well", 0, 0}};
  const Usage usage = {.command = "check",
                       .arguments = "SCENE",
                       .summary = "parse and validate a scene, simulate nothing",
                       .details = "SCENE is a path, paper/name of a shipped scene, or its bare name.",
                       .example = "scree check scenes/sommer2022/hourglass.yaml",
                       USAGE_TABLE(options, 1, 1)};
  Arguments arguments;
  int code;
  if (!options_parse(&usage, argc, argv, &arguments, &code)) return code;
  ScreeScene *scene = NULL;
  ScreeError error;
  if (scene_load(arguments.items[0], &scene_arguments, &scene, &error) != SCREE_OK) return print_error(&error);
  const ScreeSceneDef *definition = scree_scene_definition(scene);
  ScreeWorldOptions world_options = scree_world_options_default();
  world_options.log = log_warning;
  world_options.log_context = &scene_arguments;
  if (scree_world_check(definition, &world_options, &error) != SCREE_OK) {
    scree_scene_free(scene);
    return print_error(&error);
  }
  if (!quiet)
    printf("%s: ok, method %s, %lld warning%s\n", definition->file ? definition->file : definition->name,
           definition->method.name, (long long)scene_arguments.warnings, scene_arguments.warnings == 1 ? "" : "s");
  scree_scene_free(scene);
  return 0;
}
