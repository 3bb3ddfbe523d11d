/* scree export: the frames of a run in another format. */
#include <math.h>
#include <stdio.h>

#include "app/cli/commands.h"
#include "app/cli/frame_options.h"
#include "app/cli/scene_arguments.h"
#include "output/frames.h"
#include "output/output.h"
#include "picture/series.h"

enum { EXPORT_USDA = FRAME_NONE }; /* behind the formats of frames */

typedef struct Export {
  const char *from, *to;
  int format, columns;
  int64_t written, kept;
  bool warned;
} Export;

static const char *missing_columns(unsigned there) {
  if (there & FRAME_VELOCITY) return "ids";
  return there & FRAME_ID ? "velocities" : "velocities and ids";
}

static ScreeStatus export_frame(Export *export, const char *kind, Frames *frames, int64_t k, ScreeError *error) {
  ScreeParticles particles;
  double time = 0;
  /* In its own folder a frame of that format is there already. */
  if (export->to == export->from && frames_format(frames, k) == (FrameFormat) export->format) {
    export->kept++;
    return SCREE_OK;
  }
  ScreeStatus status = frames_read(frames, k, &particles, &time, error);
  if (status != SCREE_OK) return status;
  unsigned there = frames_columns(frames);
  if (export->format != FRAME_COMPACT && there != (FRAME_VELOCITY | FRAME_ID) && !export->warned) {
    fprintf(stderr, "%s: warning: frames without %s: %s written instead\n", export->from, missing_columns(there),
            there & FRAME_VELOCITY ? "their order is" : "zeros are");
    export->warned = true;
  }
  export->written++;
  return output_particles(export->to, kind, frames_number(frames, k), (FrameFormat) export->format,
                          (unsigned)export->columns & there, &particles, isnan(time) ? 0 : time, error);
}

static ScreeStatus export_kind(Export *export, const char *kind, ScreeError *error) {
  Frames *frames = NULL;
  ScreeStatus status = frames_open(export->from, kind, &frames, error);
  if (status != SCREE_OK) return status;
  for (int64_t k = 0; k < frames_count(frames) && status == SCREE_OK; k++)
    status = export_frame(export, kind, frames, k, error);
  frames_close(frames);
  return status;
}

static int export_usda(const Export *export, bool quiet) {
  ScreeError error;
  char path[SCREE_FILE_MAX];
  if (snprintf(path, sizeof path, "%s/frames.usda", export->to) >= (int)sizeof path)
    return usage_error("%.100s...: the path is too long", export->to);
  if (series_write_usda(export->from, path, &error) != SCREE_OK) return print_error(&error);
  if (!quiet) printf("%s\n", path);
  return 0;
}

static int run_export(Export *export, bool quiet) {
  ScreeError error;
  Frames *frames = NULL;
  if (frames_open(export->from, "coarse", &frames, &error) != SCREE_OK) return print_error(&error);
  int64_t count = frames_count(frames);
  frames_close(frames);
  if (count == 0) return usage_error("%s: no frames there (coarse_000000.ply, .vtp or .compact ...)", export->from);
  if (output_make_folder(export->to, &error) != SCREE_OK) return print_error(&error);
  if (export->format == EXPORT_USDA) return export_usda(export, quiet);
  static const char *const kinds[] = {"coarse", "grains"};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (export_kind(export, kinds[k], &error) != SCREE_OK) return print_error(&error);
  if (export->format == FRAME_VTP && series_write_pvd(export->from, export->to, &error) != SCREE_OK)
    return print_error(&error);
  if (!quiet)
    printf("%s: %lld files written, %lld were there\n", export->to, (long long)export->written,
           (long long)export->kept);
  return 0;
}

int command_export(int argc, char **argv) {
  enum { NO_FORMAT = -1 };
  Export export = {.format = NO_FORMAT, .columns = COLUMNS_DEFAULT};
  bool quiet = false;
  const Option options[] = {
      {0, "--format", OPTION_CHOICE, &export.format, "ply|vtp|compact|usda", "format to write", 0, 0},
      COLUMNS_OPTION("--columns", &export.columns),
      {'o', "--output", OPTION_TEXT, &export.to, "DIR", "where to (default: beside the frames)", 0, 0},
      {'q', "--quiet", OPTION_FLAG, &quiet, NULL, "print nothing but errors", 0, 0}};
  const Usage usage = {.command = "export",
                       .arguments = "DIR",
                       .summary = "write the frames of a run in another format",
                       .details =
                           "DIR is the output folder of scree run. vtp opens in ParaView: frames.pvd is the whole "
                           "series, bodies included. usda writes one file, frames.usda. compact frames are small:\n"
                           "12 bytes a grain instead of 33, read back by scree, Python and the add-on for Blender.",
                       .example = "scree export out/hourglass --format vtp",
                       USAGE_TABLE(options, 1, 1)};
  Arguments arguments;
  int code;
  if (!options_parse(&usage, argc, argv, &arguments, &code)) return code;
  if (export.format == NO_FORMAT) return usage_error("--format ply, vtp, compact or usda is needed");
  if (!columns_check("--columns", export.format, &export.columns, &code)) return code;
  export.from = arguments.items[0];
  if (!export.to) export.to = export.from;
  return run_export(&export, quiet);
}
