/* scree run: simulate a scene and write the output folder. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/frame_options.h"
#include "app/cli/interrupt.h"
#include "app/cli/progress.h"
#include "app/cli/run_pictures.h"
#include "app/cli/scene_arguments.h"
#include "output/output.h"
#include "picture/series.h"

typedef struct Run {
  SceneArguments scene_arguments;
  const char *folder, *report, *device;
  int64_t frames, threads, checkpoint_every;
  double seconds;
  int format, columns;
  bool resume, quiet;
  RunPictures pictures;
  char default_folder[SCREE_FILE_MAX], source[SCREE_FILE_MAX];
  const ScreeSceneDef *definition;
  ScreeWorld *world;
  Output *output;
  Progress progress;
  int64_t target; /* last frame */
} Run;

enum { FRAMES_MOST = 1000000000, THREADS_MOST = 256, AUTOMATIC = -1 };

static bool parse(Run *run, int argc, char **argv, Arguments *arguments, int *code) {
  const Option options[] = {
      {'o', "--output", OPTION_TEXT, &run->folder, "DIR", "output folder (default out/<scene name>)", 0, 0},
      {0, "--frames", OPTION_INTEGER, &run->frames, "N", "simulate so many frames", 0, FRAMES_MOST},
      {0, "--seconds", OPTION_REAL, &run->seconds, "T", "simulate so many seconds (default: the scene's duration)", 0,
       1e6},
      SCENE_OPTIONS(&run->scene_arguments),
      {0, "--threads", OPTION_INTEGER, &run->threads, "N", "threads (default 0: one per core)", 0, THREADS_MOST},
      DEVICE_OPTION(&run->device),
      {0, "--frames-format", OPTION_CHOICE, &run->format, "ply|vtp|compact|none", "files of the frames (default ply)",
       0, 0},
      COLUMNS_OPTION("--frames-columns", &run->columns),
      {0, "--report", OPTION_TEXT, &run->report, "FILE", "a second copy of the folder's report.json", 0, 0},
      {0, "--checkpoint-every", OPTION_INTEGER, &run->checkpoint_every, "N",
       "checkpoint every N frames; 0: only at the end (default: now and then)", 0, FRAMES_MOST},
      {0, "--resume", OPTION_FLAG, &run->resume, NULL, "go on from the checkpoint in the output folder", 0, 0},
      RUN_PICTURE_OPTIONS(&run->pictures),
      {'q', "--quiet", OPTION_FLAG, &run->quiet, NULL, "print nothing but warnings and errors", 0, 0}};
  const Usage usage = {
      .command = "run",
      .arguments = "SCENE",
      .summary = "simulate a scene and write the output folder",
      .details = "SCENE is a path, paper/name of a shipped scene, or its bare name. Results of an earlier run in the\n"
                 "output folder are replaced. Ctrl-C finishes the frame and writes a checkpoint for --resume.\n"
                 "Timings in the report of a resumed run are those of the frames since then. --film and --still draw\n"
                 "what is simulated without files of frames: with --frames-format none there are none.",
      .example = "scree run sommer2022/hourglass -o out/hourglass --seconds 2 --set method.radius=0.01",
      USAGE_TABLE(options, 1, 1)};
  if (!options_parse(&usage, argc, argv, arguments, code)) return false;
  if (!columns_check("--frames-columns", run->format, &run->columns, code)) return false;
  if (run->frames == AUTOMATIC || isnan(run->seconds)) return run_pictures_check(&run->pictures, run->resume, code);
  *code = usage_error("--frames and --seconds exclude each other");
  return false;
}

static void choose_target(Run *run) {
  const ScreeSceneDef *scene = run->definition;
  double seconds = isnan(run->seconds) ? scene->duration : run->seconds;
  /* Rounding up, but not because 0.1 * 60 is a little more than 6. */
  run->target = run->frames != AUTOMATIC ? run->frames : (int64_t)ceil(seconds * scene->frame_rate - 1e-6);
}

static void log_to_stderr(void *context, ScreeLogLevel level, const char *line) {
  Run *run = context;
  progress_clear(&run->progress);
  if (level <= SCREE_LOG_WARNING) print_warning(&run->scene_arguments, line);
}

static ScreeStatus resume_world(Run *run, ScreeError *error) {
  char path[SCREE_FILE_MAX];
  ScreeStatus status = output_find_checkpoint(run->folder, path, sizeof path, error);
  if (status == SCREE_OK) status = scree_world_load(run->world, path, error);
  if (status != SCREE_OK || scree_world_frame_index(run->world) <= run->target) return status;
  *error = (ScreeError){.status = SCREE_BAD_INPUT};
  snprintf(error->file, sizeof error->file, "%s", path);
  snprintf(error->message, sizeof error->message, "the checkpoint is at frame %lld, past the last frame %lld",
           (long long)scree_world_frame_index(run->world), (long long)run->target);
  return SCREE_BAD_INPUT;
}

static ScreeStatus begin(Run *run, ScreeError *error) {
  choose_target(run);
  run->progress = progress_begin(run->quiet, run->target);
  if (!run->folder) {
    snprintf(run->default_folder, sizeof run->default_folder, "out/%s", run->definition->name);
    run->folder = run->default_folder;
  }
  ScreeStatus status = output_check(run->folder, error);
  if (status == SCREE_OK)
    status = run_pictures_open(&run->pictures, run->definition, run->target, (int32_t)run->threads, run->folder, error);
  if (status != SCREE_OK) return status;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = (int32_t)run->threads;
  options.device = device_wanted(run->device);
  options.log_level = SCREE_LOG_WARNING;
  options.log = log_to_stderr;
  options.log_context = run;
  options.progress = progress_prepare;
  options.progress_context = &run->progress;
  status = scree_world_create(run->definition, &options, &run->world, error);
  if (status == SCREE_OK && run->resume) status = resume_world(run, error);
  if (status != SCREE_OK) return status;
  progress_clear(&run->progress);
  if (!run->quiet) print_device_note(run->world);
  OutputOptions output = {.folder = run->folder,
                          .report = run->report,
                          .scene = run->definition->name,
                          .source = run->source,
                          .format = (FrameFormat)run->format,
                          .columns = (unsigned)run->columns,
                          .threads = (int32_t)run->threads,
                          .resume = run->resume};
  return output_create(&output, run->world, &run->output, error);
}

static bool checkpoint_due(const Run *run, int64_t frame) {
  if (run->checkpoint_every == AUTOMATIC) return output_checkpoint_due(run->output);
  return run->checkpoint_every > 0 && frame % run->checkpoint_every == 0;
}

static ScreeStatus simulate(Run *run, ScreeError *error) {
  int64_t frame = scree_world_frame_index(run->world);
  ScreeStatus status = run_pictures_frame(&run->pictures, run->world, error);
  /* One at the start, so that there always is something to resume. */
  if (status == SCREE_OK && !run->resume && run->checkpoint_every != 0)
    status = output_checkpoint(run->output, run->world, error);
  while (status == SCREE_OK && frame < run->target && !interrupt_asked()) {
    status = scree_world_frame(run->world, error);
    output_begin(run->output);
    if (status == SCREE_OK) status = run_pictures_frame(&run->pictures, run->world, error);
    if (status == SCREE_OK) status = output_frame(run->output, run->world, error);
    if (status != SCREE_OK) break;
    frame = scree_world_frame_index(run->world);
    progress_frame(&run->progress, run->world, run->output);
    if (frame < run->target && checkpoint_due(run, frame)) status = output_checkpoint(run->output, run->world, error);
  }
  if (status == SCREE_OK) status = output_checkpoint(run->output, run->world, error);
  if (status == SCREE_OK) status = output_report(run->output, run->world, error);
  if (status == SCREE_OK && run->format == FRAME_VTP) status = series_write_pvd(run->folder, run->folder, error);
  if (status == SCREE_OK) status = run_pictures_close(&run->pictures, frame >= run->target, error);
  return status;
}

static void print_warnings(const Run *run, const ScreeStatistics *now) {
  printf("warnings: %lld", (long long)run->scene_arguments.warnings);
  for (int32_t k = 0; k < now->warning_count; k++)
    if (now->warnings[k].count > 0) printf(", %s %lld", now->warnings[k].name, (long long)now->warnings[k].count);
  printf("\n");
}

static void print_summary(const Run *run, double seconds_before) {
  ScreeStatistics now = {0};
  OutputProgress so_far;
  scree_world_statistics(run->world, &now);
  output_progress(run->output, &so_far);
  double simulated = scree_world_time(run->world), wall = so_far.wall_seconds;
  double balance = now.mass_initial + now.mass_emitted - now.mass_removed - now.mass_final;
  printf("%s: %lld frames, %lld steps, %.4g s simulated; %.3g s of wall time, %.3g times real time\n", run->folder,
         (long long)scree_world_frame_index(run->world), (long long)now.steps, simulated, wall,
         wall > 0 ? (simulated - seconds_before) / wall : 0);
  printf("mass: %.6g kg at the start + %.6g emitted - %.6g removed = %.6g now (off by %.2g)\n", now.mass_initial,
         now.mass_emitted, now.mass_removed, now.mass_final, balance);
  print_warnings(run, &now);
  printf("report: %s\n", so_far.report);
  if (run->pictures.still && scree_world_frame_index(run->world) >= run->target)
    printf("still: %s\n", run->pictures.still);
  if (run->pictures.film && scree_world_frame_index(run->world) >= run->target)
    printf("film: %s\n", run->pictures.film);
}

static int finish(Run *run, ScreeStatus status, const ScreeError *error, double seconds_before) {
  progress_clear(&run->progress);
  if (status != SCREE_OK) return print_error(error);
  if (!run->quiet) print_summary(run, seconds_before);
  int64_t frame = scree_world_frame_index(run->world);
  if (frame >= run->target) return 0;
  fflush(stdout);
  fprintf(stderr, "interrupted after frame %lld of %lld; --resume goes on from here\n", (long long)frame,
          (long long)run->target);
  return scree_exit_code(SCREE_INTERRUPTED);
}

int command_run(int argc, char **argv) {
  Run run = {.scene_arguments.seed = -1,
             .frames = AUTOMATIC,
             .checkpoint_every = AUTOMATIC,
             .columns = COLUMNS_DEFAULT,
             .seconds = NAN,
             .pictures = run_pictures_default()};
  Arguments arguments;
  int code;
  if (!parse(&run, argc, argv, &arguments, &code)) return code;
  interrupt_watch();
  ScreeScene *scene = NULL;
  ScreeError error = {0};
  double seconds_before = 0;
  ScreeStatus status = scree_scene_find(arguments.items[0], run.source, sizeof run.source, &error);
  if (status == SCREE_OK) status = scene_load(arguments.items[0], &run.scene_arguments, &scene, &error);
  if (status == SCREE_OK) {
    run.definition = scree_scene_definition(scene);
    status = begin(&run, &error);
  }
  if (status == SCREE_OK) {
    seconds_before = scree_world_time(run.world);
    status = simulate(&run, &error);
  }
  code = finish(&run, status, &error, seconds_before);
  run_pictures_close(&run.pictures, false, NULL); /* after a failure */
  output_destroy(run.output);
  scree_world_destroy(run.world);
  scree_scene_free(scene);
  return code;
}
