/* How a run goes: a bar on a terminal, a plain line now and then elsewhere. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "output/output.h"
#include "scree/scree.h"

typedef struct Progress {
  bool quiet, terminal, bar_shown;
  int64_t target;  /* last frame */
  double shown_at; /* wall seconds of the run */
} Progress;

Progress progress_begin(bool quiet, int64_t target);
void progress_frame(Progress *progress, const ScreeWorld *world, const Output *output);
/* Takes the bar away, so that other lines start at the margin. */
void progress_clear(Progress *progress);

#endif
