#include "python/glue/frames.h"

#include "output/frames.h"

/* ScreeFrames is Frames, under a name that a library can export. */
static Frames *inside(const ScreeFrames *frames) { return (Frames *)frames; }

ScreeStatus scree_frames_open(const char *folder, const char *kind, ScreeFrames **frames, ScreeError *error) {
  return frames_open(folder, kind, (Frames **)frames, error);
}

void scree_frames_close(ScreeFrames *frames) { frames_close(inside(frames)); }
int64_t scree_frames_count(const ScreeFrames *frames) { return frames_count(inside(frames)); }
int64_t scree_frames_number(const ScreeFrames *frames, int64_t k) { return frames_number(inside(frames), k); }
const char *scree_frames_path(ScreeFrames *frames, int64_t k) { return frames_path(inside(frames), k); }

ScreeStatus scree_frames_read(ScreeFrames *frames, int64_t k, ScreeFrame *frame, ScreeError *error) {
  ScreeStatus status = frames_read(inside(frames), k, &frame->particles, &frame->time, error);
  unsigned columns = status == SCREE_OK ? frames_columns(inside(frames)) : 0;
  frame->has_velocity = columns & FRAME_VELOCITY;
  frame->has_id = columns & FRAME_ID;
  return status;
}
