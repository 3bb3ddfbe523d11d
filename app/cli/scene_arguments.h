/* The options that change a scene, and loading it with them: shared by the commands that take a SCENE. */
#ifndef CLI_SCENE_ARGUMENTS_H
#define CLI_SCENE_ARGUMENTS_H

#include "app/cli/options.h"
#include "scree/scree.h"

typedef struct SceneArguments {
  const char *method; /* NULL: as the scene says */
  int64_t seed;       /* -1: as the scene says */
  TextList sets;
  int64_t warnings; /* said so far */
  bool silent;      /* they are not said: another load of the scene says them */
  bool no_cache;    /* as SCREE_CACHE=off */
} SceneArguments;

/* Their rows in a table of options. */
#define SCENE_OPTIONS(arguments)                                                                                         \
  {0, "--method", OPTION_TEXT, &(arguments)->method, "M", "simulate with this method", 0, 0},                            \
      {0, "--set", OPTION_LIST, &(arguments)->sets, "path=value", "change a value of the scene; may be repeated", 0, 0}, \
      {0, "--no-cache", OPTION_FLAG, &(arguments)->no_cache, NULL, "keep no distance grids from run to run", 0, 0}, {    \
    0, "--seed", OPTION_INTEGER, &(arguments)->seed, "N", "seed of all randomness", 0, 9007199254740992.0                \
  }

/* Where the scene runs: the row of a table of options, and what it says, or SCREE_DEVICE where it says nothing. */
#define DEVICE_OPTION(target)                                                                                          \
  {                                                                                                                    \
    0, "--device", OPTION_TEXT, target, "cpu|opencl|opencl:N", "where it runs (default cpu; `scree list devices`)", 0, \
        0                                                                                                              \
  }
const char *device_wanted(const char *option);
/* Says what runs on the device, where there is one. */
void print_device_note(const ScreeWorld *world);

/* Finds and loads the scene; warnings go to stderr and are counted. */
ScreeStatus scene_load(const char *name, SceneArguments *arguments, ScreeScene **scene, ScreeError *error);

/* Prints the error as one line to stderr and returns its exit code. */
int print_error(const ScreeError *error);
/* A warning line of the world or the scene, to stderr; context is the SceneArguments. */
void print_warning(void *context, const char *line);

#endif
