#include "app/cli/run_pictures.h"

#include <stdio.h>
#include <unistd.h>

#include "output/output.h"
#include "render/film.h"

RunPictures run_pictures_default(void) {
  return (RunPictures){.still_frame = -1, .look = picture_options_default(), .options = film_options_default()};
}

bool run_pictures_check(RunPictures *pictures, bool resume, int *code) {
  if (!film_options_check(&pictures->options, code) ||
      !picture_options_apply(&pictures->look, &pictures->settings, code))
    return false;
  if (resume && (pictures->film || pictures->still))
    *code = usage_error("--film and --still show a run from its start: not with --resume");
  else if (pictures->film && !film_name_known(pictures->film))
    *code = usage_error("--film '%s': its name ends in .mp4 or .webm", pictures->film);
  else if (pictures->still && !still_name_known(pictures->still))
    *code = usage_error("--still '%s': its name ends in .png", pictures->still);
  else return true;
  return false;
}

static SceneView view_of(const RunPictures *pictures, const ScreeSceneDef *definition, bool still) {
  SceneView view = {.definition = definition, .settings = pictures->settings, .caption = pictures->options.title};
  picture_options_quality(&pictures->look, still, &view.settings);
  return view;
}

ScreeStatus run_pictures_open(RunPictures *pictures, const ScreeSceneDef *definition, int64_t last, int32_t threads,
                              const char *folder, ScreeError *error) {
  if (!pictures->film && !pictures->still) return SCREE_OK;
  int64_t frame = pictures->still_frame < 0 ? pictures->still_frame + last + 1 : pictures->still_frame;
  if (pictures->still && (frame < 0 || frame > last)) {
    *error = (ScreeError){.status = SCREE_BAD_ARGUMENT};
    snprintf(error->message, sizeof error->message, "--still-frame %lld: frames run from 0 to %lld",
             (long long)pictures->still_frame, (long long)last);
    return SCREE_BAD_ARGUMENT;
  }
  WorldPicturesPlan plan = {.film = {.path = pictures->film,
                                     .view = view_of(pictures, definition, false),
                                     .last = last,
                                     .fps = pictures->options.fps,
                                     .orbit_deg = pictures->options.orbit},
                            .still = pictures->still,
                            .still_view = view_of(pictures, definition, true),
                            .still_frame = frame,
                            .coarse = pictures->options.coarse,
                            .threads = threads};
  if (access(folder, F_OK) != 0) pictures->folder = folder;
  ScreeStatus status = output_make_folder(folder, error);
  return status == SCREE_OK ? world_pictures_open(&plan, &pictures->drawn, error) : status;
}

ScreeStatus run_pictures_frame(RunPictures *pictures, const ScreeWorld *world, ScreeError *error) {
  return pictures->drawn ? world_pictures_frame(pictures->drawn, world, error) : SCREE_OK;
}

ScreeStatus run_pictures_close(RunPictures *pictures, bool finished, ScreeError *error) {
  ScreeStatus status = SCREE_OK;
  if (finished && pictures->drawn) status = world_pictures_close(pictures->drawn, error);
  else world_pictures_abandon(pictures->drawn);
  pictures->drawn = NULL;
  if (pictures->folder) rmdir(pictures->folder); /* fails, as it should, when the run has put anything there */
  pictures->folder = NULL;
  return status;
}
