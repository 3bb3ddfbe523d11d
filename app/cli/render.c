/* scree render: stills and films of an output folder, or straight from a scene. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/picture_options.h"
#include "app/cli/scene_arguments.h"
#include "picture/recording.h"
#include "picture/studio.h"
#include "output/output.h"
#include "render/film.h"

typedef struct Rendering {
  SceneArguments scene_arguments;
  PictureOptions picture;
  const char *target;
  int64_t frame, threads;
  double fps, orbit, seconds;
  bool coarse, fine, title, quiet;
  /* where frames come from: a recording, or a world that is simulated along */
  Recording *recording;
  ScreeScene *scene;
  ScreeWorld *world;
  SceneFrame live;
  const ScreeSceneDef *definition;
  int64_t last; /* number of the last frame */
  /* where they go */
  RenderSettings settings;
  Studio studio;
  Film *film;
  bool bar;
  char default_target[SCREE_FILE_MAX + 32], caption[256];
} Rendering;

#define FRAME_AUTOMATIC INT64_MIN
enum { THREADS_MOST = 256 };

static bool parse(Rendering *rendering, int argc, char **argv, Arguments *arguments, int *code) {
  const Option options[] = {
      {'o', "--output", OPTION_TEXT, &rendering->target, "FILE",
       "film (.mp4, .webm) or still (.png); default: film.mp4 or still.png in DIR, or out/<scene>.mp4 or .png", 0, 0},
      {0, "--frame", OPTION_INTEGER, &rendering->frame, "K", "a still of this frame; -1 is the last", -1e12, 1e12},
      PICTURE_OPTIONS(&rendering->picture),
      {0, "--orbit", OPTION_REAL, &rendering->orbit, "DEG", "turn the camera by so much over the film", -36000, 36000},
      {0, "--fps", OPTION_REAL, &rendering->fps, "R", "pictures a second of the film, in real time (default 30)", 0.1,
       1000},
      {0, "--coarse", OPTION_FLAG, &rendering->coarse, NULL, "draw the simulated particles", 0, 0},
      {0, "--fine", OPTION_FLAG, &rendering->fine, NULL, "draw the fine grains, where there are any (default)", 0, 0},
      {0, "--title", OPTION_FLAG, &rendering->title, NULL, "write title and time into the picture", 0, 0},
      {0, "--seconds", OPTION_REAL, &rendering->seconds, "T", "of a SCENE: simulate so many seconds", 0, 1e6},
      SCENE_OPTIONS(&rendering->scene_arguments),
      {0, "--threads", OPTION_INTEGER, &rendering->threads, "N", "threads (default 0: one per core)", 0, THREADS_MOST},
      {'q', "--quiet", OPTION_FLAG, &rendering->quiet, NULL, "print nothing but warnings and errors", 0, 0}};
  const Usage usage = {
      .command = "render",
      .arguments = "DIR|SCENE",
      .summary = "make stills and films, of an output folder or straight from a scene",
      .details =
          "DIR is what `scree run` wrote. A SCENE is simulated on the way and leaves no folder. No window and no\n"
          "X server are needed. Without -o and --frame the result is a film.",
      .example = "scree render out/hourglass -o hourglass.mp4 --orbit 90",
      USAGE_TABLE(options, 1, 1)};
  if (!options_parse(&usage, argc, argv, arguments, code)) return false;
  if (rendering->coarse && rendering->fine) {
    *code = usage_error("--coarse and --fine exclude each other");
    return false;
  }
  return picture_options_apply(&rendering->picture, &rendering->settings, code);
}

static bool is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool ends_in_png(const char *path) {
  size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, ".png") == 0;
}

static ScreeStatus open_source(Rendering *rendering, const char *name, ScreeError *error) {
  if (is_folder(name)) {
    ScreeStatus status = recording_open(name, !rendering->coarse, &rendering->recording, error);
    if (status != SCREE_OK) return status;
    rendering->definition = recording_definition(rendering->recording);
    const ScreeError *trouble;
    const char *missing = recording_missing(rendering->recording, &trouble);
    if (missing) fprintf(stderr, "%s/scene.yaml: warning: drawn without %s: %s\n", name, missing, trouble->message);
    rendering->last = recording_number(rendering->recording, recording_count(rendering->recording) - 1);
    return SCREE_OK;
  }
  ScreeStatus status = scene_load(name, &rendering->scene_arguments, &rendering->scene, error);
  if (status != SCREE_OK) return status;
  rendering->definition = scree_scene_definition(rendering->scene);
  double seconds = isnan(rendering->seconds) ? rendering->definition->duration : rendering->seconds;
  rendering->last = (int64_t)ceil(seconds * rendering->definition->frame_rate - 1e-6);
  return SCREE_OK;
}

/* Checked before anything is simulated. */
static ScreeStatus choose_target(Rendering *rendering, const char *name, ScreeError *error) {
  bool folder = rendering->recording != NULL, still = rendering->frame != FRAME_AUTOMATIC;
  if (!rendering->target) {
    if (folder)
      snprintf(rendering->default_target, sizeof rendering->default_target, "%s/%s", name,
               still ? "still.png" : "film.mp4");
    else
      snprintf(rendering->default_target, sizeof rendering->default_target, "out/%s.%s", rendering->definition->name,
               still ? "png" : "mp4");
    rendering->target = rendering->default_target;
    ScreeStatus status = folder ? SCREE_OK : output_make_folder("out", error);
    if (status != SCREE_OK) return status;
  }
  *error = (ScreeError){.status = SCREE_BAD_ARGUMENT};
  snprintf(error->file, sizeof error->file, "%.*s", SCREE_FILE_MAX - 1, rendering->target);
  bool png = ends_in_png(rendering->target);
  if (!png && !film_name_known(rendering->target)) {
    snprintf(error->message, sizeof error->message, "the name of a still ends in .png, of a film in .mp4 or .webm");
    return SCREE_BAD_ARGUMENT;
  }
  if (!png && still) {
    snprintf(error->message, sizeof error->message, "--frame makes a still: its name ends in .png");
    return SCREE_BAD_ARGUMENT;
  }
  if (png && !still) rendering->frame = -1;
  int64_t asked = rendering->frame;
  if (png && asked < 0) rendering->frame += rendering->last + 1;
  if (png && (rendering->frame < 0 || rendering->frame > rendering->last)) {
    error->file[0] = 0;
    snprintf(error->message, sizeof error->message, "--frame %lld: frames run from 0 to %lld", (long long)asked,
             (long long)rendering->last);
    return SCREE_BAD_ARGUMENT;
  }
  return SCREE_OK;
}

static void log_to_stderr(void *context, ScreeLogLevel level, const char *line) {
  Rendering *rendering = context;
  if (level <= SCREE_LOG_WARNING) print_warning(&rendering->scene_arguments, line);
}

static ScreeStatus begin(Rendering *rendering, ScreeError *error) {
  ScreeStatus status = studio_open(&rendering->studio, (int32_t)rendering->threads, error);
  if (status != SCREE_OK || rendering->recording) return status;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = (int32_t)rendering->threads;
  options.log_level = SCREE_LOG_WARNING;
  options.log = log_to_stderr;
  options.log_context = rendering;
  status = scree_world_create(rendering->definition, &options, &rendering->world, error);
  return status == SCREE_OK ? scene_frame_create(&rendering->live, rendering->world, 1, error) : status;
}

/* The frame of that number, or the last one before it that was written. */
static ScreeStatus fetch(Rendering *rendering, int64_t number, SceneFrame **scene, ScreeError *error) {
  if (rendering->recording) {
    int64_t low = 0, high = recording_count(rendering->recording) - 1;
    while (low < high) {
      int64_t middle = (low + high + 1) / 2;
      if (recording_number(rendering->recording, middle) <= number) low = middle;
      else high = middle - 1;
    }
    return recording_read(rendering->recording, low, scene, error);
  }
  while (scree_world_frame_index(rendering->world) < number) {
    if (interrupt_asked()) {
      *error = (ScreeError){.status = SCREE_INTERRUPTED};
      snprintf(error->message, sizeof error->message, "interrupted");
      return SCREE_INTERRUPTED;
    }
    ScreeStatus status = scree_world_frame(rendering->world, error);
    if (status != SCREE_OK) return status;
  }
  rendering->live.wants_pressure = rendering->settings.color == RENDER_COLOR_PRESSURE;
  *scene = &rendering->live;
  return scene_frame_view(&rendering->live, rendering->world, !rendering->coarse, error);
}

static ScreeStatus draw(Rendering *rendering, int64_t number, double turned, ScreeError *error) {
  SceneFrame *scene;
  ScreeStatus status = fetch(rendering, number, &scene, error);
  if (status != SCREE_OK) return status;
  const char *title = rendering->definition->title;
  snprintf(rendering->caption, sizeof rendering->caption, "%.200s   t = %.2f s",
           title && *title ? title : rendering->definition->name, scene->time);
  scene->frame.title = rendering->title ? rendering->caption : NULL;
  Camera camera = camera_orbit(scene_camera(rendering->definition), turned);
  return studio_draw(&rendering->studio, &scene->frame, &camera, &rendering->settings, error);
}

static void show_progress(Rendering *rendering, int64_t done, int64_t all) {
  if (rendering->quiet || !rendering->bar) return;
  char filled[31];
  int full = (int)(30 * done / all);
  memset(filled, '#', (size_t)full);
  memset(filled + full, '.', (size_t)(30 - full));
  filled[30] = 0;
  fprintf(stderr, "\r[%s] picture %lld of %lld, %lld grains\033[K", filled, (long long)done, (long long)all,
          (long long)renderer_statistics(rendering->studio.renderer).grains);
  if (done == all) fputs("\r\033[K", stderr);
}

static ScreeStatus make_still(Rendering *rendering, ScreeError *error) {
  ScreeStatus status = draw(rendering, rendering->frame, 0, error);
  return status == SCREE_OK ? image_write_png(&rendering->studio.image, rendering->target, error) : status;
}

static ScreeStatus make_film(Rendering *rendering, int64_t *count, ScreeError *error) {
  double rate = rendering->definition->frame_rate;
  double fps = isnan(rendering->fps) ? fmin(30, rate) : rendering->fps;
  *count = (int64_t)floor((double)rendering->last * fps / rate + 1e-6) + 1;
  ScreeStatus status =
      film_open(rendering->target, rendering->settings.width, rendering->settings.height, fps, &rendering->film, error);
  for (int64_t k = 0; status == SCREE_OK && k < *count; k++) {
    double turned = *count > 1 ? rendering->orbit * (double)k / (double)(*count - 1) : 0;
    status = draw(rendering, (int64_t)floor((double)k * rate / fps + 0.5), turned, error);
    if (status == SCREE_OK && interrupt_asked()) {
      *error = (ScreeError){.status = status = SCREE_INTERRUPTED};
      snprintf(error->message, sizeof error->message, "interrupted");
    }
    if (status == SCREE_OK) status = film_add(rendering->film, &rendering->studio.image, error);
    if (status == SCREE_OK) show_progress(rendering, k + 1, *count);
  }
  if (status != SCREE_OK) {
    film_abandon(rendering->film);
    return status;
  }
  return film_close(rendering->film, error);
}

static void finish(Rendering *rendering) {
  scene_frame_destroy(&rendering->live);
  scree_world_destroy(rendering->world);
  scree_scene_free(rendering->scene);
  recording_close(rendering->recording);
  studio_close(&rendering->studio);
}

int command_render(int argc, char **argv) {
  Rendering rendering = {.scene_arguments.seed = -1,
                         .picture = picture_options_default(),
                         .frame = FRAME_AUTOMATIC,
                         .fps = NAN,
                         .seconds = NAN,
                         .bar = isatty(STDERR_FILENO)};
  Arguments arguments;
  int code;
  if (!parse(&rendering, argc, argv, &arguments, &code)) return code;
  interrupt_watch();
  ScreeError error = {0};
  int64_t pictures = 1;
  ScreeStatus status = open_source(&rendering, arguments.items[0], &error);
  if (status == SCREE_OK) status = choose_target(&rendering, arguments.items[0], &error);
  if (status == SCREE_OK) status = begin(&rendering, &error);
  if (status == SCREE_OK) {
    bool still = ends_in_png(rendering.target);
    picture_options_quality(&rendering.picture, still, &rendering.settings);
    status = still ? make_still(&rendering, &error) : make_film(&rendering, &pictures, &error);
  }
  if (status != SCREE_OK) code = print_error(&error);
  else if (!rendering.quiet)
    printf("%s: %lld picture%s\n", rendering.target, (long long)pictures, pictures > 1 ? "s" : "");
  finish(&rendering);
  return status == SCREE_OK ? 0 : code;
}
