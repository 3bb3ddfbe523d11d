/* The window itself: GLFW, camera, keys and the loop that draws. The simulation runs in its own thread. */
#include "app/viewer/viewer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/viewer/viewer_internal.h"

static ScreeStatus viewer_fail(ScreeError *error, ScreeStatus status, const char *message) {
  *error = (ScreeError){.status = status};
  snprintf(error->message, sizeof error->message, "%s", message);
  return status;
}

void viewer_say(Viewer *viewer, const char *line) { snprintf(viewer->message, sizeof viewer->message, "%s", line); }

static void viewer_say_error(Viewer *viewer, const ScreeError *error) {
  scree_error_line(error, viewer->message, sizeof viewer->message);
}

/* ---- the scene and its simulation ---- */

/* Loads the scene with the options' changes and those of the panel. */
static ScreeStatus viewer_load(Viewer *viewer, ScreeScene **scene, ScreeError *error) {
  enum { TEXT = 2 * EDIT_TEXT + 2 };
  const ViewerOptions *options = viewer->options;
  char path[SCREE_FILE_MAX], method[96];
  int32_t count = 0, most = options->set_count + viewer->edits.count + 1;
  const char **sets = calloc((size_t)most, sizeof *sets);
  char(*texts)[TEXT] = calloc((size_t)viewer->edits.count + 1, sizeof *texts);
  if (!sets || !texts) {
    free(sets);
    free(texts);
    return viewer_fail(error, SCREE_NO_MEMORY, "no memory for the scene");
  }
  ScreeStatus status = scree_scene_find(viewer->scene_name, path, sizeof path, error);
  if (viewer->method[0]) {
    snprintf(method, sizeof method, "method.name=%s", viewer->method);
    sets[count++] = method;
  }
  for (int32_t k = 0; k < options->set_count; k++) sets[count++] = options->sets[k];
  for (int k = 0; k < viewer->edits.count; k++) {
    snprintf(texts[k], sizeof texts[k], "%s=%s", viewer->edits.paths[k], viewer->edits.values[k]);
    sets[count++] = texts[k];
  }
  ScreeSceneOptions scene_options = {.sets = sets, .set_count = count};
  if (status == SCREE_OK) status = scree_scene_load(path, &scene_options, scene, error);
  free(sets);
  free(texts);
  return status;
}

/* Starts anew with what is chosen now; the running simulation goes on when that fails. */
static ScreeStatus viewer_start(Viewer *viewer, bool keep_camera, ScreeError *error) {
  ScreeScene *scene = NULL;
  ScreeStatus status = viewer_load(viewer, &scene, error);
  if (status != SCREE_OK) return status;
  simulation_stop(viewer->simulation, NULL);
  viewer->simulation = NULL;
  scree_scene_free(viewer->scene);
  viewer->scene = scene;
  const ScreeSceneDef *definition = scree_scene_definition(scene);
  viewer->home = scene_camera(definition);
  if (!keep_camera) {
    viewer->camera = viewer->home;
    double away = camera_distance(&viewer->home);
    viewer->panel.blast_radius = fmax(0.06 * away, 3 * definition->method.radius);
    viewer->panel.drop_size = fmax(0.08 * away, 8 * definition->method.radius);
  }
  viewer->history = (History){0};
  viewer->driven_count = 0;
  viewer->pushed = 0;
  viewer->seen_version = 0;
  viewer->stepping = false;
  SimulationPlan plan = {.definition = definition,
                         .threads = viewer->options->threads,
                         .device = viewer->options->device,
                         .fine = viewer->panel.fine,
                         .paused = viewer->panel.paused || viewer->film,
                         .speed = viewer->panel.speed,
                         .keys = ++viewer->starts};
  return simulation_start(&plan, &viewer->simulation, error);
}

void viewer_restart(Viewer *viewer, bool keep_camera) {
  ScreeError error;
  viewer->message[0] = 0;
  if (viewer_start(viewer, keep_camera, &error) != SCREE_OK) viewer_say_error(viewer, &error);
}

static int viewer_list_scene(void *context, const char *name, const char *path, const char *title) {
  (void)path, (void)title;
  PanelScenes *scenes = context;
  void *grown = realloc(scenes->names, (size_t)(scenes->count + 1) * sizeof *scenes->names);
  if (!grown) return 1;
  scenes->names = grown;
  snprintf(scenes->names[scenes->count++], EDIT_TEXT, "%s", name);
  return 0;
}

/* ---- drawing ---- */

static void viewer_remember(Viewer *viewer) {
  History *history = &viewer->history;
  const SimulationReport *report = &viewer->report;
  int at = history->count < HISTORY_LENGTH ? history->count++ : history->begin;
  if (history->count == HISTORY_LENGTH) history->begin = (at + 1) % HISTORY_LENGTH;
  history->frame_ms[at] = (float)report->frame_ms;
  history->draw_ms[at] = (float)viewer->panel.draw_ms;
  history->kinetic[at] = (float)report->kinetic;
  history->potential[at] = (float)report->potential;
  ScreeVec3 f = report->tool_force;
  history->tool[at] = (float)sqrt(f.x * f.x + f.y * f.y + f.z * f.z);
  for (int32_t k = 0; k < report->phase_count; k++) history->phases[k][at] = (float)report->phases[k].value;
  for (int32_t k = 0; k < report->probe_count; k++) history->probes[k][at] = (float)report->probes[k].value;
}

void viewer_record(Viewer *viewer) {
  ScreeError error;
  if (viewer->film) {
    if (film_close(viewer->film, &error) != SCREE_OK) viewer_say_error(viewer, &error);
    else viewer_say(viewer, viewer->film_name);
    viewer->film = NULL;
    simulation_pause(viewer->simulation, viewer->panel.paused);
    return;
  }
  snprintf(viewer->film_name, sizeof viewer->film_name, "film_%03d.mp4", ++viewer->films);
  viewer->film_width = viewer->settings.width;
  viewer->film_height = viewer->settings.height;
  if (film_open(viewer->film_name, viewer->film_width, viewer->film_height, VIEWER_FILM_RATE, &viewer->film, &error) !=
      SCREE_OK)
    viewer_say_error(viewer, &error);
  viewer->film_pictures = 0;
  viewer->film_began = viewer->report.time;
  if (viewer->film) simulation_pause(viewer->simulation, true);
}

/* Pictures enter the film by simulated time. While a film is made the simulation goes frame by frame, each as soon as
 * the last is drawn, so that no picture is missing. */
static void viewer_film(Viewer *viewer) {
  if (!viewer->film) return;
  ScreeError error;
  ScreeStatus status = SCREE_OK;
  bool sized = viewer->settings.width == viewer->film_width && viewer->settings.height == viewer->film_height;
  double due = (viewer->report.time - viewer->film_began) * VIEWER_FILM_RATE;
  if (sized && (double)viewer->film_pictures > due) return;
  if (sized) status = renderer_read(viewer->renderer, &viewer->image, &error);
  if (sized && status == SCREE_OK) status = film_add(viewer->film, &viewer->image, &error);
  viewer->film_pictures++;
  if (!sized) { /* the window was resized: the film ends here */
    viewer_record(viewer);
  } else if (status != SCREE_OK) {
    viewer_say_error(viewer, &error);
    film_abandon(viewer->film);
    viewer->film = NULL;
    simulation_pause(viewer->simulation, viewer->panel.paused);
  }
}

void viewer_picture(Viewer *viewer, const char *path) {
  ScreeError error;
  ScreeStatus status = renderer_read(viewer->renderer, &viewer->image, &error);
  if (status == SCREE_OK) status = image_write_png(&viewer->image, path, &error);
  if (status != SCREE_OK) viewer_say_error(viewer, &error);
  else viewer_say(viewer, path);
}

/* Whether the last picture would come out the same again: then only the panel is drawn over it. */
static bool viewer_still(Viewer *viewer, const RenderFrame *frame) {
  bool same = frame->version == viewer->drawn_version && viewer->drawn_any &&
              memcmp(&viewer->camera, &viewer->drawn_camera, sizeof viewer->camera) == 0 &&
              memcmp(&viewer->settings, &viewer->drawn_settings, sizeof viewer->settings) == 0;
  viewer->drawn_any = true;
  viewer->drawn_version = frame->version;
  memcpy(&viewer->drawn_camera, &viewer->camera, sizeof viewer->camera);
  memcpy(&viewer->drawn_settings, &viewer->settings, sizeof viewer->settings);
  return same;
}

static ScreeStatus viewer_draw(Viewer *viewer, ScreeError *error) {
  static const RenderFrame nothing = {.gravity = 9.81};
  int width, height;
  glfwGetFramebufferSize(viewer->window, &width, &height);
  if (width < 1 || height < 1) return SCREE_OK;
  viewer->settings.width = viewer->panel.half && width > 1 ? width / 2 : width;
  viewer->settings.height = viewer->panel.half && height > 1 ? height / 2 : height;
  if (viewer->simulation) simulation_pressure(viewer->simulation, viewer->settings.color == RENDER_COLOR_PRESSURE);
  viewer->frame = viewer->simulation ? simulation_frame(viewer->simulation) : NULL;
  if (viewer->simulation) simulation_report(viewer->simulation, &viewer->report);
  const RenderFrame *frame = viewer->frame ? &viewer->frame->frame : &nothing;
  double began = glfwGetTime();
  viewer->drew = !viewer_still(viewer, frame);
  if (viewer->drew) {
    ScreeStatus status = renderer_draw(viewer->renderer, frame, &viewer->camera, &viewer->settings, error);
    if (status != SCREE_OK) return status;
    viewer->panel.draw_ms += 0.2 * (1e3 * (glfwGetTime() - began) - viewer->panel.draw_ms);
  }
  renderer_present(viewer->renderer, width, height);
  if (viewer->frame && frame->version != viewer->seen_version) {
    if (!viewer->seen_version) { /* the first of a start: from now on keys have something to act on */
      char title[SCREE_FILE_MAX + 16];
      snprintf(title, sizeof title, "scree - %s", viewer->scene_name);
      glfwSetWindowTitle(viewer->window, title);
    }
    viewer->seen_version = frame->version;
    viewer_remember(viewer);
    viewer_film(viewer);
    viewer->stepping = false;
  }
  if (viewer->film && viewer->frame && !viewer->panel.paused && !viewer->stepping) {
    simulation_step(viewer->simulation);
    viewer->stepping = true;
  }
  return SCREE_OK;
}

/* ---- what the panel wished ---- */

static void viewer_obey_run(Viewer *viewer, const Panel *before) {
  Panel *panel = &viewer->panel;
  if (panel->paused != before->paused) simulation_pause(viewer->simulation, panel->paused || viewer->film);
  if (panel->speed != before->speed) simulation_speed(viewer->simulation, panel->speed);
  if (panel->fine != before->fine) simulation_fine(viewer->simulation, panel->fine);
  if (panel->wants_step) simulation_step(viewer->simulation);
  if (panel->control >= 0) viewer_drive_to(viewer, panel->control, panel->control_value);
  if (panel->wants_blast) viewer_blast(viewer, 0.5, 0.5);
  if (panel->wants_drop) viewer_drop(viewer, 0.5, 0.5);
}

static void viewer_obey(Viewer *viewer, const Panel *before) {
  Panel *panel = &viewer->panel;
  if (viewer->simulation) viewer_obey_run(viewer, before);
  if (panel->wants_home) viewer->camera = viewer->home;
  if (panel->wants_record) viewer_record(viewer);
  if (panel->wants_picture) viewer_number_picture(viewer);
  if (panel->wants_scene >= 0) {
    snprintf(viewer->scene_name, sizeof viewer->scene_name, "%s", viewer->scenes.names[panel->wants_scene]);
    viewer->method[0] = 0;
    viewer->edits.count = 0;
    viewer_restart(viewer, false);
  } else if (panel->wants_method) {
    snprintf(viewer->method, sizeof viewer->method, "%s", panel->wants_method);
    viewer_restart(viewer, true);
  } else if (panel->wants_reset) {
    viewer_restart(viewer, true);
  }
}

static void viewer_panel(Viewer *viewer) {
  Panel *panel = &viewer->panel;
  panel->definition = viewer->scene ? scree_scene_definition(viewer->scene) : NULL;
  panel->report = &viewer->report;
  panel->history = &viewer->history;
  panel->scenes = &viewer->scenes;
  panel->scene_name = viewer->scene_name;
  panel->message = viewer->message;
  panel->recording = viewer->film != NULL;
  panel->settings = &viewer->settings;
  panel->edits = &viewer->edits;
  panel->wants_reset = panel->wants_step = panel->wants_record = panel->wants_picture = panel->wants_home = false;
  panel->wants_blast = panel->wants_drop = false;
  panel->wants_scene = panel->control = -1;
  panel->wants_method = NULL;
  Panel before = *panel;
  if (viewer->show_panel) panel_draw(panel);
  viewer_obey(viewer, &before);
}

/* Until there is a frame, the title tells what is being done, with or without the panel. */
static void viewer_prepare(Viewer *viewer) {
  const SimulationReport *report = &viewer->report;
  if (viewer->seen_version || report->ready || !report->preparing) return;
  char title[128];
  snprintf(title, sizeof title, "scree: %s: %.0f %%", report->preparing, 100 * report->prepared);
  glfwSetWindowTitle(viewer->window, title);
}

/* ---- the window ---- */

static RenderFunction viewer_loader(const char *name) { return (RenderFunction)glfwGetProcAddress(name); }

static ScreeStatus viewer_open(Viewer *viewer, ScreeError *error) {
  glfwSetErrorCallback(NULL);
  if (!glfwInit()) return viewer_fail(error, SCREE_BAD_INPUT, "cannot open a window: there is no display");
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  viewer->window = glfwCreateWindow(viewer->options->width, viewer->options->height, "scree", NULL, NULL);
  if (!viewer->window) return viewer_fail(error, SCREE_BAD_INPUT, "cannot open a window: no OpenGL 3.3 there");
  glfwMakeContextCurrent(viewer->window);
  glfwSwapInterval(1);
  viewer_watch_input(viewer);
  ScreeStatus status = renderer_create(viewer_loader, 1, &viewer->renderer, error);
  if (status != SCREE_OK) return status;
  if (!panel_create(viewer->window))
    return viewer_fail(error, SCREE_BAD_INPUT, "cannot open a window: the panel refuses its OpenGL");
  viewer->has_panel = true;
  return SCREE_OK;
}

static void viewer_close(Viewer *viewer) {
  ScreeError error;
  if (viewer->film && film_close(viewer->film, &error) != SCREE_OK) fprintf(stderr, "%s\n", error.message);
  bool ran = viewer->simulation != NULL;
  simulation_stop(viewer->simulation, &viewer->report);
  if (ran) {
    const SimulationReport *r = &viewer->report;
    printf("%s: %" PRId64 " frames, t = %.4f s, state hash %016" PRIx64 "\n", viewer->scene_name, r->frame, r->time,
           r->hash);
    printf("grains: %" PRId64 ", their middle [%.4f, %.4f, %.4f]; dropped bodies: %d\n", r->coarse, r->middle.x,
           r->middle.y, r->middle.z, (int)r->dropped);
    printf("camera: {eye: [%.4g, %.4g, %.4g], target: [%.4g, %.4g, %.4g], fov_deg: %.4g}\n", viewer->camera.eye.x,
           viewer->camera.eye.y, viewer->camera.eye.z, viewer->camera.target.x, viewer->camera.target.y,
           viewer->camera.target.z, viewer->camera.fov_deg);
    for (int32_t k = 0; k < r->control_count; k++)
      printf("control %s: %.4f\n", r->controls[k].name, r->controls[k].value);
  }
  if (viewer->has_panel) panel_destroy();
  renderer_destroy(viewer->renderer);
  image_destroy(&viewer->image);
  scree_scene_free(viewer->scene);
  free(viewer->scenes.names);
  if (viewer->window) glfwDestroyWindow(viewer->window);
  glfwTerminate();
}

static ScreeStatus viewer_loop(Viewer *viewer, ScreeError *error) {
  const ViewerOptions *options = viewer->options;
  double before = glfwGetTime();
  while (!glfwWindowShouldClose(viewer->window)) {
    glfwPollEvents();
    double now = glfwGetTime();
    viewer_input(viewer, now - before);
    before = now;
    ScreeStatus status = viewer_draw(viewer, error);
    if (status != SCREE_OK) return status;
    viewer_prepare(viewer);
    viewer_panel(viewer);
    glfwSwapBuffers(viewer->window);
    if (options->seconds > 0 && now > options->seconds) break;
    /* The driver of the CPU knows no display to wait for. Where nothing moves, the processor is the simulation's. */
    double spent = glfwGetTime() - now, turn = viewer->drew ? 1.0 / 120 : 1.0 / 20;
    if (spent < turn) glfwWaitEventsTimeout(turn - spent);
  }
  if (options->picture) {
    viewer->message[0] = 0;
    ScreeStatus status = renderer_read(viewer->renderer, &viewer->image, error);
    return status == SCREE_OK ? image_write_png(&viewer->image, options->picture, error) : status;
  }
  return SCREE_OK;
}

ScreeStatus viewer_run(const ViewerOptions *options, ScreeError *error) {
  Viewer *viewer = calloc(1, sizeof *viewer);
  if (!viewer) return viewer_fail(error, SCREE_NO_MEMORY, "no memory for the window");
  viewer->options = options;
  viewer->settings = render_settings_default();
  viewer->show_panel = !options->no_panel;
  viewer->panel = (Panel){
      .speed = options->fast ? 0 : 1, .paused = options->paused, .fine = true, .blast_speed = 6, .drop_density = 4000};
  snprintf(viewer->scene_name, sizeof viewer->scene_name, "%s", options->scene);
  if (options->method) snprintf(viewer->method, sizeof viewer->method, "%s", options->method);
  /* The scene is looked at before the window opens: its errors belong on the terminal. */
  ScreeScene *scene = NULL;
  ScreeStatus status = viewer_load(viewer, &scene, error);
  scree_scene_free(scene);
  if (status == SCREE_OK) scree_scene_list(viewer_list_scene, &viewer->scenes, NULL);
  if (status == SCREE_OK) status = viewer_open(viewer, error);
  if (status == SCREE_OK && renderer_statistics(viewer->renderer).software) viewer->settings.shadows = false;
  if (status == SCREE_OK) status = viewer_start(viewer, false, error);
  if (status == SCREE_OK) status = viewer_loop(viewer, error);
  viewer_close(viewer);
  if (status == SCREE_OK && viewer->report.failed) {
    snprintf(error->message, sizeof error->message, "%.500s", viewer->report.message);
    error->file[0] = 0;
    error->line = 0;
    error->status = status = SCREE_FAILED;
  }
  free(viewer);
  return status;
}
