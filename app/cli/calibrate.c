/* scree calibrate: the table from the angle of a sand to a method's contacts. */
#include "app/validate/calibrate.h"

#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/scene_arguments.h"
#include "output/output.h"

static bool asked_to_stop(void *context) {
  (void)context;
  return interrupt_asked();
}

int command_calibrate(int argc, char **argv) {
  CalibrateOptions chosen = {.runs = {.stopped = asked_to_stop}, .folder = "out/calibrate", .grains = 3000, .seeds = 5};
  int64_t threads = 0;
  const Option options[] = {
      {0, "--from", OPTION_TEXT, &chosen.from, "FILE", "make the table of these samples; measures nothing", 0, 0},
      {0, "--grains", OPTION_INTEGER, &chosen.grains, "N", "of a heap (default 3000)", 200, 1000000},
      {0, "--seeds", OPTION_INTEGER, &chosen.seeds, "N", "heaps of each contact (default 5)", 1, 20},
      {0, "--threads", OPTION_INTEGER, &threads, "N", "runs side by side (default 0: one per core)", 0, 256},
      {'o', "--output", OPTION_TEXT, &chosen.folder, "DIR", "where the files go (default out/calibrate)", 0, 0},
      {'q', "--quiet", OPTION_FLAG, &chosen.runs.quiet, NULL, "print the table only", 0, 0}};
  const Usage usage = {
      .command = "calibrate",
      .arguments = "METHOD",
      .summary = "measure which contacts make sand of which angle",
      .details =
          "METHOD is pbd, p2 or dem. Pours heaps and lets columns go, writes DIR/METHOD.csv, the samples, and\n"
          "DIR/METHOD.h, the table that the method is built with. Samples of several calls may stand in one file.",
      .example = "scree calibrate pbd --grains 10000",
      USAGE_TABLE(options, 1, 1)};
  Arguments methods;
  int code;
  if (!options_parse(&usage, argc, argv, &methods, &code)) return code;
  chosen.method = methods.items[0];
  chosen.runs.threads = (int)threads;
  if (!calibrate_knows(chosen.method))
    return usage_error("method '%s' has no table of contacts; pbd, p2 and dem have", chosen.method);
  interrupt_watch();
  ScreeError error;
  ScreeStatus status = output_make_folder(chosen.folder, &error);
  if (status == SCREE_OK) status = calibrate_run(&chosen, &error);
  return status == SCREE_OK ? 0 : print_error(&error);
}
