/* Frames of an output folder, read back. One thread at a time uses one ScreeFrames. */
#ifndef PYTHON_FRAMES_H
#define PYTHON_FRAMES_H

#include "scree/world.h"

typedef struct ScreeFrames ScreeFrames;

/* kind: "coarse" or "grains". No frames of that kind are no failure. */
SCREE_API ScreeStatus scree_frames_open(const char *folder, const char *kind, ScreeFrames **frames, ScreeError *error);
SCREE_API void scree_frames_close(ScreeFrames *frames);
SCREE_API int64_t scree_frames_count(const ScreeFrames *frames);
/* Of the k-th frame there is. The path is good until the next call. */
SCREE_API int64_t scree_frames_number(const ScreeFrames *frames, int64_t k);
SCREE_API const char *scree_frames_path(ScreeFrames *frames, int64_t k);

typedef struct ScreeFrame {
  ScreeParticles particles; /* good until the next read */
  double time;              /* s; NaN where the file does not say */
  bool has_velocity, has_id;
} ScreeFrame;
SCREE_API ScreeStatus scree_frames_read(ScreeFrames *frames, int64_t k, ScreeFrame *frame, ScreeError *error);

#endif
