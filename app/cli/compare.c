/* scree compare: one scene on several methods; a table and one picture with a panel for each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/picture_options.h"
#include "app/cli/progress.h"
#include "app/cli/scene_arguments.h"
#include "picture/scene_frame.h"
#include "picture/studio.h"
#include "output/output.h"

enum { METHODS_MOST = 16, METHOD_NAME = 32 };

typedef struct Outcome {
  char method[METHOD_NAME];
  ScreeStatus status;
  ScreeError error;
  int64_t particles, frames, steps;
  double wall, angle, kinetic, potential, mass, overlap;
  Image picture;
} Outcome;

typedef struct Comparison {
  SceneArguments scene_arguments;
  PictureOptions picture;
  RenderSettings settings;
  const char *methods, *target, *device;
  double seconds;
  int64_t threads;
  bool coarse, quiet, bar;
  Studio studio;
  Outcome outcomes[METHODS_MOST];
  int count;
  char title[256], default_target[SCREE_FILE_MAX];
} Comparison;

static bool parse(Comparison *comparison, int argc, char **argv, Arguments *arguments, int *code) {
  const Option options[] = {
      {0, "--methods", OPTION_TEXT, &comparison->methods, "A,B,...", "methods to run (default: all there are)", 0, 0},
      {'o', "--output", OPTION_TEXT, &comparison->target, "FILE", "picture (default out/compare_<scene>.png)", 0, 0},
      {0, "--seconds", OPTION_REAL, &comparison->seconds, "T", "simulate so many seconds (default: as the scene says)",
       0, 1e6},
      {0, "--set", OPTION_LIST, &comparison->scene_arguments.sets, "path=value", "change a value of the scene", 0, 0},
      {0, "--seed", OPTION_INTEGER, &comparison->scene_arguments.seed, "N", "seed of all randomness", 0,
       9007199254740992.0},
      PICTURE_OPTIONS(&comparison->picture),
      {0, "--coarse", OPTION_FLAG, &comparison->coarse, NULL, "draw the simulated particles, not the fine grains", 0,
       0},
      {0, "--threads", OPTION_INTEGER, &comparison->threads, "N", "threads (default 0: one per core)", 0, 256},
      DEVICE_OPTION(&comparison->device),
      {'q', "--quiet", OPTION_FLAG, &comparison->quiet, NULL, "print the table only", 0, 0}};
  const Usage usage = {
      .command = "compare",
      .arguments = "SCENE",
      .summary = "run a scene with several methods: a table and one picture",
      .details = "angle: of the free surface, as the scene's probe repose_angle has it, or about the vertical through\n"
                 "the origin. energy: kinetic and potential at the end. overlap: the largest, as a share of the "
                 "radius. --size is that of\n"
                 "one panel.",
      .example = "scree compare side_by_side/collapse --methods pbd,dem --seconds 1",
      USAGE_TABLE(options, 1, 1)};
  if (!comparison->picture.size) comparison->picture.size = "640x480";
  return options_parse(&usage, argc, argv, arguments, code) &&
         picture_options_apply(&comparison->picture, &comparison->settings, code);
}

static bool method_known(const char *name) {
  for (int32_t k = 0; k < scree_method_count(); k++)
    if (strcmp(scree_method_info(k)->name, name) == 0) return true;
  return false;
}

/* The list of --methods, or all that simulate anything. */
static bool choose_methods(Comparison *comparison, int *code) {
  const char *at = comparison->methods;
  for (int32_t k = 0; !at && k < scree_method_count() && comparison->count < METHODS_MOST; k++)
    if (scree_method_info(k)->paper[0])
      snprintf(comparison->outcomes[comparison->count++].method, METHOD_NAME, "%s", scree_method_info(k)->name);
  while (at && *at) {
    size_t length = strcspn(at, ",");
    char name[METHOD_NAME];
    snprintf(name, sizeof name, "%.*s", (int)(length < METHOD_NAME ? length : METHOD_NAME - 1), at);
    if (!method_known(name)) {
      *code = usage_error("unknown method '%s'; scree list methods names them", name);
      return false;
    }
    if (comparison->count < METHODS_MOST) memcpy(comparison->outcomes[comparison->count++].method, name, sizeof name);
    at += length + (at[length] == ',');
  }
  if (comparison->count) return true;
  *code = usage_error("--methods names no method");
  return false;
}

static void show_progress(const Comparison *comparison, const Outcome *outcome, int64_t frame, int64_t last) {
  if (comparison->quiet || !comparison->bar) return;
  fprintf(stderr, "\r%s: frame %lld of %lld\033[K", outcome->method, (long long)frame, (long long)last);
  if (frame == last) fputs("\r\033[K", stderr);
}

static ScreeStatus simulate(Comparison *comparison, Outcome *outcome, ScreeWorld *world) {
  const ScreeSceneDef *definition = scree_world_definition(world);
  double seconds = isnan(comparison->seconds) ? definition->duration : comparison->seconds;
  int64_t last = (int64_t)ceil(seconds * definition->frame_rate - 1e-6);
  double began = seconds_now();
  ScreeStatus status = SCREE_OK;
  while (status == SCREE_OK && scree_world_frame_index(world) < last) {
    if (interrupt_asked()) {
      outcome->error = (ScreeError){.status = SCREE_INTERRUPTED, .message = "interrupted"};
      return SCREE_INTERRUPTED;
    }
    status = scree_world_frame(world, &outcome->error);
    show_progress(comparison, outcome, scree_world_frame_index(world), last);
  }
  outcome->wall = seconds_now() - began;
  return status;
}

static void measure(Outcome *outcome, const ScreeWorld *world) {
  ScreeStatistics now;
  scree_world_statistics(world, &now);
  outcome->particles = now.coarse;
  outcome->frames = scree_world_frame_index(world);
  outcome->steps = now.steps;
  outcome->mass = now.mass_final;
  outcome->overlap = now.max_overlap;
  int32_t count = scree_world_probe_count(world);
  ScreeProbeState probe;
  if (scree_world_probe(world, count - 1, &probe) == SCREE_OK) outcome->angle = probe.values[0];
  if (scree_world_probe(world, count, &probe) == SCREE_OK) {
    outcome->kinetic = probe.values[0];
    outcome->potential = probe.values[1];
  }
}

static ScreeStatus draw_panel(Comparison *comparison, Outcome *outcome, const ScreeWorld *world) {
  SceneFrame scene;
  uint64_t keys = (uint64_t)(outcome - comparison->outcomes) + 1;
  ScreeStatus status = scene_frame_create(&scene, world, keys, &outcome->error);
  if (status != SCREE_OK) return status;
  scene.wants_pressure = comparison->settings.color == RENDER_COLOR_PRESSURE;
  status = scene_frame_view(&scene, world, !comparison->coarse, &outcome->error);
  scene.frame.version = 0; /* several worlds share one renderer */
  scene.frame.title = outcome->method;
  Camera camera = scene_camera(scree_world_definition(world));
  if (status == SCREE_OK)
    status = studio_draw(&comparison->studio, &scene.frame, &camera, &comparison->settings, &outcome->error);
  if (status == SCREE_OK) {
    outcome->picture = comparison->studio.image;
    comparison->studio.image = (Image){0};
  }
  scene_frame_destroy(&scene);
  return status;
}

/* The scene with this method, and two probes of our own behind its probes: the angle, then the energy. */
static void run_method(Comparison *comparison, const char *name, Outcome *outcome) {
  ScreeScene *scene = NULL;
  ScreeWorld *world = NULL;
  comparison->scene_arguments.method = outcome->method;
  outcome->status = scene_load(name, &comparison->scene_arguments, &scene, &outcome->error);
  if (outcome->status != SCREE_OK) return;
  ScreeSceneDef definition = *scree_scene_definition(scene);
  snprintf(comparison->title, sizeof comparison->title, "%.200s", definition.name);
  ScreeProbeDef *probes = calloc((size_t)definition.probe_count + 2, sizeof *probes);
  outcome->status = probes ? SCREE_OK : SCREE_NO_MEMORY;
  if (probes) {
    if (definition.probe_count) memcpy(probes, definition.probes, (size_t)definition.probe_count * sizeof *probes);
    ScreeProbeDef angle = scree_probe_default("compare_angle", SCREE_PROBE_REPOSE_ANGLE);
    for (int32_t k = definition.probe_count - 1; k >= 0; k--)
      if (probes[k].kind == SCREE_PROBE_REPOSE_ANGLE) angle.axis = probes[k].axis;
    probes[definition.probe_count++] = angle;
    probes[definition.probe_count++] = scree_probe_default("compare_energy", SCREE_PROBE_ENERGY);
    definition.probes = probes;
    ScreeWorldOptions options = scree_world_options_default();
    options.threads = (int32_t)comparison->threads;
    options.device = device_wanted(comparison->device);
    outcome->status = scree_world_create(&definition, &options, &world, &outcome->error);
    if (outcome->status == SCREE_OK && !comparison->quiet) print_device_note(world);
  }
  if (outcome->status == SCREE_OK) outcome->status = simulate(comparison, outcome, world);
  if (outcome->status == SCREE_OK) {
    measure(outcome, world);
    outcome->status = draw_panel(comparison, outcome, world);
  }
  scree_world_destroy(world);
  scree_scene_free(scene);
  free(probes);
}

static void print_table(const Comparison *comparison) {
  printf("%-8s %9s %7s %8s %9s %10s %11s %12s %12s %10s %9s\n", "method", "particles", "frames", "steps", "time s",
         "ms/frame", "angle deg", "kinetic J", "potential J", "mass kg", "overlap");
  for (int k = 0; k < comparison->count; k++) {
    const Outcome *o = &comparison->outcomes[k];
    if (o->status != SCREE_OK) {
      char line[SCREE_FILE_MAX + SCREE_MESSAGE_MAX + 64];
      printf("%-8s failed: %s\n", o->method, scree_error_line(&o->error, line, sizeof line));
      continue;
    }
    char overlap[32];
    snprintf(overlap, sizeof overlap, isnan(o->overlap) ? "-" : "%.3f", o->overlap);
    printf("%-8s %9lld %7lld %8lld %9.2f %10.2f %11.2f %12.4g %12.6g %10.6g %9s\n", o->method, (long long)o->particles,
           (long long)o->frames, (long long)o->steps, o->wall, 1e3 * o->wall / fmax((double)o->frames, 1), o->angle,
           o->kinetic, o->potential, o->mass, overlap);
  }
}

/* One picture: panels side by side, those that failed with the reason in them. */
static ScreeStatus compose(Comparison *comparison, ScreeError *error) {
  enum { GAP = 6 };
  int columns = comparison->count <= 3 ? comparison->count : (int)ceil(sqrt(comparison->count));
  int rows = (comparison->count + columns - 1) / columns;
  int width = comparison->settings.width, height = comparison->settings.height;
  Image sheet = {0};
  ScreeStatus status = image_create(&sheet, columns * (width + GAP) + GAP, rows * (height + GAP) + GAP, error);
  if (status != SCREE_OK) return status;
  image_fill(&sheet, (ImageColor){38, 40, 44, 255});
  for (int k = 0; k < comparison->count; k++) {
    const Outcome *o = &comparison->outcomes[k];
    int x = GAP + k % columns * (width + GAP), y = GAP + k / columns * (height + GAP);
    const ImageColor white = {255, 255, 255, 255}, red = {255, 120, 100, 255};
    char caption[128];
    if (o->picture.pixels) {
      image_copy(&sheet, x, y, &o->picture);
      snprintf(caption, sizeof caption, "%.1f deg   %.3g ms a frame", o->angle,
               1e3 * o->wall / fmax((double)o->frames, 1));
      image_fill_box(&sheet, x, y + height - 26, width, 26, (ImageColor){28, 31, 36, 255});
      text_draw(&sheet, x + 10, y + height - 8, 10, caption, white);
    } else {
      text_draw(&sheet, x + 12, y + 28, 14, o->method, white);
      snprintf(caption, sizeof caption, "%.60s", o->error.message);
      text_draw(&sheet, x + 12, y + 56, 9, caption, red);
    }
  }
  status = image_write_png(&sheet, comparison->target, error);
  image_destroy(&sheet);
  return status;
}

int command_compare(int argc, char **argv) {
  Comparison comparison = {
      .scene_arguments.seed = -1, .picture = picture_options_default(), .seconds = NAN, .bar = isatty(STDERR_FILENO)};
  Arguments arguments;
  int code;
  if (!parse(&comparison, argc, argv, &arguments, &code) || !choose_methods(&comparison, &code)) return code;
  if (comparison.target && !still_name_known(comparison.target))
    return usage_error("-o '%s': its name ends in .png", comparison.target);
  interrupt_watch();
  picture_options_quality(&comparison.picture, true, &comparison.settings);
  ScreeError error = {0};
  ScreeScene *scene = NULL; /* a scene that cannot be read is one error, not one for each method */
  comparison.scene_arguments.method = comparison.outcomes[0].method;
  comparison.scene_arguments.silent = true;
  ScreeStatus status = scene_load(arguments.items[0], &comparison.scene_arguments, &scene, &error);
  comparison.scene_arguments.silent = false;
  if (status == SCREE_OK && !comparison.target) {
    snprintf(comparison.default_target, sizeof comparison.default_target, "out/compare_%.200s.png",
             scree_scene_definition(scene)->name);
    comparison.target = comparison.default_target;
    status = output_make_folder("out", &error);
  }
  scree_scene_free(scene);
  if (status == SCREE_OK) status = output_check_file(comparison.target, &error); /* now, not after the runs */
  if (status == SCREE_OK) status = studio_open(&comparison.studio, (int32_t)comparison.threads, &error);
  bool any_failed = false;
  for (int k = 0; status == SCREE_OK && k < comparison.count; k++) {
    run_method(&comparison, arguments.items[0], &comparison.outcomes[k]);
    if (comparison.outcomes[k].status == SCREE_INTERRUPTED)
      error = comparison.outcomes[k].error, status = SCREE_INTERRUPTED;
    any_failed |= comparison.outcomes[k].status != SCREE_OK;
  }
  if (status == SCREE_OK) {
    print_table(&comparison);
    status = compose(&comparison, &error);
  }
  if (status != SCREE_OK) code = print_error(&error);
  else {
    if (!comparison.quiet) printf("%s\n", comparison.target);
    code = any_failed ? scree_exit_code(SCREE_FAILED) : 0;
  }
  for (int k = 0; k < comparison.count; k++) image_destroy(&comparison.outcomes[k].picture);
  studio_close(&comparison.studio);
  return code;
}
