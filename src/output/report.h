/* report.json: what a run came to. Its layout is relied upon by other people's scripts. */
#ifndef OUTPUT_REPORT_H
#define OUTPUT_REPORT_H

#include "output/frame_times.h"

/* Sum of what one column of probes.csv has shown; rows that are not finite do not count. */
typedef struct ProbeSum {
  double sum, last;
  int64_t rows;
} ProbeSum;

typedef struct Report {
  const char *scene;
  double wall_seconds;
  /* Frames, steps and phases that this process simulated: timings do not reach back before a resume. */
  const FrameTimes *frames;
  int64_t frame_count, steps_before;
  const ScreePhase *phases_before;
  int32_t phase_before_count;
  const ProbeSum *probes; /* SCREE_PROBE_VALUES_MAX for each probe */
} Report;

Status report_write(Core *core, const char *path, const ScreeWorld *world, const Report *report);

#endif
