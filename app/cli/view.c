/* scree view: the window. */
#include <math.h>
#include <stdio.h>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/scene_arguments.h"
#include "app/viewer/viewer.h"

int command_view(int argc, char **argv) {
  SceneArguments scene = {.seed = -1};
  int64_t threads = 0, width = 1280, height = 720;
  ViewerOptions viewer = {0};
  const Option options[] = {
      SCENE_OPTIONS(&scene),
      {0, "--threads", OPTION_INTEGER, &threads, "N", "threads (default 0: one per core)", 0, 256},
      DEVICE_OPTION(&viewer.device),
      {0, "--width", OPTION_INTEGER, &width, "N", "of the window (default 1280)", 64, 8192},
      {0, "--height", OPTION_INTEGER, &height, "N", "of the window (default 720)", 64, 8192},
      {0, "--paused", OPTION_FLAG, &viewer.paused, NULL, "wait for a key before simulating", 0, 0},
      {0, "--fast", OPTION_FLAG, &viewer.fast, NULL, "as fast as it goes instead of in real time", 0, 0},
      {0, "--no-panel", OPTION_FLAG, &viewer.no_panel, NULL, "begin without the controls (H shows them)", 0, 0},
      {0, "--close-after", OPTION_REAL, &viewer.seconds, "T", "close the window after so many seconds", 0, 1e6},
      {0, "--picture", OPTION_TEXT, &viewer.picture, "FILE", "write what was drawn last as a PNG when it closes", 0,
       0}};
  const Usage usage = {.command = "view",
                       .arguments = "SCENE",
                       .summary = "watch a simulation and steer it",
                       .details =
                           "space pauses, N steps, R resets, - + slower and faster, C colours, F fine grains,\n"
                           "B blows up what the cursor points at, G drops a ball there, V records a film,\n"
                           "P takes a picture, H hides the controls, Esc ends. Left drag turns, right drag looks\n"
                           "around, middle drag shifts, W A S D Q E fly. Arrows, U J and I K drive an excavator.",
                       .example = "scree view sommer2022/hourglass",
                       USAGE_TABLE(options, 1, 1)};
  Arguments arguments;
  int code;
  if (!options_parse(&usage, argc, argv, &arguments, &code)) return code;
  char seed[48];
  const char *sets[TEXT_LIST_MAX + 1];
  for (int k = 0; k < scene.sets.count; k++) sets[viewer.set_count++] = scene.sets.items[k];
  if (scene.seed >= 0) {
    snprintf(seed, sizeof seed, "seed=%lld", (long long)scene.seed);
    sets[viewer.set_count++] = seed;
  }
  viewer.scene = arguments.items[0];
  viewer.method = scene.method;
  viewer.sets = sets;
  viewer.threads = (int32_t)threads;
  viewer.device = device_wanted(viewer.device);
  viewer.width = (int)width;
  viewer.height = (int)height;
  ScreeError error = {0};
  ScreeStatus status = viewer_run(&viewer, &error);
  return status == SCREE_OK ? 0 : print_error(&error);
}
