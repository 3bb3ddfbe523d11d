#include "picture/filming.h"

#include <math.h>
#include <stdlib.h>

#include "render/film.h"

enum { USUAL_FPS = 30 };

struct Filming {
  FilmPlan plan;
  Studio *studio;
  Film *film;
  int64_t count, made;
};

ScreeStatus filming_open(const FilmPlan *plan, Studio *studio, Filming **result, ScreeError *error) {
  *result = NULL;
  Filming *filming = malloc(sizeof *filming);
  if (!filming) {
    *error = (ScreeError){.status = SCREE_NO_MEMORY, .message = "no memory for the film"};
    return SCREE_NO_MEMORY;
  }
  *filming = (Filming){.plan = *plan, .studio = studio};
  double rate = plan->view.definition->frame_rate;
  if (isnan(plan->fps)) filming->plan.fps = fmin(USUAL_FPS, rate);
  filming->count = (int64_t)floor((double)plan->last * filming->plan.fps / rate + 1e-6) + 1;
  const RenderSettings *settings = &plan->view.settings;
  ScreeStatus status =
      film_open(plan->path, settings->width, settings->height, filming->plan.fps, &filming->film, error);
  if (status == SCREE_OK) *result = filming;
  else free(filming);
  return status;
}

int64_t filming_count(const Filming *filming) { return filming->count; }
int64_t filming_made(const Filming *filming) { return filming->made; }

int64_t filming_next(const Filming *filming) {
  if (filming->made == filming->count) return -1;
  double rate = filming->plan.view.definition->frame_rate;
  return (int64_t)floor((double)filming->made * rate / filming->plan.fps + 0.5);
}

ScreeStatus filming_add(Filming *filming, SceneFrame *scene, ScreeError *error) {
  double share = filming->count > 1 ? (double)filming->made / (double)(filming->count - 1) : 0;
  ScreeStatus status =
      studio_draw_scene(filming->studio, scene, &filming->plan.view, share * filming->plan.orbit_deg, error);
  if (status == SCREE_OK) status = film_add(filming->film, &filming->studio->image, error);
  if (status == SCREE_OK) filming->made++;
  return status;
}

ScreeStatus filming_close(Filming *filming, ScreeError *error) {
  ScreeStatus status = film_close(filming->film, error);
  free(filming);
  return status;
}

void filming_abandon(Filming *filming) {
  if (!filming) return;
  film_abandon(filming->film);
  free(filming);
}
