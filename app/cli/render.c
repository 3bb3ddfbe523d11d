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
#include "output/output.h"
#include "picture/recording.h"
#include "picture/world_pictures.h"
#include "render/film.h"

typedef struct Rendering {
  SceneArguments scene_arguments;
  PictureOptions picture;
  FilmOptions film;
  const char *target;
  int64_t frame, threads;
  double seconds;
  const char *device;
  bool quiet, bar;
  /* where frames come from: a recording, or a scene that is simulated along */
  Recording *recording;
  ScreeScene *scene;
  int64_t last; /* number of the last frame */
  SceneView view;
  char default_target[SCREE_FILE_MAX + 32];
} Rendering;

#define FRAME_AUTOMATIC INT64_MIN
enum { THREADS_MOST = 256 };

static bool parse(Rendering *rendering, int argc, char **argv, Arguments *arguments, int *code) {
  const Option options[] = {
      {'o', "--output", OPTION_TEXT, &rendering->target, "FILE",
       "film (.mp4, .webm) or still (.png); default: film.mp4 or still.png in DIR, or out/<scene>.mp4 or .png", 0, 0},
      {0, "--frame", OPTION_INTEGER, &rendering->frame, "K", "a still of this frame; -1 is the last", -1e12, 1e12},
      PICTURE_OPTIONS(&rendering->picture),
      FILM_OPTIONS(&rendering->film),
      {0, "--seconds", OPTION_REAL, &rendering->seconds, "T", "of a SCENE: simulate so many seconds", 0, 1e6},
      SCENE_OPTIONS(&rendering->scene_arguments),
      {0, "--threads", OPTION_INTEGER, &rendering->threads, "N", "threads (default 0: one per core)", 0, THREADS_MOST},
      DEVICE_OPTION(&rendering->device),
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
  return options_parse(&usage, argc, argv, arguments, code) && film_options_check(&rendering->film, code) &&
         picture_options_apply(&rendering->picture, &rendering->view.settings, code);
}

static bool is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static ScreeStatus open_source(Rendering *rendering, const char *name, ScreeError *error) {
  if (is_folder(name)) {
    ScreeStatus status = recording_open(name, !rendering->film.coarse, &rendering->recording, error);
    if (status != SCREE_OK) return status;
    rendering->view.definition = recording_definition(rendering->recording);
    const ScreeError *trouble;
    const char *missing = recording_missing(rendering->recording, &trouble);
    if (missing) fprintf(stderr, "%s/scene.yaml: warning: drawn without %s: %s\n", name, missing, trouble->message);
    rendering->last = recording_number(rendering->recording, recording_count(rendering->recording) - 1);
    return SCREE_OK;
  }
  ScreeStatus status = scene_load(name, &rendering->scene_arguments, &rendering->scene, error);
  if (status != SCREE_OK) return status;
  rendering->view.definition = scree_scene_definition(rendering->scene);
  double seconds = isnan(rendering->seconds) ? rendering->view.definition->duration : rendering->seconds;
  rendering->last = (int64_t)ceil(seconds * rendering->view.definition->frame_rate - 1e-6);
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
      snprintf(rendering->default_target, sizeof rendering->default_target, "out/%s.%s",
               rendering->view.definition->name, still ? "png" : "mp4");
    rendering->target = rendering->default_target;
    ScreeStatus status = folder ? SCREE_OK : output_make_folder("out", error);
    if (status != SCREE_OK) return status;
  }
  *error = (ScreeError){.status = SCREE_BAD_ARGUMENT};
  snprintf(error->file, sizeof error->file, "%.*s", SCREE_FILE_MAX - 1, rendering->target);
  bool png = still_name_known(rendering->target);
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

static void show_progress(const Rendering *rendering, const Filming *film, const Renderer *renderer) {
  if (!film || rendering->quiet || !rendering->bar) return;
  int64_t done = filming_made(film), all = filming_count(film);
  char filled[31];
  int full = (int)(30 * done / all);
  memset(filled, '#', (size_t)full);
  memset(filled + full, '.', (size_t)(30 - full));
  filled[30] = 0;
  fprintf(stderr, "\r[%s] picture %lld of %lld, %lld grains\033[K", filled, (long long)done, (long long)all,
          (long long)renderer_statistics(renderer).grains);
  if (done == all) fputs("\r\033[K", stderr);
}

static ScreeStatus check_interrupt(ScreeError *error) {
  if (!interrupt_asked()) return SCREE_OK;
  *error = (ScreeError){.status = SCREE_INTERRUPTED, .message = "interrupted"};
  return SCREE_INTERRUPTED;
}

/* Compact frames may be without what the colours are made of. */
static ScreeStatus check_columns(const Rendering *rendering, ScreeError *error) {
  RenderColor color = rendering->view.settings.color;
  bool speed = color == RENDER_COLOR_SPEED && !recording_has_velocity(rendering->recording);
  bool id = color == RENDER_COLOR_ID && !recording_has_id(rendering->recording);
  if (!speed && !id) return SCREE_OK;
  *error = (ScreeError){.status = SCREE_BAD_ARGUMENT};
  snprintf(error->message, sizeof error->message,
           "--color %s: the frames hold no %s; scree run --frames-columns velocity,id writes them",
           speed ? "speed" : "id", speed ? "velocities" : "ids");
  return SCREE_BAD_ARGUMENT;
}

/* The frame of that number, or the last one before it that was written. */
static ScreeStatus read_frame(const Rendering *rendering, int64_t number, SceneFrame **scene, ScreeError *error) {
  int64_t low = 0, high = recording_count(rendering->recording) - 1;
  while (low < high) {
    int64_t middle = (low + high + 1) / 2;
    if (recording_number(rendering->recording, middle) <= number) low = middle;
    else high = middle - 1;
  }
  ScreeStatus status = recording_read(rendering->recording, low, scene, error);
  return status == SCREE_OK ? check_columns(rendering, error) : status;
}

static FilmPlan plan_film(const Rendering *rendering) {
  return (FilmPlan){.path = rendering->target,
                    .view = rendering->view,
                    .last = rendering->last,
                    .fps = rendering->film.fps,
                    .orbit_deg = rendering->film.orbit};
}

static ScreeStatus film_folder(const Rendering *rendering, Studio *studio, int64_t *count, ScreeError *error) {
  FilmPlan plan = plan_film(rendering);
  Filming *film = NULL;
  SceneFrame *scene;
  ScreeStatus status = filming_open(&plan, studio, &film, error);
  while (status == SCREE_OK && filming_next(film) >= 0) {
    status = read_frame(rendering, filming_next(film), &scene, error);
    if (status == SCREE_OK) status = check_interrupt(error);
    if (status == SCREE_OK) status = filming_add(film, scene, error);
    if (status == SCREE_OK) show_progress(rendering, film, studio->renderer);
  }
  if (status != SCREE_OK) {
    filming_abandon(film);
    return status;
  }
  *count = filming_count(film);
  return filming_close(film, error);
}

static ScreeStatus render_folder(const Rendering *rendering, int64_t *count, ScreeError *error) {
  Studio studio;
  SceneFrame *scene;
  ScreeStatus status = studio_open(&studio, (int32_t)rendering->threads, error);
  if (status != SCREE_OK) return status;
  if (still_name_known(rendering->target)) {
    status = read_frame(rendering, rendering->frame, &scene, error);
    if (status == SCREE_OK) status = studio_still(&studio, scene, &rendering->view, rendering->target, error);
  } else {
    status = film_folder(rendering, &studio, count, error);
  }
  studio_close(&studio);
  return status;
}

/* Simulates up to the last frame that is drawn. */
static ScreeStatus simulate(Rendering *rendering, WorldPictures *pictures, ScreeError *error) {
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = (int32_t)rendering->threads;
  options.device = device_wanted(rendering->device);
  options.log_level = SCREE_LOG_WARNING;
  options.log = log_to_stderr;
  options.log_context = rendering;
  const Filming *film = world_pictures_film(pictures);
  ScreeWorld *world = NULL;
  ScreeStatus status = scree_world_create(rendering->view.definition, &options, &world, error);
  if (status == SCREE_OK && !rendering->quiet) print_device_note(world);
  if (status == SCREE_OK) status = world_pictures_frame(pictures, world, error);
  while (status == SCREE_OK && (film ? filming_next(film) >= 0 : scree_world_frame_index(world) < rendering->frame)) {
    status = check_interrupt(error);
    if (status == SCREE_OK) status = scree_world_frame(world, error);
    if (status == SCREE_OK) status = world_pictures_frame(pictures, world, error);
    if (status == SCREE_OK) show_progress(rendering, film, world_pictures_renderer(pictures));
  }
  scree_world_destroy(world);
  return status;
}

static ScreeStatus render_scene(Rendering *rendering, int64_t *count, ScreeError *error) {
  WorldPicturesPlan plan = {.coarse = rendering->film.coarse, .threads = (int32_t)rendering->threads};
  if (still_name_known(rendering->target)) {
    plan.still = rendering->target;
    plan.still_view = rendering->view;
    plan.still_frame = rendering->frame;
  } else {
    plan.film = plan_film(rendering);
  }
  WorldPictures *pictures = NULL;
  ScreeStatus status = world_pictures_open(&plan, &pictures, error);
  if (status == SCREE_OK) status = simulate(rendering, pictures, error);
  if (status != SCREE_OK) {
    world_pictures_abandon(pictures);
    return status;
  }
  if (plan.film.path) *count = filming_count(world_pictures_film(pictures));
  return world_pictures_close(pictures, error);
}

int command_render(int argc, char **argv) {
  Rendering rendering = {.scene_arguments.seed = -1,
                         .picture = picture_options_default(),
                         .film = film_options_default(),
                         .frame = FRAME_AUTOMATIC,
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
  if (status == SCREE_OK) {
    picture_options_quality(&rendering.picture, still_name_known(rendering.target), &rendering.view.settings);
    rendering.view.caption = rendering.film.title;
    status = rendering.recording ? render_folder(&rendering, &pictures, &error)
                                 : render_scene(&rendering, &pictures, &error);
  }
  if (status != SCREE_OK) code = print_error(&error);
  else if (!rendering.quiet)
    printf("%s: %lld picture%s\n", rendering.target, (long long)pictures, pictures > 1 ? "s" : "");
  recording_close(rendering.recording);
  scree_scene_free(rendering.scene);
  return status == SCREE_OK ? 0 : code;
}
