/* Pictures of a running world in memory, behind functions that a library can export: what the Python package draws
 * with. Everything of one studio happens on one thread, that of scree_studio_open. */
#ifndef PYTHON_SHOT_H
#define PYTHON_SHOT_H

#include "scree/world.h"

typedef struct ScreeStudio ScreeStudio; /* a renderer without a window */
typedef struct ScreeShot ScreeShot;     /* what is drawn of one world, seen once */
typedef struct ScreeFilm ScreeFilm;

typedef struct ScreeShotOptions {
  int32_t width, height;
  const char *color; /* material, speed, height, pressure, depth or id */
  double low, high;  /* of the colour scale; NaN: follows the frames */
  bool shadows;
  bool legend;
  bool title;
  bool fine;        /* the fine grains, where there are any */
  bool supersample; /* four samples a pixel; otherwise edges are smoothed */
} ScreeShotOptions;

/* threads 0: one per core. SCREE_BAD_INPUT where the machine cannot draw. */
SCREE_API ScreeStatus scree_studio_open(int32_t threads, ScreeStudio **studio, ScreeError *error);
SCREE_API void scree_studio_close(ScreeStudio *studio);

/* Where the scene is seen from: as it says, or so that all of it is in the picture. */
SCREE_API ScreeCameraDef scree_world_camera(const ScreeWorld *world);

/* `key` tells the worlds of one studio apart. The world is looked at in each scree_shot_draw. */
SCREE_API ScreeStatus scree_shot_open(const ScreeWorld *world, uint64_t key, ScreeShot **shot, ScreeError *error);
SCREE_API void scree_shot_close(ScreeShot *shot);
SCREE_API ScreeShotOptions scree_shot_options_default(void);
/* rgba: 4 width height bytes, rows from the top; depth: width height floats, m along the view, or NULL. */
SCREE_API ScreeStatus scree_shot_draw(ScreeStudio *studio, ScreeShot *shot, const ScreeWorld *world,
                                      const ScreeCameraDef *camera, const ScreeShotOptions *options, uint8_t *rgba,
                                      float *depth, ScreeError *error);

/* A film through ffmpeg. close ends and frees it; abandon leaves nothing behind. */
SCREE_API ScreeStatus scree_film_open(const char *path, int32_t width, int32_t height, double rate, ScreeFilm **film,
                                      ScreeError *error);
SCREE_API ScreeStatus scree_film_add(ScreeFilm *film, const uint8_t *rgba, ScreeError *error);
SCREE_API ScreeStatus scree_film_close(ScreeFilm *film, ScreeError *error);
SCREE_API void scree_film_abandon(ScreeFilm *film);

#endif
