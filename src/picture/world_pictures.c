#include "picture/world_pictures.h"

#include <stdlib.h>

struct WorldPictures {
  WorldPicturesPlan plan;
  Studio studio;
  Filming *filming;
  SceneFrame scene;
  bool scene_made;
};

ScreeStatus world_pictures_open(const WorldPicturesPlan *plan, WorldPictures **result, ScreeError *error) {
  *result = NULL;
  WorldPictures *pictures = malloc(sizeof *pictures);
  if (!pictures) {
    *error = (ScreeError){.status = SCREE_NO_MEMORY, .message = "no memory for pictures"};
    return SCREE_NO_MEMORY;
  }
  *pictures = (WorldPictures){.plan = *plan};
  ScreeStatus status = studio_open(&pictures->studio, plan->threads, error);
  if (status == SCREE_OK && plan->film.path)
    status = filming_open(&plan->film, &pictures->studio, &pictures->filming, error);
  if (status == SCREE_OK) *result = pictures;
  else world_pictures_abandon(pictures);
  return status;
}

/* Points the frame at the world; its solids are looked up the first time. */
static ScreeStatus look(WorldPictures *pictures, const ScreeWorld *world, ScreeError *error) {
  ScreeStatus status = SCREE_OK;
  if (!pictures->scene_made) status = scene_frame_create(&pictures->scene, world, 1, error);
  if (status != SCREE_OK) return status;
  pictures->scene_made = true;
  const RenderSettings *settings =
      pictures->filming ? &pictures->plan.film.view.settings : &pictures->plan.still_view.settings;
  pictures->scene.wants_pressure = settings->color == RENDER_COLOR_PRESSURE;
  return scene_frame_view(&pictures->scene, world, !pictures->plan.coarse, error);
}

ScreeStatus world_pictures_frame(WorldPictures *pictures, const ScreeWorld *world, ScreeError *error) {
  const WorldPicturesPlan *plan = &pictures->plan;
  int64_t frame = scree_world_frame_index(world);
  bool still = plan->still && plan->still_frame == frame;
  bool film = pictures->filming && filming_next(pictures->filming) == frame;
  ScreeStatus status = still || film ? look(pictures, world, error) : SCREE_OK;
  if (status == SCREE_OK && still)
    status = studio_still(&pictures->studio, &pictures->scene, &plan->still_view, plan->still, error);
  while (status == SCREE_OK && film && filming_next(pictures->filming) == frame)
    status = filming_add(pictures->filming, &pictures->scene, error);
  return status;
}

const Filming *world_pictures_film(const WorldPictures *pictures) { return pictures->filming; }
const Renderer *world_pictures_renderer(const WorldPictures *pictures) { return pictures->studio.renderer; }

ScreeStatus world_pictures_close(WorldPictures *pictures, ScreeError *error) {
  ScreeStatus status = pictures->filming ? filming_close(pictures->filming, error) : SCREE_OK;
  pictures->filming = NULL;
  world_pictures_abandon(pictures);
  return status;
}

void world_pictures_abandon(WorldPictures *pictures) {
  if (!pictures) return;
  filming_abandon(pictures->filming);
  scene_frame_destroy(&pictures->scene);
  studio_close(&pictures->studio);
  free(pictures);
}
