/* How a run is prepared and how it goes: a line that changes on a terminal, a plain line now and then elsewhere. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "output/output.h"
#include "scree/scree.h"

typedef struct Progress {
  bool quiet, terminal, bar_shown;
  int64_t target;            /* last frame */
  double shown_at;           /* wall seconds of the run */
  double prepared_at;        /* when what is prepared was last said */
  const char *prepared_what; /* and what it was */
} Progress;

Progress progress_begin(bool quiet, int64_t target);
/* A ScreeProgressFunction: what is done before the first frame; context is the Progress. */
void progress_prepare(void *progress, const char *what, double done);
void progress_frame(Progress *progress, const ScreeWorld *world, const Output *output);
/* Takes the bar away, so that other lines start at the margin. */
void progress_clear(Progress *progress);

double seconds_now(void); /* of a clock that only goes forward */

#endif
