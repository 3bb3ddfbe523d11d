/* Pictures of a world while it runs: a film, a still, or both, drawn from the world itself. Nothing goes through files.
 *
 *   world_pictures_open(&plan, &pictures, &error);            before the world is made: it may lack a driver or ffmpeg
 *   world_pictures_frame(pictures, world, &error);            at the start and after every scree_world_frame
 *   world_pictures_close(pictures, &error); */
#ifndef PICTURE_WORLD_PICTURES_H
#define PICTURE_WORLD_PICTURES_H

#include "picture/filming.h"

typedef struct WorldPictures WorldPictures;

typedef struct WorldPicturesPlan {
  FilmPlan film;     /* path NULL: no film */
  const char *still; /* .png; NULL: no still */
  SceneView still_view;
  int64_t still_frame;
  bool coarse; /* the simulated particles, also where there are fine grains */
  int32_t threads;
} WorldPicturesPlan;

ScreeStatus world_pictures_open(const WorldPicturesPlan *plan, WorldPictures **pictures, ScreeError *error);

/* Draws what shows the frame that the world has reached. Frames that no picture shows cost nothing. */
ScreeStatus world_pictures_frame(WorldPictures *pictures, const ScreeWorld *world, ScreeError *error);

const Filming *world_pictures_film(const WorldPictures *pictures); /* NULL: no film */
const Renderer *world_pictures_renderer(const WorldPictures *pictures);

/* Ends the film and frees all, whatever comes of it. */
ScreeStatus world_pictures_close(WorldPictures *pictures, ScreeError *error);
/* Gives up: of the film nothing is left behind. NULL is allowed. */
void world_pictures_abandon(WorldPictures *pictures);

#endif
