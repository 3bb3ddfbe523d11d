#include "python/glue/shot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture/scene_frame.h"
#include "picture/studio.h"
#include "render/film.h"

struct ScreeStudio {
  Studio studio;
};

struct ScreeShot {
  SceneFrame scene;
};

struct ScreeFilm {
  Film *film;
  int width, height;
};

static ScreeStatus refuse(ScreeError *error, ScreeStatus status, const char *message) {
  if (error) {
    *error = (ScreeError){.status = status};
    snprintf(error->message, sizeof error->message, "%s", message);
  }
  return status;
}

ScreeStatus scree_studio_open(int32_t threads, ScreeStudio **studio, ScreeError *error) {
  *studio = calloc(1, sizeof **studio);
  if (!*studio) return refuse(error, SCREE_NO_MEMORY, "no memory to draw");
  ScreeStatus status = studio_open(&(*studio)->studio, threads, error);
  if (status == SCREE_OK) return SCREE_OK;
  free(*studio);
  *studio = NULL;
  return status;
}

void scree_studio_close(ScreeStudio *studio) {
  if (!studio) return;
  studio_close(&studio->studio);
  free(studio);
}

ScreeCameraDef scree_world_camera(const ScreeWorld *world) {
  Camera camera = scene_camera(scree_world_definition(world));
  return (ScreeCameraDef){.eye = camera.eye, .target = camera.target, .fov_deg = camera.fov_deg};
}

ScreeStatus scree_shot_open(const ScreeWorld *world, uint64_t key, ScreeShot **shot, ScreeError *error) {
  *shot = calloc(1, sizeof **shot);
  if (!*shot) return refuse(error, SCREE_NO_MEMORY, "no memory to draw");
  ScreeStatus status = scene_frame_create(&(*shot)->scene, world, key, error);
  if (status == SCREE_OK) return SCREE_OK;
  free(*shot);
  *shot = NULL;
  return status;
}

void scree_shot_close(ScreeShot *shot) {
  if (!shot) return;
  scene_frame_destroy(&shot->scene);
  free(shot);
}

ScreeShotOptions scree_shot_options_default(void) {
  return (ScreeShotOptions){.width = 640,
                            .height = 480,
                            .color = "material",
                            .low = NAN,
                            .high = NAN,
                            .shadows = true,
                            .legend = true,
                            .fine = true};
}

ScreeStatus scree_shot_draw(ScreeStudio *studio, ScreeShot *shot, const ScreeWorld *world, const ScreeCameraDef *camera,
                            const ScreeShotOptions *options, uint8_t *rgba, float *depth, ScreeError *error) {
  RenderSettings settings = render_settings_default();
  settings.width = options->width;
  settings.height = options->height;
  settings.low = options->low;
  settings.high = options->high;
  settings.shadows = options->shadows;
  settings.legend = options->legend;
  settings.title = options->title;
  settings.antialias = options->supersample ? RENDER_SUPERSAMPLE : RENDER_SMOOTH;
  if (!render_color_find(options->color, &settings.color))
    return refuse(error, SCREE_BAD_ARGUMENT, "color is material, speed, height, pressure, depth or id");
  const Camera from = {camera->eye, camera->target, camera->fov_deg};
  shot->scene.wants_pressure = settings.color == RENDER_COLOR_PRESSURE;
  ScreeStatus status = scene_frame_view(&shot->scene, world, options->fine, error);
  if (status == SCREE_OK) {
    shot->scene.frame.version = 0; /* of another world, or of this one later: nothing is taken for known */
    status = studio_draw(&studio->studio, &shot->scene.frame, &from, &settings, error);
  }
  if (status != SCREE_OK) return status;
  memcpy(rgba, studio->studio.image.pixels, 4 * (size_t)options->width * (size_t)options->height);
  return depth ? renderer_read_depth(studio->studio.renderer, depth, error) : SCREE_OK;
}

ScreeStatus scree_film_open(const char *path, int32_t width, int32_t height, double rate, ScreeFilm **film,
                            ScreeError *error) {
  *film = calloc(1, sizeof **film);
  if (!*film) return refuse(error, SCREE_NO_MEMORY, "no memory for a film");
  (*film)->width = width;
  (*film)->height = height;
  ScreeStatus status = film_name_known(path)
                           ? film_open(path, width, height, rate, &(*film)->film, error)
                           : refuse(error, SCREE_BAD_ARGUMENT, "the name of a film ends in .mp4 or .webm");
  if (status == SCREE_OK) return SCREE_OK;
  free(*film);
  *film = NULL;
  return status;
}

ScreeStatus scree_film_add(ScreeFilm *film, const uint8_t *rgba, ScreeError *error) {
  const Image image = {film->width, film->height, (uint8_t *)rgba};
  return film_add(film->film, &image, error);
}

ScreeStatus scree_film_close(ScreeFilm *film, ScreeError *error) {
  ScreeStatus status = film_close(film->film, error);
  free(film);
  return status;
}

void scree_film_abandon(ScreeFilm *film) {
  if (!film) return;
  film_abandon(film->film);
  free(film);
}
